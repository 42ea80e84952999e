/** Source `events`: the pipeline's decisions about sensors, which EVENTS keeps for 30 days. */

import type { Matched, WebhookIndex } from '../../core/delivery/webhook-match.ts'
import { reportBroken } from '../../runtime/broken.ts'
import { type AirEvent, matchEvent, parseEvent } from '../../schemas/log/event.ts'
import { eventSubjects, eventsStream } from '../../schemas/subjects.ts'
import { occurrenceOfEvent } from './payload.ts'
import { commonOf, recentItems, type Source, type SourceContext, streamItems } from './source.ts'

const eventsKept = 2_000

export function eventsSource({
  nc,
  thresholdOf,
}: Pick<SourceContext, 'nc' | 'thresholdOf'>): Source {
  const events = recentItems(nc, { stream: eventsStream, most: eventsKept }, readEvent)
  return {
    name: 'events',
    ...streamItems(nc, {
      stream: eventsStream,
      // the anchor's own events are another source
      subjects: eventSubjects('*'),
      maxMessages: 200,
      itemReader: () => (message) => {
        const event = readEvent(message)
        if (event !== undefined) events.put(message.seq, event)
        const match = (index: WebhookIndex, on: Matched): void => {
          // a message that is not an event was reported, and is ignored
          if (event !== undefined) matchEvent(event, index, on)
        }
        return { source: 'events', ...commonOf(message), match }
      },
    }),
    occurrence: async ({ webhook, kind, sequence, detail }) => {
      const event = await events.get(sequence)
      return event && occurrenceOfEvent(event, kind, detail, thresholdOf(webhook))
    },
  }
}

type StoredEvent = { readonly seq: number; readonly subject: string; readonly data: Uint8Array }

/** undefined: the message is not an event, which is reported. */
function readEvent({ seq, subject, data }: StoredEvent): AirEvent | undefined {
  const event = parseEvent(data)
  if (typeof event !== 'string') return event
  reportBroken({ stream: eventsStream, seq, subject, why: event })
  return undefined
}
