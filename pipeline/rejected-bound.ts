/**
 * Keeps one sensor from pushing the evidence of all others out of REJECTED: of each, the newest are
 * kept. Counted since the start, so a sensor may have a few more until it is refused often enough.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { remember } from '../core/remember.ts'
import { rejectedOf, rejectedStream } from '../schemas/subjects.ts'

/** Of each sensor; with 64 KiB of each, a sixteenth of the stream. */
export const mostKeptOfOne = 1_000
/** So many may be kept beyond it, which spares the server a purge for each. */
export const slack = 250
/** Sensors that are counted; who was not refused for longest is forgotten. */
const mostCounted = 20_000

export type RejectedBound = {
  /** Called for each that was kept. Never waits, never throws. */
  readonly kept: (sensor: string) => void
}

export function rejectedBound(
  nc: NatsConnection,
  onFailure: (error: unknown) => void,
): RejectedBound {
  const counts = new Map<string, number>()
  const trim = async (sensor: string): Promise<void> => {
    const manager = await jetstreamManager(nc, { checkAPI: false })
    const filter = rejectedOf(sensor)
    await manager.streams.purge(rejectedStream, { filter, keep: mostKeptOfOne })
  }
  return {
    kept: (sensor) => {
      const count = (counts.get(sensor) ?? 0) + 1
      remember(counts, sensor, count % slack, mostCounted)
      // what could not be trimmed is trimmed the next time
      if (count === slack) trim(sensor).catch(onFailure)
    },
  }
}
