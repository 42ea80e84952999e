/** The content of a test delivery: an example of its kind, of a sensor that does not exist. */
import type { EventKind } from '../../core/delivery/delivery.ts'
import { samplePayload } from '../../schemas/webhooks/webhook-samples.ts'
import type { Occurrence } from '../sources/payload.ts'

/** @param id new for each test, so that a receiver does not take it for a duplicate */
export const sampleOf = (kind: EventKind, atMs: number, id: string): Occurrence => ({
  id,
  payload: samplePayload(kind, atMs),
})
