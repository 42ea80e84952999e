import { expect, test } from 'vitest'
import { type FloodGuard, floodGuard } from '../../gate/push/flood.ts'
import { PushError } from '../../gate/push/push-error.ts'
import { arrivalClock } from '../../gate/push/raw-item.ts'

test('a sensor never gets the same arrival twice, nor an earlier one; another sensor has its own', () => {
  let nowMs = 1_000
  const arrival = arrivalClock(() => nowMs)
  expect([arrival('a'), arrival('a'), arrival('b')]).toEqual([1_000, 1_001, 1_000])
  nowMs = 900
  expect(arrival('a')).toBe(1_002)
  nowMs = 5_000
  expect(arrival('a')).toBe(5_000)
})

function outcomeOf(guard: FloodGuard, sensor: string, bytes = 100): PushError | 'taken' {
  try {
    guard(sensor, bytes)
    return 'taken'
  } catch (error) {
    if (error instanceof PushError) return error
    throw error
  }
}

test('600 at once, then one per second, unless its entry names other bounds', () => {
  let clockMs = 0
  const spent = new Map<string, number>()
  const strict = { perSecond: 0.1, burst: 2 }
  const guard = floodGuard({
    limitOf: (sensor) => (sensor === 'strict' ? strict : undefined),
    pausedForMs: (sensor) => (sensor === 'flooded elsewhere' ? 42_000 : 0),
    onSpent: (sensor, messages) => spent.set(sensor, (spent.get(sensor) ?? 0) + messages),
    clockMs: () => clockMs,
  })
  const taken = Array.from({ length: 601 }, () => outcomeOf(guard, 'usual'))
  expect(taken.filter((one) => one === 'taken')).toHaveLength(600)
  expect(taken.at(-1)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
  expect([1, 2, 3].map(() => outcomeOf(guard, 'strict')).at(-1)).toMatchObject({
    headers: { 'retry-after': '10' },
  })
  clockMs = 1_000
  expect([outcomeOf(guard, 'usual'), outcomeOf(guard, 'strict')]).toMatchObject([
    'taken',
    { status: 429 },
  ])
  expect(outcomeOf(guard, 'usual')).toMatchObject({ code: 'flood' })
  // 16 KiB count as a message, so 75 bodies of 128 KiB are the whole burst
  const long = Array.from({ length: 76 }, () => outcomeOf(guard, 'long', 128 * 1024))
  expect(long.filter((one) => one === 'taken')).toHaveLength(75)
  // what it sends over NATS and MQTT is counted elsewhere, and this is reported there
  expect([spent.get('usual'), spent.get('long'), spent.get('strict')]).toEqual([601, 600, 2])
  expect(outcomeOf(guard, 'flooded elsewhere')).toMatchObject({ headers: { 'retry-after': '42' } })
})
