/**
 * Charges requests to their accounts before any work is done for them, exactly, however many
 * processes answer. Requests of an account that arrive together share one compare and swap:
 *
 *     waiting ──round starts──▶ judged on the count ──swapped──▶ admitted, or 429
 *        ▲                            │ another process wrote first
 *        │                            └──▶ judged again on the new count
 *        └── requests that arrive meanwhile wait for the next round
 *
 * A request is admitted only after the round that charged it is acknowledged. If its
 * acknowledgement does not arrive, all requests of the round get a 503, although the charge may
 * have been written: that costs requests, and never gives any away. The same holds for a process
 * that dies between charge and answer.
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
   * @throws ApiError 429, or 503 if it could not be charged
   */
  readonly charge: (account: string, ask: Charge) => Promise<Standing>
  /** Gives a charged request back, in a later round. */
  readonly refund: (charged: Standing) => void
}

type Options = {
  readonly bucket: QuotaBucket
  /** As of now: an account that changes its tier has its new limits at once. */
  readonly limitsOf: (account: string) => Limits
  readonly nowMs: () => number
  /** Called after each round of requests with what the account has used of that day. */
  readonly onCharged?: (account: string, used: number, limits: Limits, nowMs: number) => void
}

type Waiting = {
  readonly ask: Charge
  readonly resolve: (standing: Standing) => void
  readonly reject: (error: unknown) => void
}

/** The requests and refunds of an account that are to be settled. */
type Line = {
  readonly account: string
  waiting: Waiting[]
  /** Day → requests to refund. */
  readonly refunds: Map<string, number>
  /** In `ready`, or in a round. */
  isUnderWay: boolean
}

/** Rounds of different accounts at once. */
const mostRounds = 64
/** Lost races; in each of them another process has charged the account. */
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
    const waiting = line.waiting
    line.waiting = []
    let isSettled = true
    try {
      await settleToday(line, waiting)
      await settleFormerDays(line)
    } catch (error) {
      isSettled = false
      for (const { reject } of waiting) reject(quotaUnknown(error))
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

  const settleToday = async (line: Line, waiting: readonly Waiting[]): Promise<void> => {
    for (let tries = 0; tries < mostTries; tries++) {
      // the day may end between two tries: requests count on the day of the round that was written
      const atMs = nowMs()
      if (await round(line, dayOf(atMs), atMs, waiting)) return
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

  /** @returns false if it must be repeated. Everything before its swap is repeatable. */
  const round = async (
    line: Line,
    day: string,
    atMs: number,
    waiting: readonly Waiting[],
  ): Promise<boolean> => {
    const { account, refunds } = line
    const key = quotaKey(day, account)
    const before = bucket.known(key)
    if (before === undefined) {
      await bucket.read(key)
      return false
    }
    const limits = limitsOf(account)
    const refunded = refunds.get(day) ?? 0
    const asks = waiting.map(({ ask }) => ask)
    const { count, verdicts } = chargeRound(before.count, asks, {
      limits,
      refunds: refunded,
      nowMs: atMs,
    })
    // from here on it may be written without our knowing: refunded once, or not at all
    if (refunded > 0) refunds.delete(day)
    const isChanged = count.used !== before.count.used || verdicts.some(({ allowed }) => allowed)
    if (isChanged && !(await bucket.swap(key, before, count))) {
      if (refunded > 0) refunds.set(day, refunded + (refunds.get(day) ?? 0))
      return false
    }
    if (waiting.length > 0) onCharged(account, count.used, limits, atMs)
    for (const [i, { ask, resolve, reject }] of waiting.entries()) {
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
      // while a refund is due only a round can decide
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

/** The state of the account's quota after this request. */
function standingOf(
  verdict: QuotaVerdict | undefined,
  { used, inMinute }: Count,
  rest: Omit<Standing, 'used' | 'inMinute'>,
): Standing | { readonly spent: 'day' | 'minute'; readonly standing: Standing } {
  if (verdict === undefined) throw new RangeError('a verdict for each request')
  if (verdict.allowed) return { ...rest, used: verdict.used, inMinute: verdict.inMinute }
  return { spent: verdict.spent, standing: { ...rest, used, inMinute } }
}
