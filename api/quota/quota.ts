/**
 * Charges requests to their accounts before anything is done for them, exactly, however many
 * processes answer. Requests of an account that arrive together share one compare and swap:
 *
 *     waiting ──round begins──▶ judged on the count ──swapped──▶ let in, or 429
 *        ▲                            │ somebody else was first
 *        │                            └──▶ judged again on the new count
 *        └── whoever comes meanwhile waits for the next round
 *
 * Nobody is let in before the round that charged them is acknowledged. Where its answer does not
 * come, all of it are told 503, though it may have been written: that costs requests, and never
 * gives any. The same is true of a process that dies between charge and answer.
 */
import { setImmediate as soon, setTimeout as wait } from 'node:timers/promises'
import {
  type Charge,
  type Count,
  chargeRound,
  dayOf,
  type Limits,
  type QuotaVerdict,
  spentLimit,
} from '../../core/access/quota.ts'
import { secondMs } from '../../core/time.ts'
import { quotaKey } from '../../schemas/people/quota.ts'
import type { QuotaBucket } from './bucket.ts'
import { overQuota, quotaUnknown, type Standing } from './standing.ts'

export type Quota = AsyncDisposable & {
  /**
   * Resolves when the request is charged, durably.
   * @throws ApiError 429, or 503 where it could not be charged
   */
  readonly charge: (account: string, ask: Charge) => Promise<Standing>
  /** Gives a charged request back, in a later round. */
  readonly refund: (charged: Standing) => void
}

type Options = {
  readonly bucket: QuotaBucket
  /** As of now: an account that is moved has its new limits at once. */
  readonly limitsOf: (account: string) => Limits
  readonly nowMs: () => number
  /** Told after each round of requests what the account has used of that day. */
  readonly onCharged?: (account: string, used: number, limits: Limits, nowMs: number) => void
}

type Waiting = {
  readonly ask: Charge
  readonly resolve: (standing: Standing) => void
  readonly reject: (error: unknown) => void
}

/** What an account has to be settled. */
type Line = {
  readonly account: string
  waiting: Waiting[]
  /** Day → requests to give back. */
  readonly refunds: Map<string, number>
  /** In `ready`, or in a round. */
  isUnderWay: boolean
}

/** Rounds of different accounts at once. */
const mostRounds = 64
/** Lost races; each means that another process has charged somebody. */
const mostTries = 100
const againAfterMs = secondMs

