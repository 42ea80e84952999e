/** Source `readings`: the log itself, as far back as it is stored. */
import type { NatsConnection } from '@nats-io/transport-node'
import { qualityOf } from '../../core/air/quality-level.ts'
import type { CodedKind, Matched, WebhookIndex } from '../../core/delivery/webhook-match.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { isFresh } from '../../core/state/presence.ts'
import { logReader } from '../../runtime/nats/log-messages.ts'
import { readingsStream, readingsSubjects } from '../../schemas/subjects.ts'
import { occurrenceOfReading } from './payload.ts'
import {
  commonOf,
  type RecentItems,
  recentItems,
  type Source,
  type SourceContext,
  streamItems,
} from './source.ts'

export function readingsSource(
  { nc, sensorOf, keccak }: SourceContext,
  readings: LogReadings,
): Source {
  return {
    name: 'readings',
    ...streamItems(nc, {
      stream: readingsStream,
      subjects: readingsSubjects,
      maxMessages: 4,
      itemReader: () => {
        const read = logReader(nc)
        return async (message) => {
          const accepted = (await read(message))?.readings ?? []
          readings.put(message.seq, accepted)
          return {
            source: 'readings',
            ...commonOf(message),
            match: (index, on) => matchReadings('reading.new', accepted, index, on),
          }
        }
      },
    }),
    occurrence: async ({ kind, sequence, detail }) => {
      if (kind !== 'reading.new') return undefined
      const reading = (await readings.get(sequence))?.[detail]
      return reading && occurrenceOfReading(reading, sensorOf(reading.sensor), keccak)
    },
  }
}

/**
 * The readings of single messages of READINGS, for every source of events about readings. By sequence; a
 * message has up to 512 KB.
 */
export type LogReadings = RecentItems<readonly ArrivedReading[]>

const messagesKept = 8

export function openLogReadings(nc: NatsConnection): LogReadings {
  const readLog = logReader(nc)
  return recentItems(
    nc,
    { stream: readingsStream, most: messagesKept },
    async (message) => (await readLog(message))?.readings,
  )
}

/**
 * Back-fill is history when it arrives, and triggers nothing. The detail is the reading's index.
 */
export function matchReadings(
  kind: CodedKind,
  readings: readonly ArrivedReading[],
  index: WebhookIndex,
  on: Matched,
): void {
  readings.forEach(({ sensor, area, timeMs, arrivedMs, flags }, place) => {
    if (isFresh(timeMs, arrivedMs))
      index.match(kind, { sensor, area, level: qualityOf(flags) }, place, on)
  })
}
