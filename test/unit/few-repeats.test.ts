import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fewRepeats } from '../../runtime/few-repeats.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function city() {
  const shown: string[] = []
  const { isFirst, isOver } = fewRepeats({ say: (words) => shown.push(words) })
  /** A line a second. */
  const lines = (line: string, seconds: number): void => {
    for (let at = 0; at < seconds; at++) {
      if (isFirst(line)) shown.push(line)
      vi.advanceTimersByTime(1_000)
    }
  }
  return { shown, lines, isOver }
}

test('of hours of the same line one is shown, one a minute, and one at the end', () => {
  const { shown, lines } = city()
  lines('NATS is away', 7_200)
  expect(shown.slice(0, 4)).toEqual([
    'NATS is away',
    'still, 60 times in 60 s: NATS is away',
    'still, 120 times in 2 min: NATS is away',
    'still, 180 times in 3 min: NATS is away',
  ])
  expect(shown).toHaveLength(1 + 120)
  vi.advanceTimersByTime(3_600_000)
  expect(shown.slice(121)).toEqual(['no longer, after 7200 times in 121 min: NATS is away'])
  lines('NATS is away', 1)
  expect(shown.at(-1)).toBe('NATS is away')
})

test('where its end is known it is told at once; otherwise a line that came once has none', () => {
  const { shown, lines, isOver } = city()
  lines('held', 34)
  isOver('held')
  lines('once', 1)
  isOver('once')
  isOver('never')
  lines('alone', 1)
  vi.advanceTimersByTime(3_600_000)
  expect(shown).toEqual([
    'held',
    'no longer, after 34 times in 34 s: held',
    'once',
    'no longer, after 1 s: once',
    'alone',
  ])
  expect(vi.getTimerCount()).toBe(0)
})

test('other lines are shown, however many there are, and few are remembered', () => {
  const { isFirst } = fewRepeats({ say: () => undefined })
  for (let n = 0; n < 1_000; n++) expect(isFirst(`line ${n}`)).toBe(true)
  expect(vi.getTimerCount()).toBeLessThanOrEqual(200)
})
