import { expect, test } from 'vitest'
import { healthOf } from '../../dashboard/web/pages/settings/webhooks/webhook-health.ts'
import type { Outcome, Tried } from '../../dashboard/web/pages/settings/webhooks/webhook-types.ts'

const nowMs = Date.UTC(2026, 0, 31, 12, 30)
const minuteMs = 60_000

/** Newest first, one a minute. */
const attempts = (...outcomes: readonly Outcome[]): Tried[] =>
  outcomes.map((outcome, i) => ({
    id: `d${i}`,
    key: `k${i}`,
    event: 'aqi.high',
    trigger: 'event',
    attempt: 1,
    at: new Date(nowMs - i * minuteMs).toISOString(),
    outcome,
    error: null,
    error_detail: null,
    next_attempt_at: null,
    response_status: 200,
    duration_ms: 10 * (i + 1),
  }))

test.each([
  [[], 'none'],
  [['cancelled'], 'none'],
  [['delivered'], 'ok'],
  // eleven of eleven, and one of one
  [Array.from({ length: 11 }, () => 'retry' as const), 'failing'],
  [['dead'], 'failing'],
  [['retry', 'retry', 'retry', 'retry', 'disabled', 'delivered'], 'failing'],
  [['retry', 'retry', 'retry', 'retry', 'delivered'], 'some'],
  [['delivered', 'retry'], 'some'],
] as const)('a webhook whose newest attempts were %j is %s', (outcomes, state) => {
  expect(healthOf(attempts(...outcomes), nowMs).state).toBe(state)
})

test('the rate, the last success, the median time and the bars are of the same attempts', () => {
  const health = healthOf(attempts('retry', 'delivered', 'cancelled', 'delivered'), nowMs)
  expect(health).toMatchObject({ tried: 3, failed: 1, medianMs: 40, step: 'hour' })
  expect(health.lastSuccess).toBe(new Date(nowMs - minuteMs).toISOString())
  expect(health.bars).toHaveLength(24)
  expect(health.bars.at(-1)?.parts).toEqual([
    { kind: 'ok', count: 2 },
    { kind: 'error', count: 1 },
  ])
})

test('without an attempt in a day the bars are days', () => {
  const old = attempts('delivered').map((one) => ({ ...one, at: '2026-01-20T00:00:00Z' }))
  const health = healthOf(old, nowMs)
  expect([health.step, health.bars.length]).toEqual(['day', 30])
  expect(health.bars.flatMap(({ parts }) => parts).reduce((sum, { count }) => sum + count, 0)).toBe(
    1,
  )
})