export function createQuota({
  bucket,
  limitsOf,
  nowMs,
  onCharged = () => undefined,
}: Options): Quota {
  const lines = new Map<string, Line>()
  const ready: Line[] = []
  const stop = new AbortController()
  let running = 0
  let isStarting = false

  const lineOf = (account: string): Line => {
    let line = lines.get(account)
    if (line === undefined) {
      line = { account, waiting: [], refunds: new Map(), isUnderWay: false }
      lines.set(account, line)
    }
    return line
  }

  const enqueue = (line: Line): void => {
    if (line.isUnderWay) return
    line.isUnderWay = true
    ready.push(line)
    if (!isStarting && running < mostRounds) void start()
  }
  /** At the end of the loop's turn, so that what arrived in it shares a round. */
  const start = async (): Promise<void> => {
    isStarting = true
    await soon()
    isStarting = false
    next()
  }
  const next = (): void => {
    while (running < mostRounds) {
      const line = ready.shift()
      if (line === undefined) return
      running++
      void settle(line)
    }
  }

  const settle = async (line: Line): Promise<void> => {
    const asked = line.waiting
    line.waiting = []
    let isSettled = true
    try {
      await settleToday(line, asked)
      await settleFormerDays(line)
    } catch (error) {
      isSettled = false
      for (const { reject } of asked) reject(quotaUnknown(error))
    }
    running--
    line.isUnderWay = false
    if (line.waiting.length > 0 || (isSettled && line.refunds.size > 0)) enqueue(line)
    else if (line.refunds.size > 0) void tryAgainLater(line)
    else lines.delete(line.account)
    next()
  }
  const tryAgainLater = async (line: Line): Promise<void> => {
    await wait(againAfterMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined)
    if (!stop.signal.aborted && lines.get(line.account) === line) enqueue(line)
  }

  const settleToday = async (line: Line, asked: readonly Waiting[]): Promise<void> => {
    for (let tries = 0; tries < mostTries; tries++) {
      // the day may end between two tries: charged is the day of the round that was written
      const atMs = nowMs()
      if (await round(line, dayOf(atMs), atMs, asked)) return
    }
    throw new Error(`lost ${mostTries} races for the count of ${line.account}`)
  }
  const settleFormerDays = async (line: Line): Promise<void> => {
    for (const day of line.refunds.keys()) {
      if (day === dayOf(nowMs())) continue
      for (let tries = 0; tries < mostTries; tries++) {
        if (await round(line, day, nowMs(), [])) break
      }
    }
  }

  /** @returns false where it must be made again. All it does before its swap it can do again. */
  const round = async (
    line: Line,
    day: string,
    atMs: number,
    asked: readonly Waiting[],
  ): Promise<boolean> => {
    const { account, refunds } = line
    const key = quotaKey(day, account)
    const before = bucket.known(key)
    if (before === undefined) {
      await bucket.read(key)
      return false
    }
    const limits = limitsOf(account)
    const given = refunds.get(day) ?? 0
    const asks = asked.map(({ ask }) => ask)
    const { count, verdicts } = chargeRound(before.count, asks, {
      limits,
      refunds: given,
      nowMs: atMs,
    })
    // from here on it may be written although we never hear of it: given back once, or not at all
    if (given > 0) refunds.delete(day)
    const isChanged = count.used !== before.count.used || verdicts.some(({ allowed }) => allowed)
    if (isChanged && !(await bucket.swap(key, before, count))) {
      if (given > 0) refunds.set(day, given + (refunds.get(day) ?? 0))
      return false
    }
    if (asked.length > 0) onCharged(account, count.used, limits, atMs)
    for (const [i, { ask, resolve, reject }] of asked.entries()) {
      const standing = standingOf(verdicts[i], count, { account, ask, limits, atMs, day })
      if ('spent' in standing) reject(overQuota(standing.spent, standing.standing))
      else resolve(standing)
    }
    return true
  }

  return {
    charge: async (account, ask) => {
      const atMs = nowMs()
      const limits = limitsOf(account)
      const day = dayOf(atMs)
      const known = bucket.known(quotaKey(day, account))
      const spent = known && spentLimit(known.count, ask, limits, atMs)
      // while something is to be given back only a round can tell
      if (spent !== undefined && known !== undefined && !lines.get(account)?.refunds.size) {
        throw overQuota(spent, { account, ask, limits, atMs, day, ...known.count })
      }
      return new Promise((resolve, reject) => {
        const line = lineOf(account)
        line.waiting.push({ ask, resolve, reject })
        enqueue(line)
      })
    },
    refund: ({ account, ask, day }) => {
      if (ask !== 'request') return
      const line = lineOf(account)
      line.refunds.set(day, (line.refunds.get(day) ?? 0) + 1)
      enqueue(line)
    },
    [Symbol.asyncDispose]: async () => {
      while ([...lines.values()].some(({ isUnderWay }) => isUnderWay)) await wait(5)
      stop.abort()
    },
  }
}

/** How the account stands behind this request. */
function standingOf(
  verdict: QuotaVerdict | undefined,
  { used, inMinute }: Count,
  of: Omit<Standing, 'used' | 'inMinute'>,
): Standing | { readonly spent: 'day' | 'minute'; readonly standing: Standing } {
  if (verdict === undefined) throw new RangeError('a verdict for each request')
  if (verdict.allowed) return { ...of, used: verdict.used, inMinute: verdict.inMinute }
  return { spent: verdict.spent, standing: { ...of, used, inMinute } }
}
