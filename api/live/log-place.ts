/** Where a client is in the log: what a message has for it, and the place after it. */
import { nOfSeq, type Reading } from '../../core/air/reading.ts'
import type { LogCursor } from '../../schemas/log/log-cursor.ts'
import type { TailEntry } from './log-tail.ts'

/** How many readings of a message are before those that the cursor lacks; below 0: some are missing. */
export const hadOf = ({ message }: TailEntry, { n }: LogCursor): number =>
  (n[message.partition] ?? 0) - (message.nLast - message.readings.length)

/** The readings of a message that the cursor lacks. */
export function newIn(entry: TailEntry, cursor: LogCursor): readonly Reading[] {
  const had = hadOf(entry, cursor)
  return had <= 0 ? entry.message.readings : entry.message.readings.slice(had)
}

/** After a reading of a message, everything before which the client has. */
export const afterReading = (
  { seq, message: { partition } }: TailEntry,
  reading: Reading,
  { version, network, n }: LogCursor,
): LogCursor => ({ version, network, position: seq - 1, n: n.with(partition, nOfSeq(reading.seq)) })

/** After a whole message. A client that came from elsewhere may be further than it already. */
export const afterMessage = (
  { seq, message: { partition, nLast } }: TailEntry,
  { version, network, n }: LogCursor,
): LogCursor => ({
  version,
  network,
  position: seq,
  n: n.with(partition, Math.max(nLast, n[partition] ?? 0)),
})
