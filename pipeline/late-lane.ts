/**
 * The late lane: readings that are not newer than their sensor's newest (back-fill, repeats) were
 * committed as `deferred`; here they are read from the log, looked up in the store once everything
 * committed before them is stored, and the verdicts are committed as an ordinary message. The fast
 * lane never waits for the store.
 *
 * Position: `lateTo` in the header of every message. What was committed and not yet judged is
 * judged after a crash as it would have been before it: nothing is looked up until the store holds
 * the log as the crash left it. The last verdicts may be in messages after those that are judged
 * next, and a reading that they accepted may be repeated there.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import type { ReadingKey } from '../core/air/reading.ts'
import type { Deferred } from '../core/state/log-message.ts'
import { logReader } from '../runtime/nats/log-messages.ts'
import { nextMessage } from '../runtime/nats/stored-message.ts'
import { readingsStream, readingsSubject } from '../schemas/subjects.ts'
import { fitTogether, judgeLate, type LateVerdict } from './decide/decide.ts'
import type { ExpiredReadings } from './projections/expired-readings.ts'

type Entry = { readonly seq: number; readonly deferred: readonly Deferred[] }

export type LateLaneOptions = {
  readonly nc: NatsConnection
  readonly partition: number
  /** Everything up to here is judged; everything up to `lastSeq` is in the log. */
  readonly lateTo: number
  readonly lastSeq: number
  readonly existing: ExpiredReadings['existing']
  readonly isRefusedKey: (key: ReadingKey) => boolean
  /** Resolves when the store holds everything of the partition up to a sequence. */
  readonly stored: (seq: number) => Promise<void>
  /** Commits verdicts; resolves with the sequence of their message. */
  readonly submit: (verdicts: readonly LateVerdict[], lateTo: number) => Promise<number>
  readonly onFailure: (error: unknown) => void
  readonly pause: (ms: number) => Promise<void>
  readonly stop: AbortSignal
}

export type LateLane = {
  /** A committed message. Never waits. */
  readonly offer: (seq: number, deferred: readonly Deferred[]) => void
  /** The log sequence up to which nothing is left to judge. */
  readonly lateTo: () => number
  /** Deferred readings waiting, as far as memory knows. */
  readonly waiting: () => number
}

const cachedReadings = 20_000
const retryMs = 500

export function startLateLane(options: LateLaneOptions): LateLane {
  const { nc, partition, existing, isRefusedKey, stored, submit, pause, stop } = options
  const read = logReader(nc)
  let judgedTo = options.lateTo
  /** The cache is whole between `judgedTo` and here; what came later must be read. */
  let cachedTo = options.lateTo
  let lastSeq = options.lastSeq
  /** Every message after this one and up to `lastSeq` is known to defer nothing. */
  let lastDeferring = options.lastSeq
  let cache: Entry[] = []
  let cachedCount = 0
  let wake: () => void = () => undefined

  const isCaughtUp = (): boolean => judgedTo >= lastDeferring

  /** From memory, or from the log where memory was too small or we have just started. */
  const nextEntry = async (): Promise<Entry | undefined> => {
    const cached = cache.shift()
    if (cached !== undefined) {
      cachedCount -= cached.deferred.length
      return cached
    }
    const stored = await nextMessage(nc, readingsStream, readingsSubject(partition), cachedTo + 1)
    if (stored === undefined) return undefined
    const message = await read(stored)
    cachedTo = stored.seq
    return { seq: stored.seq, deferred: message?.deferred ?? [] }
  }

  /** Whole messages, up to about a batch; ends early where nothing more is deferred. */
  const gather = async (): Promise<{ deferred: Deferred[]; to: number }> => {
    const deferred: Deferred[] = []
    let to = judgedTo
    while (to < lastDeferring) {
      const next = cache[0]
      // the first always goes in, however large: left out, it would never be judged
      const isFirst = deferred.length === 0
      if (next !== undefined && !isFirst && !fitTogether(deferred, next.deferred)) break
      const entry = await nextEntry()
      if (entry === undefined) {
        // the log was trimmed up to our position, which trimming waits for: nothing is left to judge
        to = lastDeferring
        break
      }
      deferred.push(...entry.deferred)
      to = entry.seq
      if (deferred.length > 0 && cache.length === 0) break
    }
    return { deferred, to }
  }

  let kept: { deferred: Deferred[]; to: number } | undefined

  const judgeSome = async (): Promise<void> => {
    kept ??= await gather()
    const { deferred, to } = kept
    if (deferred.length > 0) {
      await stored(to)
      const keys = deferred.map(({ sensor, timeMs }) => ({ sensor, timeMs }))
      const rows = await existing(keys)
      const known = rows.map((row, i) => {
        const key = keys[i]
        return row ?? (key !== undefined && isRefusedKey(key) ? ('unknown' as const) : undefined)
      })
      const seq = await submit(judgeLate(deferred, known), to)
      judgedTo = Math.max(judgedTo, to)
      kept = undefined
      await stored(seq)
      return
    }
    judgedTo = Math.max(judgedTo, to)
    kept = undefined
  }

  void (async () => {
    await stored(options.lastSeq)
    while (!stop.aborted) {
      if (isCaughtUp()) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      try {
        await judgeSome()
      } catch (error) {
        if (stop.aborted) return
        options.onFailure(error)
        await pause(retryMs)
      }
    }
  })()
  stop.addEventListener('abort', () => wake(), { once: true })

  return {
    offer: (seq, deferred) => {
      const wasWhole = cachedTo >= lastDeferring
      lastSeq = seq
      if (deferred.length === 0) return
      lastDeferring = seq
      // whole and with room: keep it; else the lane reads it from the log when it gets there
      if (wasWhole && cachedCount + deferred.length <= cachedReadings) {
        cache.push({ seq, deferred })
        cachedCount += deferred.length
        cachedTo = seq
      }
      wake()
    },
    lateTo: () => (isCaughtUp() ? lastSeq : judgedTo),
    waiting: () => cachedCount + (kept?.deferred.length ?? 0),
  }
}
