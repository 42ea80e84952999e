/** Where each rule of a sensor's history begins: at its bound, and not one before. */
import { describe, expect, test } from 'vitest'
import { type Flag, namesOf } from '../../core/air/quality.ts'
import { hourMs, minuteMs } from '../../core/time.ts'
import { believed, idsOf, judgedMessage, openDesk, startMs } from '../support/decided.ts'

const sensor = idsOf(1)[0]!
type Sent = { readonly atMs: number; readonly pm25: number; readonly pm10: number | null }

/** The flags of each reading of one sensor. */
function flagsOf(sent: readonly Sent[]): Flag[][] {
  const desk = openDesk({ leafVersion: 2 })
  return sent.flatMap(({ atMs, ...values }, i) =>
    desk
      .decide([judgedMessage(i + 1, [believed({ sensor, timeMs: startMs + atMs, ...values })])])
      .flatMap(({ readings }) => readings.map(({ flags }) => namesOf(flags))),
  )
}
const same = (count: number, stepMs: number, pm25 = 900): Sent[] =>
  Array.from({ length: count }, (_, i) => ({ atMs: i * stepMs, pm25, pm10: pm25 }))
/** How many readings came before the first with the flag. */
const before = (sent: readonly Sent[], flag: Flag): number =>
  flagsOf(sent).findIndex((names) => names.includes(flag))

describe('by time, where there are readings enough', () => {
  test('flat begins with two hours, stuck with six', () => {
    expect(before(same(130, minuteMs), 'pm_flat')).toBe(120)
    expect(before(same(370, minuteMs), 'pm_stuck')).toBe(360)
  })
  test('zero begins with an hour', () => {
    expect(before(same(70, minuteMs, 0), 'pm_zero')).toBe(60)
  })
})

describe('by number, where there is time enough', () => {
  test('flat begins with the 24th reading', () => {
    expect(before(same(30, 10 * minuteMs), 'pm_flat')).toBe(23)
  })
  test('zero begins with the 12th', () => {
    expect(before(same(20, 10 * minuteMs, 0), 'pm_zero')).toBe(11)
  })
  test('a spike needs three readings before it', () => {
    const spike = (after: number): Sent[] => [
      ...same(after, minuteMs),
      { atMs: after * minuteMs, pm25: 30_000, pm10: null },
    ]
    expect(before(spike(2), 'pm_spike')).toBe(-1)
    expect(before(spike(3), 'pm_spike')).toBe(3)
  })
})

test.each([
  { of: 0, most: 5_000 },
  { of: 1_000, most: 6_000 },
  { of: 3_000, most: 9_000 },
])('after $of hundredths, $most are not a spike yet, and one more is', ({ of, most }) => {
  const isSpike = (pm25: number): boolean => {
    const calm = same(5, minuteMs, of)
    return before([...calm, { atMs: 5 * minuteMs, pm25, pm10: null }], 'pm_spike') === 5
  }
  expect([isSpike(most), isSpike(most + 1)]).toEqual([false, true])
})

test('history goes on after three hours, and begins again after more', () => {
  const isFlatAfter = (gapMs: number): boolean => {
    const day = same(24, 5 * minuteMs)
    const lastMs = day.at(-1)?.atMs ?? 0
    return before([...day, { ...day[0]!, atMs: lastMs + gapMs }], 'pm_flat') === 24
  }
  expect([isFlatAfter(3 * hourMs), isFlatAfter(3 * hourMs + 1)]).toEqual([true, false])
})
