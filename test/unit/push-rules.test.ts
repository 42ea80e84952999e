import { expect, test } from 'vitest'
import { arrivalClock } from '../../gate/push/arrival-clock.ts'
import { floodGuard } from '../../gate/push/flood.ts'
import { PushError } from '../../gate/push/push-error.ts'

test('a sensor never gets one arrival twice, nor an earlier one; another has its own', () => {
  let nowMs = 1_000
  const arrival = arrivalClock(() => nowMs)
  expect([arrival('a'), arrival('a'), arrival('b')]).toEqual([1_000, 1_001, 1_000])
  nowMs = 900
  expect(arrival('a')).toBe(1_002)
  nowMs = 5_000
  expect(arrival('a')).toBe(5_000)
})

function told(guard: (sensor: string) => void, sensor: string): PushError | 'taken' {
  try {
    guard(sensor)
    return 'taken'
  } catch (error) {
    if (error instanceof PushError) return error
    throw error
  }
}

test('600 at once, then one a second, unless its entry says otherwise', () => {
  let clockMs = 0
  const strict = { perSecond: 0.1, burst: 2 }
  const guard = floodGuard({
    limitOf: (sensor) => (sensor === 'strict' ? strict : undefined),
    clockMs: () => clockMs,
  })
  const taken = Array.from({ length: 601 }, () => told(guard, 'usual'))
  expect(taken.filter((one) => one === 'taken')).toHaveLength(600)
  expect(taken.at(-1)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
  expect([1, 2, 3].map(() => told(guard, 'strict')).at(-1)).toMatchObject({
    headers: { 'retry-after': '10' },
  })
  clockMs = 1_000
  expect([told(guard, 'usual'), told(guard, 'strict')]).toMatchObject(['taken', { status: 429 }])
  expect(told(guard, 'usual')).toMatchObject({ code: 'flood' })
})
