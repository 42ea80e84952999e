import type { NatsConnection } from '@nats-io/transport-node'
import { firstReadings } from '../runtime/nats/first-readings.ts'
import { readingsSubject } from '../schemas/subjects.ts'

type Place = {
  readonly partition: number
  /** The partition's last message in READINGS, and how many readings it counts. */
  readonly lastSeq: number
  readonly n: number
  /** Everything of the partition up to this sequence of READINGS is in the store. */
  readonly storedSeq: number
}

export type Unstored = {
  readonly readings: number
  /** When the first of them was committed; undefined: there is none. */
  readonly sinceMs: number | undefined
}

/**
 * Readings of a partition that the store does not hold. They are numbered per partition: counts from
 * the first message that is not stored to the last. What the log was trimmed of was stored before, so
 * it does not count.
 */
export async function unstoredOf(
  nc: NatsConnection,
  { partition, lastSeq, n, storedSeq }: Place,
): Promise<Unstored> {
  if (lastSeq <= storedSeq) return none
  const first = await firstReadings(nc, readingsSubject(partition), storedSeq)
  if (first === undefined) return none
  const { message, timeMs } = first
  return { readings: Math.max(0, n - (message.nLast - message.readings.length)), sinceMs: timeMs }
}

const none: Unstored = { readings: 0, sinceMs: undefined }
