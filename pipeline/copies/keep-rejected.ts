import { createHash } from 'node:crypto'
import { rejectedHeaders } from '../../schemas/subjects.ts'
import type { Log } from '../log/commit.ts'

export type RejectedContent = {
  /** Whole: their length and hash are kept, and their first 64 KiB. */
  readonly bytes: Uint8Array
  readonly sensor: string
  readonly why: string
  /** Where it came in as a raw message: when, ms since the epoch. */
  readonly arrivedMs?: number
}

const keptBytes = 64 * 1024
const retryMs = 250

/** The attempt's value, now or when NATS is back. @throws its error once the process stops */
export async function untilTaken<T>(log: Log, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      log.onRetry(error)
      if (log.stop.aborted) throw error
      await log.pause(retryMs)
    }
  }
}

/** Puts one message into REJECTED; waits through outages. */
export async function keepRejected(
  log: Log,
  subject: string,
  { bytes, sensor, why, arrivedMs }: RejectedContent,
): Promise<void> {
  const header = {
    [rejectedHeaders.sensor]: headerText(sensor),
    [rejectedHeaders.why]: headerText(why),
    ...(arrivedMs === undefined ? {} : { [rejectedHeaders.arrived]: arrivedMs }),
    [rejectedHeaders.length]: bytes.length,
    [rejectedHeaders.sha256]: createHash('sha256').update(bytes).digest('hex'),
  }
  const start = bytes.subarray(0, keptBytes)
  await untilTaken(log, () => log.publisher.publish(subject, start, header))
}

/** A header ends at a line break, and what a stranger sent may hold one. */
const headerText = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?')
