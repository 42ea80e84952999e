/** A page of the log: the readings after a cursor, in the order in which they were accepted. */
import type { Reading } from '../../core/air/reading.ts'
import type { LogCursor } from '../../schemas/log/log-cursor.ts'
import type { LogAfter, Missing } from '../live/log-after.ts'
import { afterMessage, afterReading, hadOf, newIn } from '../live/log-place.ts'
import type { LogTail } from '../live/log-tail.ts'

export type Wanted = {
  readonly limit: number
  /** undefined: all. */
  readonly wants: ((reading: Reading) => boolean) | undefined
}

export type ChangesPage = {
  readonly readings: readonly Reading[]
  /** Where the next page starts. */
  readonly next: LogCursor
  /** The log has more already. */
  readonly isMore: boolean
  /** How much was looked at for it. */
  readonly looked: { readonly messages: number; readonly readings: number }
  readonly missing: Missing | undefined
  /** Its readings, or some, were read for it alone: it begins before what is in memory. */
  readonly isPassing: boolean
}

/** A page ends after so much, whether or not it is full: a filter may want few of them. */
const mostLooked = { messages: 5_000, readings: 50_000 }

type Options = { readonly log: LogAfter; readonly tail: Pick<LogTail, 'position' | 'from'> }

export async function changesPage(
  { log, tail }: Options,
  from: { readonly cursor: LogCursor; readonly missing?: Missing | undefined },
  { limit, wants }: Wanted,
  signal: AbortSignal,
): Promise<ChangesPage> {
  const readings: Reading[] = []
  const looked = { messages: 0, readings: 0 }
  let { cursor, missing } = from
  const isPassing = cursor.position < tail.from()
  const page = (isMore: boolean): ChangesPage => ({
    readings,
    next: cursor,
    isMore,
    looked,
    missing,
    isPassing,
  })
  for await (const entry of log.after(cursor.position, signal)) {
    if (hadOf(entry, cursor) < 0) {
      // trimmed since the cursor was looked at: the numbers of every partition go on from here
      const { n } = await log.placeAt(entry.seq - 1)
      missing = { firstSeq: missing?.firstSeq ?? cursor.position + 1, lastSeq: entry.seq - 1 }
      cursor = { ...cursor, n: cursor.n.map((number, p) => Math.max(number, n[p] ?? 0)) }
    }
    let last: Reading | undefined
    for (const reading of newIn(entry, cursor)) {
      if (readings.length === limit) {
        if (last !== undefined) cursor = afterReading(entry, last, cursor)
        return page(true)
      }
      looked.readings++
      if (wants === undefined || wants(reading)) readings.push(reading)
      last = reading
    }
    cursor = afterMessage(entry, cursor)
    looked.messages++
    if (looked.messages >= mostLooked.messages || looked.readings >= mostLooked.readings) break
    if (readings.length === limit) break
  }
  return page(cursor.position < tail.position())
}
