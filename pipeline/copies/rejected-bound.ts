/**
 * Keeps one sensor from pushing the evidence of all others out of REJECTED: of each, the newest are
 * kept. Counted since the start, so a sensor may have a few more until it is refused often enough.
 * Each is a write that the next commit of its partition waits for, and 500 of them are one message
 * of a kilobyte: beyond a rate they are counted and not kept, or one sensor could stop its partition.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { createRateBook } from '../../core/access/rate-book.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import { rejectedOf, rejectedStream } from '../../schemas/subjects.ts'

/** Of each sensor; with 64 KiB of each, a sixteenth of the stream. */
export const mostKeptOfOne = 1_000
/** How many may be kept beyond it, which saves the server a purge for each. */
export const slack = 250
/** How many are written of one sensor: this many at once take a partition some seconds. */
const mostWritten = { perSecond: 10, burst: 4 * mostKeptOfOne }
/** Sensors that are counted; who was not refused for longest is forgotten. */
const mostCounted = 20_000

export type RejectedBound = {
  /** Whether one more of the sensor is kept; what is not is counted. Never throws. */
  readonly mayKeep: (sensor: string) => boolean
  /** Called for each that was kept. Never waits, never throws. */
  readonly kept: (sensor: string) => void
}

type Options = {
  readonly onFailure: (error: unknown) => void
  readonly onNotKept: () => void
  /** A clock that never goes back, ms. */
  readonly nowMs: () => number
}

export function rejectedBound(
  nc: NatsConnection,
  { onFailure, onNotKept, nowMs }: Options,
): RejectedBound {
  const written = createRateBook(mostCounted)
  const counts = new BoundedMap<string, number>(mostCounted)
  const trim = async (sensor: string): Promise<void> => {
    const manager = await jetstreamManager(nc, { checkAPI: false })
    const filter = rejectedOf(sensor)
    await manager.streams.purge(rejectedStream, { filter, keep: mostKeptOfOne })
  }
  return {
    mayKeep: (sensor) => {
      const may = written.waitMs(sensor, mostWritten, nowMs()) === 0
      if (!may) onNotKept()
      return may
    },
    kept: (sensor) => {
      const count = (counts.get(sensor) ?? 0) + 1
      counts.set(sensor, count % slack)
      // what could not be trimmed is trimmed the next time
      if (count === slack) trim(sensor).catch(onFailure)
    },
  }
}
