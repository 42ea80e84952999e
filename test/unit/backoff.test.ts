import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rateVerdict } from '../../core/access/rate-limit.ts'
import {
  afterFailure,
  type Breaker,
  breakerState,
  closedBreaker,
  failedAt,
  judgeAttempt,
  judgeHealth,
  parseRetryAfter,
  retryDelayMs,
  retryDelaysMs,
} from '../../core/delivery/attempt-verdict.ts'
import { type Health, healthy } from '../../core/delivery/delivery.ts'
import { dayMs, hourMs, minuteMs, secondMs } from '../../core/time.ts'
import { steadyClock } from '../../notifier/steady-clock.ts'

test('there are eleven attempts, the last about three days after the first', () => {
  const middle = (attempts: number) =>
    retryDelayMs({ attempts, isBusy: false, retryAfterMs: undefined }, 0.5)
  const delays = Array.from({ length: 10 }, (_, i) => middle(i + 1))
  expect(delays).toEqual(retryDelaysMs)
  const total = retryDelaysMs.reduce((sum, delay) => sum + delay, 0)
  expect(total / hourMs).toBeCloseTo(75.6, 1)
  expect(middle(11)).toBeUndefined()
})

test('a delay varies by at most a fifth, in both directions', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (attempts, random) => {
        const base = retryDelaysMs[attempts - 1] ?? 0
        const delay =
          retryDelayMs({ attempts, isBusy: false, retryAfterMs: undefined }, random) ?? 0
        expect(Math.abs(delay - base)).toBeLessThanOrEqual(base * 0.2 + 1)
        expect(Math.sign(delay - base)).toBe(
          Math.abs(delay - base) < 1 ? Math.sign(delay - base) : Math.sign(random - 0.5),
        )
      },
    ),
  )
})

test('a busy receiver gets a minute, one that names a time gets that, up to a day', () => {
  const first = { attempts: 1, isBusy: false, retryAfterMs: undefined }
  expect(retryDelayMs({ ...first, isBusy: true }, 0.5)).toBe(minuteMs)
  expect(retryDelayMs({ ...first, retryAfterMs: 90 * secondMs }, 0.5)).toBe(90 * secondMs)
  expect(retryDelayMs({ ...first, retryAfterMs: 1_000 }, 0.5)).toBe(5 * secondMs)
  expect(retryDelayMs({ ...first, retryAfterMs: 99 * dayMs }, 0.5)).toBe(dayMs)
  expect(retryDelayMs({ ...first, retryAfterMs: -5 }, 0.5)).toBe(5 * secondMs)
})

