/** The kinds of events that webhooks send, each with its schema and an example of its body. */
import { eventKinds } from '../../core/delivery/delivery.ts'
import { eventKindRows } from '../../core/delivery/event-kinds.ts'
import { payloadSchemas } from '../../schemas/webhooks/webhook-payload.ts'
import { samplePayload } from '../../schemas/webhooks/webhook-samples.ts'
import type { DashboardRoute } from './route.ts'

/** Of every example: the answer is the same each time. */
const exampleMs = Date.UTC(2026, 0, 31, 8)

const catalogue = {
  events: eventKinds.map((kind) => ({
    kind,
    is_urgent: eventKindRows[kind].isUrgent,
    example: samplePayload(kind, exampleMs),
    schema: payloadSchemas[kind],
  })),
}

/** The same for everyone, so it needs no session. */
export const eventCatalogue: DashboardRoute = {
  method: 'GET',
  path: '/data/events',
  needs: 'none',
  handle: (ctx) => {
    ctx.set('cache-control', 'public, max-age=300')
    return catalogue
  },
}
