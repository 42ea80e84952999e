import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRefunded } from '../../api/admit.ts'
import { quotaHeaders } from '../../api/quota/standing.ts'
import {
  type Charge,
  type Count,
  chargeRound,
  dayEndsMs,
  dayOf,
  noCount,
  secondsUntil,
  spentLimit,
} from '../../core/access/quota.ts'
import { decodeCount, encodeCount, quotaKey } from '../../schemas/people/quota.ts'

const noonMs = Date.parse('2026-01-31T12:00:30Z')
const limits = { perDay: 100, perMinute: 600 }
const requests = (count: number): Charge[] => Array.from({ length: count }, () => 'request')

test('at 99 only the first of a hundred requests is allowed, and the rest learn that the day is spent', () => {
  const { count, verdicts } = chargeRound({ ...noCount, used: 99 }, requests(100), {
    limits,
    refunds: 0,
    nowMs: noonMs,
  })
  expect(count.used).toBe(100)
  expect(verdicts[0]).toEqual({ allowed: true, used: 100, inMinute: 1 })
  expect(new Set(verdicts.slice(1).map((one) => JSON.stringify(one)))).toEqual(
    new Set(['{"allowed":false,"spent":"day"}']),
  )
})

test('however requests fall into rounds, as many are allowed and the count is the same', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.constantFrom<Charge>('request', 'look'), { maxLength: 20 }), {
        minLength: 1,
      }),
      fc.nat({ max: 120 }),
      (rounds, perDay) => {
        const rules = { limits: { perDay, perMinute: 60 }, refunds: 0, nowMs: noonMs }
        let count: Count = noCount
        const apart = rounds.flatMap((asks) => {
          const round = chargeRound(count, asks, rules)
          count = round.count
          return round.verdicts
        })
        const together = chargeRound(noCount, rounds.flat(), rules)
        expect(apart).toEqual(together.verdicts)
        expect(count).toEqual(together.count)
        const charged = rounds
          .flat()
          .filter((ask, i) => ask === 'request' && apart[i]?.allowed === true)
        expect(count.used).toBe(charged.length)
        expect(count.used).toBeLessThanOrEqual(perDay)
      },
    ),
  )
})

test('a refund counts for the requests of the same round, and is no more than was used', () => {
  const rules = { limits, refunds: 3, nowMs: noonMs }
  const full = chargeRound({ ...noCount, used: 100 }, requests(5), rules)
  expect(full.count.used).toBe(100)
  expect(full.verdicts.filter(({ allowed }) => allowed)).toHaveLength(3)
  expect(chargeRound({ ...noCount, used: 1 }, [], rules).count.used).toBe(0)
})

test('each minute starts at zero, and a look at the usage is charged only to the minute', () => {
  const rules = { limits: { perDay: 100, perMinute: 2 }, refunds: 0, nowMs: noonMs }
  const { count, verdicts } = chargeRound(noCount, ['look', 'request', 'request'], rules)
  expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, false])
  expect(count).toMatchObject({ used: 1, inMinute: 2 })
  expect(spentLimit(count, 'look', rules.limits, noonMs)).toBe('minute')
  expect(spentLimit(count, 'look', rules.limits, noonMs + 29_999)).toBe('minute')
  expect(spentLimit(count, 'look', rules.limits, noonMs + 30_000)).toBeUndefined()
  const spent = { ...count, used: 100 }
  expect(spentLimit(spent, 'request', rules.limits, noonMs)).toBe('day')
  expect(spentLimit(spent, 'look', rules.limits, noonMs + 30_000)).toBeUndefined()
})

test('days are those of UTC, and the wait for the next one is in whole seconds, never zero', () => {
  const lastMs = Date.parse('2026-01-31T23:59:59.999Z')
  expect(dayOf(lastMs)).toBe('2026-01-31')
  expect(dayOf(lastMs + 1)).toBe('2026-02-01')
  expect(dayEndsMs(lastMs)).toBe(lastMs + 1)
  expect(secondsUntil(dayEndsMs(lastMs), lastMs)).toBe(1)
  expect(secondsUntil(dayEndsMs(lastMs + 1), lastMs + 1)).toBe(86_400)
})

test('the headers carry what is left, and of which limit', () => {
  const standing = { account: 'a', ask: 'request', day: '2026-01-31', limits } as const
  expect(quotaHeaders({ ...standing, used: 58, inMinute: 3, atMs: noonMs })).toEqual({
    ratelimit: '"day";r=42;t=43170, "minute";r=597;t=30',
    'ratelimit-policy': '"day";q=100;w=86400, "minute";q=600;w=60',
    'x-ratelimit-limit': '100',
    'x-ratelimit-remaining': '42',
    'x-ratelimit-reset': String(Date.parse('2026-02-01T00:00:00Z') / 1000),
  })
  // an account whose tier was lowered has used more than it may
  expect(quotaHeaders({ ...standing, used: 5_000, inMinute: 700, atMs: noonMs })).toMatchObject({
    ratelimit: '"day";r=0;t=43170, "minute";r=0;t=30',
    'x-ratelimit-remaining': '0',
  })
})

test('a count is read back as it was written, and anything else is refused', () => {
  const count = { used: 7, minute: 29_500_000, inMinute: 2 }
  expect(decodeCount(encodeCount(count))).toEqual(count)
  expect(decodeCount('')).toEqual(noCount)
  for (const text of ['{}', '7', 'null', '{"used":"7","minute":1,"in_minute":1}']) {
    expect(() => decodeCount(text)).toThrow('not a count')
  }
  expect(quotaKey('2026-01-31', 'acc_1')).toBe('2026-01-31.acc_1')
})

test('responses that are our own fault, or contain nothing new, do not count', () => {
  const statuses = [200, 201, 304, 400, 401, 403, 404, 406, 409, 429, 500, 503]
  expect(statuses.filter(isRefunded)).toEqual([304, 401, 429, 500, 503])
})