const nowMs = Date.UTC(2026, 6, 1, 12)
test.each([
  ['120', 120_000],
  [' 5 ', 5_000],
  ['Wed, 01 Jul 2026 12:01:00 GMT', 60_000],
  ['Wed, 01 Jul 2026 11:00:00 GMT', 0],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['1e9', undefined],
  ['99999999999999', undefined],
  ['2026-07-01T12:01:00Z', undefined],
  ['Wed, 41 Jul 2026 12:01:00 GMT', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j is %j ms', (text, expected) => {
  expect(parseRetryAfter(text, nowMs, Date.parse)).toBe(expected)
})

const end = { status: undefined, isTimeout: false, retryAfterMs: undefined }
test.each([
  [200, 'delivered'],
  [204, 'delivered'],
  [299, 'delivered'],
  [300, 'retry'],
  [302, 'retry'],
  [304, 'retry'],
  [400, 'retry'],
  [404, 'retry'],
  [410, 'disabled'],
  [429, 'retry'],
  [500, 'retry'],
  [undefined, 'retry'],
])('a first attempt with the response %j is %s', (status, outcome) => {
  expect(judgeAttempt({ ...end, status }, 1, 0.5).outcome).toBe(outcome)
})

test('only 2xx counts, whatever the attempt, and the eleventh failure is the end', () => {
  expect(judgeAttempt({ ...end, status: 500 }, 10, 0.5)).toEqual({ outcome: 'retry', inMs: dayMs })
  expect(judgeAttempt({ ...end, status: 500 }, 11, 0.5)).toEqual({ outcome: 'dead' })
  expect(judgeAttempt({ ...end, isTimeout: true }, 11, 0.5)).toEqual({ outcome: 'dead' })
  expect(judgeAttempt({ ...end, status: 201 }, 11, 0.5)).toEqual({ outcome: 'delivered' })
})

test.each([429, 502, 503, 504])('%i and a timeout wait at least a minute', (status) => {
  expect(judgeAttempt({ ...end, status }, 1, 0)).toEqual({ outcome: 'retry', inMs: minuteMs })
  expect(judgeAttempt({ ...end, isTimeout: true }, 1, 0)).toEqual({
    outcome: 'retry',
    inMs: minuteMs,
  })
})

test('five failures in a row open the breaker, one try at a time closes it or doubles its time', () => {
  let breaker: Breaker = closedBreaker
  for (let i = 0; i < 4; i++) breaker = afterFailure(breaker, 0, 0.5)
  expect(breakerState(breaker, 0)).toBe('closed')
  breaker = afterFailure(breaker, 0, 0.5)
  expect(breaker.openUntilMs).toBe(30 * secondMs)
  expect([29_999, 30_000].map((at) => breakerState(breaker, at))).toEqual(['open', 'half_open'])
  const again = afterFailure(breaker, 30_000, 0.5)
  expect(again.openUntilMs - 30_000).toBe(minuteMs)
  let late = again
  for (let i = 0; i < 40; i++) late = afterFailure(late, 0, 0.5)
  expect(late.openUntilMs).toBe(10 * minuteMs)
})

test('a burst of twenty, then ten per second', () => {
  const limit = { perSecond: 10, burst: 20 }
  const sent: number[] = []
  const waits: number[] = []
  let state = 0
  for (let atMs = 1_000; atMs <= 3_000; atMs += 10) {
    let verdict = rateVerdict(limit, state, atMs)
    for (; verdict.allowed; verdict = rateVerdict(limit, state, atMs)) {
      state = verdict.state
      sent.push(atMs)
    }
    waits.push(verdict.atMs - atMs)
  }
  expect(Math.min(...waits)).toBeGreaterThan(0)
  expect(sent.filter((atMs) => atMs === 1_000)).toHaveLength(20)
  expect(sent).toHaveLength(40)
})

const failing = (times: readonly number[]): Health => times.reduce(failedAt, healthy)

test('an endpoint is disabled after five days and twenty failures without a success', () => {
  const hourly = Array.from({ length: 20 }, (_, i) => i * hourMs)
  expect(judgeHealth(failing(hourly.slice(0, 19)), failing(hourly))).toBe('fine')
  const days = [...hourly, 5 * dayMs]
  expect(judgeHealth(failing(hourly), failing(days))).toBe('disable')
  const few = [0, 5 * dayMs]
  expect(judgeHealth(failing([0]), failing(few))).not.toBe('disable')
  expect(judgeHealth(failing(days), healthy)).toBe('fine')
})

test('its owner is warned once after a day, and once after four', () => {
  const at = [0, 20 * hourMs, 25 * hourMs, 30 * hourMs, 95 * hourMs, 97 * hourMs, 99 * hourMs]
  const verdicts = at.map((_, i) =>
    judgeHealth(failing(at.slice(0, i)), failing(at.slice(0, i + 1))),
  )
  expect(verdicts).toEqual(['fine', 'fine', 'warn', 'fine', 'fine', 'warn', 'fine'])
})

test('a wall clock set back neither stops nor reverses the clock of due times', () => {
  let wallMs = 10 * hourMs
  let monotonicMs = 500
  const clock = steadyClock(
    0,
    () => wallMs,
    () => monotonicMs,
  )
  expect(clock()).toBe(10 * hourMs)
  wallMs -= hourMs
  monotonicMs += 2_000
  expect(clock()).toBe(10 * hourMs + 2_000)
  const restarted = steadyClock(
    10 * hourMs + 2_000,
    () => wallMs,
    () => monotonicMs,
  )
  expect(restarted()).toBe(10 * hourMs + 2_000)
})
