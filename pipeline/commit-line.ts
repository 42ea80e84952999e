/**
 * Commits one decision after another, and makes of each what follows from it: receipts, events, what
 * was refused, rows for the store. A worker has one line, and one decision at a time is in it.
 */
import { closeMessage } from '../core/state/evolve.ts'
import type { Deferred, LogMessage } from '../core/state/log-message.ts'
import type { PartitionState } from '../core/state/partition-state.ts'
import { endSpan, type SpanFacts, spanStart } from '../runtime/trace.ts'
import type { EventCopier } from './copies/copy-events.ts'
import type { RejectedCopier } from './copies/copy-rejected.ts'
import type { RawsAtHand } from './intake/raw-message.ts'
import { commit, type Log } from './log/commit.ts'

export type CommitLineParts = {
  readonly log: Log
  readonly state: PartitionState
  /** The partition's last message in the log; undefined before the first. */
  readonly last: { readonly seq: number; readonly message: LogMessage } | undefined
  readonly copyEvents: EventCopier
  readonly copyRejected: RejectedCopier
  readonly sendReceipts: (message: LogMessage) => void
  /** A message that is committed, before anything else is awaited. */
  readonly onCommitted: (message: LogMessage, seq: number) => void
  /** A clock that never jumps, ms. */
  readonly monotonicMs: () => number
}

export type Decision = {
  readonly message: LogMessage
  readonly raws: RawsAtHand
  /** What it is a verdict on, of the late lane. */
  readonly deferred?: readonly Deferred[]
  /** When the work on it began, of `spanStart`; absent: with the commit. */
  readonly startMs?: number
}

/** Numbers of accepted readings follow one another within a message. */
function factsOf({ partition, readings, refused }: LogMessage, seq: number): SpanFacts {
  const [first, last] = [readings[0], readings.at(-1)]
  return {
    log: [seq],
    seqs: first === undefined || last === undefined ? [] : [[first.seq, last.seq]],
    attributes: {
      'airproof.partition': partition,
      'airproof.accepted': readings.length,
      'airproof.refused': refused.length,
    },
  }
}

export const noRaws: RawsAtHand = () => undefined

export class CommitLine {
  readonly #parts: CommitLineParts
  #lastSeq: number
  #committedAtMs: number
  #copiedTo = 0
  /** The copies of the last message; they must be made before the next is committed. */
  #copying: Promise<unknown> | undefined

  constructor(parts: CommitLineParts) {
    const { last, sendReceipts, monotonicMs } = parts
    this.#parts = parts
    this.#lastSeq = last?.seq ?? 0
    this.#committedAtMs = monotonicMs()
    if (last === undefined) return
    // the process may have died between the commit and the copies: made again, they change nothing
    this.#copying = this.#copy({ message: last.message, raws: noRaws }, last.seq)
    sendReceipts(last.message)
  }

  /** Of the partition's last message in the log; 0 before the first. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  get committedAtMs(): number {
    return this.#committedAtMs
  }

  /** Raw messages up to here are judged, and what was refused of them is kept elsewhere. */
  get copiedTo(): number {
    return this.#copiedTo
  }

  /** @returns the sequence of the message  @throws Fenced */
  async commit(decision: Decision): Promise<number> {
    const { log, state, sendReceipts, onCommitted, monotonicMs } = this.#parts
    const { message } = decision
    if (this.#copying !== undefined) await this.#copying
    const startMs = spanStart()
    const seq = await commit(log, message, this.#lastSeq)
    const facts = (): SpanFacts => factsOf(message, seq)
    endSpan('commit', startMs, facts)
    this.#lastSeq = seq
    this.#committedAtMs = monotonicMs()
    closeMessage(state, message, seq)
    sendReceipts(message)
    this.#follow(decision, seq)
    onCommitted(message, seq)
    endSpan('batch', decision.startMs ?? startMs, facts)
    return seq
  }

  /** Resolves when the copies of the last message are made. */
  async settled(): Promise<void> {
    await this.#copying
  }

  /** Most messages leave nothing to copy. */
  #follow(decision: Decision, seq: number): void {
    const { events, refused, rawLast } = decision.message
    if (events.length === 0 && refused.length === 0) {
      this.#copying = undefined
      this.#copiedTo = rawLast
      return
    }
    this.#copying = this.#copy(decision, seq)
    // awaited before the next commit, and at stop: until then a failure is not handled
    this.#copying.then(
      () => {
        this.#copiedTo = rawLast
      },
      () => undefined,
    )
  }

  #copy({ message, raws, deferred = [] }: Decision, seq: number): Promise<unknown> {
    const { copyEvents, copyRejected } = this.#parts
    return Promise.all([
      copyEvents(message, seq),
      copyRejected(message, raws, ({ rawSeq, item }) =>
        deferred.find((late) => late.rawSeq === rawSeq && late.item === item),
      ),
    ])
  }
}
