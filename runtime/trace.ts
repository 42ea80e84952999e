/**
 * Spans of work: a batch, a commit, a write to the store, an anchor, a delivery, a request. A place
 * that does such work asks for the time when it begins (`spanStart`), and says what it was when it
 * has ended (`endSpan`). Without a subscriber of the channel, neither does anything (decision 56).
 */
import { channel } from 'node:diagnostics_channel'

export type SpanName = 'batch' | 'commit' | 'store_write' | 'anchor' | 'delivery' | 'request'

/** First and last number of readings of one partition that follow one another, both included. */
export type SeqRange = readonly [first: number, last: number]

export type SpanFacts = {
  /** The messages of the log that it is about, by their sequence in READINGS, in ascending order. */
  readonly log?: readonly number[]
  /** The readings. */
  readonly seqs?: readonly SeqRange[]
  /** Short values of ours, and of a bounded number: they are stored elsewhere. */
  readonly attributes?: Readonly<Record<string, string | number>>
  /** Why it failed; absent: it did not. */
  readonly fault?: string | undefined
}

/** Times are ms since the epoch, with fractions. */
export type Span = SpanFacts & {
  readonly name: SpanName
  readonly startMs: number
  readonly endMs: number
}

const ended = channel('airproof.span')

const clockMs = (): number => performance.timeOrigin + performance.now()

/** @returns ms since the epoch; 0 where no one follows */
export const spanStart = (): number => (ended.hasSubscribers ? clockMs() : 0)

/**
 * @param startMs of `spanStart`; 0: nothing is published
 * @param facts called only if someone follows
 */
export function endSpan(name: SpanName, startMs: number, facts: () => SpanFacts): void {
  if (startMs === 0 || !ended.hasSubscribers) return
  const span: Span = { ...facts(), name, startMs, endMs: clockMs() }
  ended.publish(span)
}

/** Calls back with each span that ends in this process. Returns a function that stops it. */
export function onSpan(notify: (span: Span) => void): () => void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `endSpan` alone publishes there
  const take = (span: unknown): void => notify(span as Span)
  ended.subscribe(take)
  return () => {
    ended.unsubscribe(take)
  }
}
