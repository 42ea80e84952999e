import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { inCommon } from '../../runtime/in-common.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a thousand callers at once share a run that begins after their calls, one per interval at most', async () => {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const ask = inCommon(async () => {
    begun.push(Date.now())
    await new Promise<void>((resolve) => ends.push(resolve))
    return begun.length
  }, 50)
  const startMs = Date.now()
  const first = ask()
  await vi.advanceTimersByTimeAsync(0)
  expect(begun).toEqual([startMs])
  const others = Array.from({ length: 1_000 }, () => ask())
  ends[0]?.()
  expect(await first).toBe(1)
  await vi.advanceTimersByTimeAsync(49)
  expect(begun).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(begun).toEqual([startMs, startMs + 50])
  ends[1]?.()
  expect(new Set(await Promise.all(others))).toEqual(new Set([2]))
})

test('a run that fails rejects for all its callers, and the next one begins', async () => {
  let runs = 0
  const ask = inCommon(async () => {
    if (++runs === 1) throw new Error('away')
    return runs
  }, 50)
  await expect(ask()).rejects.toThrow('away')
  const next = ask()
  await vi.advanceTimersByTimeAsync(50)
  expect(await next).toBe(2)
})
