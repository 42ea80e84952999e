/**
 * What the process skipped because it cannot be read: a message of a foreign writer, or a bucket
 * entry that does not parse. Each is counted once; the first few of a period are logged, and
 * `airproof doctor` lists all of them. The reader continues as if it were not there.
 */
import { BoundedMap } from '../core/bounded-map.ts'
import type { Logger } from './log.ts'
import { quietRepeats } from './quiet-repeats.ts'

export type Broken = {
  /** The stream; a bucket is the stream `KV_<bucket>`. */
  readonly stream: string
  /** Sequence in the stream; for an entry, its revision. */
  readonly seq: number
  /** The subject, or the key of an entry. */
  readonly subject: string
  readonly why: string
}

/** Remembered, so that what several readers of a process find counts once. */
const mostRemembered = 10_000
const longestWhy = 200

const known = new BoundedMap<string, true>(mostRemembered)
const totals = new Map<string, number>()
type Listener = { readonly notify: (broken: Broken) => void; readonly isEach: boolean }
const listeners = new Set<Listener>()

/** Called by a reader; never throws, and what was already reported does not count again. */
export function reportBroken(broken: Broken): void {
  const { stream, seq, subject } = broken
  const place = `${stream} ${seq} ${subject}`
  const isNew = !known.has(place)
  known.set(place, true)
  if (isNew) totals.set(stream, (totals.get(stream) ?? 0) + 1)
  for (const { notify, isEach } of listeners) if (isNew || isEach) notify(broken)
}

/** How many this process has found, by stream. */
export const brokenTotals = (): IterableIterator<[stream: string, total: number]> =>
  totals.entries()

/**
 * Calls back for what is found from now on. Returns a function that stops it.
 * @param isEach also for what was found before
 */
export function onBroken(notify: Listener['notify'], isEach = false): () => void {
  const listener = { notify, isEach }
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Logs the first few of a period. Returns a function that stops it. */
export function logBroken(log: Logger, nowMs = Date.now): () => void {
  const repeats = quietRepeats()
  return onBroken(({ stream, seq, subject, why }) => {
    const heldBack = repeats.show(stream, nowMs())
    if (heldBack === undefined) return
    log.warn(
      { stream, seq, subject, why, ...(heldBack > 0 ? { heldBack } : {}) },
      'skipped what cannot be read: `airproof doctor` lists it',
    )
  })
}

/** What was wrong, for people. */
export const whyOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, longestWhy)
