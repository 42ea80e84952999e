/** The id of an event is the cursor after it. Earlier versions gave a place in the log as their ids. */
import { decodeLogCursor, type LogCursor } from '../../schemas/log/log-cursor.ts'
import type { LogAfter } from '../live/log-after.ts'

/** An id of an earlier version: everything up to this message, or up to this place in it, was sent. */
export type FormerId = {
  /** Sequence of READINGS. */
  readonly seq: number
  /** Its readings, then its events; undefined: the whole message. */
  readonly place: number | undefined
}

export type EventId = LogCursor | FormerId

/** @returns undefined if the text is not the id of an event */
export function parseEventId(text: string): EventId | undefined {
  const [, seq, place] = /^(\d{1,15})(?:-(\d{1,6}))?$/.exec(text) ?? []
  if (seq === undefined) return decodeLogCursor(text)
  return { seq: Number(seq), place: place === undefined ? undefined : Number(place) }
}

/** The same as a cursor, if the log still holds what follows. */
export async function cursorOf({ seq, place }: FormerId, log: LogAfter): Promise<LogCursor> {
  if (place === undefined) return await log.placeAt(seq)
  const before = await log.placeAt(seq - 1)
  for await (const entry of log.after(seq - 1, new AbortController().signal)) {
    // it was a foreign message, of which nothing was sent
    if (entry.seq !== seq) break
    const { partition, readings } = entry.message
    const had = Math.min(place + 1, readings.length)
    const events = place + 1 - had
    const n = before.n.with(partition, (before.n[partition] ?? 0) + had)
    return { ...before, n, ...(events > 0 && { events }) }
  }
  return before
}
