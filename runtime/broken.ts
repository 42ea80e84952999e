/**
 * What the process passed over because it cannot be read: a message that its writer did not write,
 * an entry of a bucket that does not parse. Each is counted once and named in the log, the first few
 * of a while; `airproof doctor` lists all of them. The reader goes on as if it were not there.
 */
import { remember } from '../core/remember.ts'
import type { Logger } from './log.ts'
import { quietRepeats } from './quiet-repeats.ts'

export type Broken = {
  /** The stream; a bucket is the stream `KV_<bucket>`. */
  readonly stream: string
  /** Sequence in the stream; of an entry, its revision. */
  readonly seq: number
  /** The subject, or the key of an entry. */
  readonly subject: string
  readonly why: string
}

/** Remembered, so that what several readers of a process meet counts once. */
const mostRemembered = 10_000
const longestWhy = 200

const known = new Map<string, true>()
const totals = new Map<string, number>()
type Listener = { readonly hear: (broken: Broken) => void; readonly isEach: boolean }
const listeners = new Set<Listener>()

/** Called by a reader; never throws, and what was reported before does not count again. */
export function reportBroken(broken: Broken): void {
  const { stream, seq, subject } = broken
  const place = `${stream} ${seq} ${subject}`
  const isNew = !known.has(place)
  remember(known, place, true, mostRemembered)
  if (isNew) totals.set(stream, (totals.get(stream) ?? 0) + 1)
  for (const { hear, isEach } of listeners) if (isNew || isEach) hear(broken)
}

/** How many this process has met, by stream. */
export const brokenTotals = (): IterableIterator<[stream: string, total: number]> =>
  totals.entries()

/**
 * Calls back for what is met from now on. Returns the way to stop.
 * @param isEach also for what was met before
 */
export function onBroken(hear: Listener['hear'], isEach = false): () => void {
  const listener = { hear, isEach }
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Names each in the log, the first few of a while. Returns the way to stop. */
export function logBroken(log: Logger, nowMs = Date.now): () => void {
  const repeats = quietRepeats()
  return onBroken(({ stream, seq, subject, why }) => {
    const heldBack = repeats.show(stream, nowMs())
    if (heldBack === undefined) return
    log.warn(
      { stream, seq, subject, why, ...(heldBack > 0 ? { heldBack } : {}) },
      'passed over what cannot be read: `airproof doctor` lists it',
    )
  })
}

/** What was wrong, in words. */
export const whyOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, longestWhy)
