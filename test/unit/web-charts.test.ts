/** What charts compute without a browser: periods, series, axes and local clocks. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { monthsOf } from '../../dashboard/web/charts/calendar-months.ts'
import { comparedIds } from '../../dashboard/web/charts/compared-ids.ts'
import {
  moved,
  periodText,
  readPeriod,
  shownOf,
  spanNames,
  stepFor,
  stepMs,
  usualPeriod,
} from '../../dashboard/web/charts/period.ts'
import {
  aligned,
  extentOf,
  partsOf,
  type StepAnswer,
  seriesOf,
} from '../../dashboard/web/charts/series.ts'
import { smallAnswers } from '../../dashboard/web/charts/small-answers.ts'
import { timeAxis } from '../../dashboard/web/charts/time-axis.ts'
import {
  dateText,
  dayMs,
  hourMs,
  instantOf,
  localMs,
  minuteMs,
  offsetText,
  startOfDay,
} from '../../dashboard/web/parts/time/local-clock.ts'

const zones = [
  'UTC',
  'Africa/Lagos',
  'America/New_York',
  // clocks changed at midnight: days began at 01:00
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Europe/London',
] as const
const anyTime = fc.integer({ min: Date.UTC(2006, 0), max: Date.UTC(2031, 0) })
const anyZone = fc.constantFrom(...zones)

describe('local clocks', () => {
  test('show the time that was asked for, the first of two, or move on what they skip', () => {
    const newYork = 'America/New_York'
    expect(instantOf(Date.UTC(2026, 10, 1, 1, 30), newYork)).toBe(Date.UTC(2026, 10, 1, 5, 30))
    expect(instantOf(Date.UTC(2026, 2, 8, 2, 30), newYork)).toBe(Date.UTC(2026, 2, 8, 7))
    expect(instantOf(Date.UTC(2018, 10, 4), 'America/Sao_Paulo')).toBe(Date.UTC(2018, 10, 4, 3))
  })

  test('are named by how far they are from UTC', () => {
    const at = Date.UTC(2026, 0, 1)
    const said = [...zones, 'America/St_Johns'].map((zone) => offsetText(at, zone))
    expect(said.join()).toBe('UTC,UTC+1,UTC−5,UTC−3,UTC+5:45,UTC+5:30,UTC+11,UTC,UTC−3:30')
  })
})

describe('a period', () => {
  const nowMs = Date.UTC(2026, 10, 23, 13, 4, 5)
  const lagos = { zone: 'Africa/Lagos', nowMs, newestMs: nowMs - 20_000 }

  test.each(['24h', '7d', '30d', '1y', '2024-02-29', '2024-01-05..2024-03-01'])(
    'is read from the address and written to it: %s',
    (text) => expect(periodText(readPeriod(text))).toBe(text),
  )

  test.each(['', 'x', '2026-02-30', '2026-01-01..', '..', '2026-01-01..2026-02-01..x', '1d'])(
    'that is nonsense is the last day: %j',
    (text) => expect(readPeriod(text)).toEqual(usualPeriod),
  )

  test('whose ends are swapped is read as meant', () => {
    expect(periodText(readPeriod('2024-03-01..2024-01-05'))).toBe('2024-01-05..2024-03-01')
  })

  test('ends now where data comes in, and else with the newest there is', () => {
    for (const span of spanNames) {
      const now = shownOf({ kind: 'span', span }, lagos)
      expect([now.isOpen, now.toMs]).toEqual([true, nowMs])
      const newestMs = Date.UTC(2024, 5, 1, 10, 7)
      const old = shownOf({ kind: 'span', span }, { ...lagos, newestMs })
      expect(old.isOpen).toBe(false)
      expect(old.toMs).toBeGreaterThan(newestMs)
      expect(old.toMs).toBeLessThanOrEqual(newestMs + hourMs)
      expect(old.fromMs).toBeLessThan(newestMs)
    }
  })

  test('of dates holds their whole local days, to now at most', () => {
    const days = shownOf(
      { kind: 'dates', from: '2026-03-07', to: '2026-03-08' },
      { ...lagos, zone: 'America/New_York' },
    )
    expect(days.toMs - days.fromMs).toBe(47 * hourMs)
    const today = shownOf({ kind: 'dates', from: '2026-11-22', to: '2026-11-30' }, lagos)
    expect([today.fromMs, today.toMs, today.isOpen]).toEqual([
      Date.UTC(2026, 10, 21, 23),
      nowMs,
      true,
    ])
  })

  test('has at most some hundred steps, whatever its length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 * 24 }), (hours) => {
        const step = stepFor(hours * hourMs)
        expect((hours * hourMs) / stepMs[step]).toBeLessThanOrEqual(800)
      }),
    )
    const ofSpans = spanNames.map((span) => shownOf({ kind: 'span', span }, lagos).step)
    expect(ofSpans).toEqual(['10_minutes', 'hour', '3_hours', 'day'])
  })

  test('moves by its own length, and not into the future', () => {
    const week = shownOf({ kind: 'dates', from: '2026-11-02', to: '2026-11-08' }, lagos)
    expect(moved(week, -1, lagos.zone, nowMs)).toEqual({
      kind: 'dates',
      from: '2026-10-26',
      to: '2026-11-01',
    })
    expect(moved(week, 1, lagos.zone, nowMs)).toEqual({
      kind: 'dates',
      from: '2026-11-09',
      to: '2026-11-15',
    })
    const today = shownOf({ kind: 'dates', from: '2026-11-23', to: '2026-11-23' }, lagos)
    expect(moved(today, 1, lagos.zone, nowMs)).toBeUndefined()
    // the day before the one that the last 24 hours began in: nothing is shown twice in full
    expect(moved(shownOf(usualPeriod, lagos), -1, lagos.zone, nowMs)).toEqual({
      kind: 'dates',
      from: '2026-11-22',
      to: '2026-11-22',
    })
  })
})

/** A step from `at` to `at + 1` in units of ten minutes. */
const tenMs = 10 * minuteMs
const step = (at: number, mean: number | null, more: Partial<StepAnswer> = {}): StepAnswer => ({
  start_time: new Date(at * tenMs).toISOString(),
  end_time: new Date((at + 1) * tenMs).toISOString(),
  coverage: { expected: 2, observed: mean === null ? 0 : 2 },
  left_out: 0,
  aqi: { mean },
  measurements: { pm25: mean === null ? { mean: null } : { mean, min: mean - 1, max: mean + 2 } },
  ...more,
})
const made = (answer: readonly StepAnswer[]) =>
  seriesOf(answer, { names: ['aqi', 'pm25'], toMs: 1e6 * tenMs, stepMs: tenMs })

describe('a series', () => {
  test('breaks where nothing came, and nowhere else', () => {
    const series = made(
      [0, 1, 2]
        .map((at) => step(at, at))
        .concat(
          [3, 4].map((at) => step(at, null)),
          step(5, 9),
        ),
    )
    expect(series.lines['pm25']?.mean).toEqual([0, 1, 2, null, null, 9])
    expect(series.heard).toEqual([true, true, true, false, false, true])
  })

  test('of a sensor that sends every half hour is one line, and its silence of hours is a gap', () => {
    const every3 = [0, 3, 6, 9, 21, 24, 27]
    const answer = Array.from({ length: 28 }, (_, at) => step(at, every3.includes(at) ? at : null))
    const { mean } = made(answer).lines['pm25'] ?? { mean: [] }
    expect(mean.slice(0, 10)).toEqual([
      0,
      undefined,
      undefined,
      3,
      undefined,
      undefined,
      6,
      undefined,
      undefined,
      9,
    ])
    expect(mean.slice(10, 21)).toEqual(Array.from({ length: 11 }, () => null))
    expect(mean.slice(21)).toEqual([21, undefined, undefined, 24, undefined, undefined, 27])
  })

  test('does not join what lies before and after a time that was not expected', () => {
    const series = made([step(0, 1), step(1, 2), step(40, 3)])
    expect(series.lines['aqi']?.mean).toEqual([1, 2, null, 3])
    expect(series.heard).toEqual([true, true, undefined, true])
    expect(series.xs).toEqual(series.xs.toSorted((a, b) => a - b))
  })

  test('of no reading, and of one, is drawn', () => {
    expect(made([])).toMatchObject({ xs: [], heard: [] })
    expect(extentOf(made([]).lines['pm25']!)).toBeUndefined()
    expect(extentOf(made([step(7, 12)]).lines['pm25']!)).toEqual({ low: 11, high: 14, mean: 12 })
  })

  test('counts what failed as heard: a silence is what was due and did not come', () => {
    const failed = step(0, null, { left_out: 2 })
    const notDue = step(1, null, { coverage: { expected: 0, observed: 0 } })
    expect(made([failed, notDue, step(2, null)]).heard).toEqual([true, undefined, false])
  })

  test('loses no value, whatever is missing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.integer({ min: 0, max: 500 })), { maxLength: 60 }),
        (values) => {
          const { mean } = made(values.map((value, at) => step(at, value))).lines['pm25']!
          expect(mean.filter((value) => typeof value === 'number')).toEqual(
            values.filter((value) => value !== null),
          )
          expect(mean[0] === undefined && mean.length > 0).toBe(false)
        },
      ),
    )
  })
})

describe('silences', () => {
  test('are said of parts that are long enough for a reading', () => {
    // a reading every half hour: two of three steps have none
    const answer = Array.from({ length: 12 }, (_, at) => step(at, at % 3 === 0 ? 5 : null))
    const came = partsOf(made(answer), 2.5 * 3 * tenMs).map((part) => part.came)
    expect(came).toEqual([true, true])
    expect(partsOf(made(answer), 0)).toHaveLength(12)
  })

  test('are not said of what has only just begun', () => {
    const answer = Array.from({ length: 9 }, (_, at) => step(at, at < 8 ? 5 : null))
    expect(partsOf(made(answer), 8 * tenMs).map((part) => part.came)).toEqual([true, undefined])
  })
})

test('sensors that are compared have one axis, and a gap where one has nothing', () => {
  const [a, b] = aligned([made([step(0, 1), step(1, 2)]), made([step(1, 5), step(2, 6)])])
  expect(a?.xs).toEqual(b?.xs)
  expect(a?.lines['pm25']?.mean).toEqual([1, 2, null])
  expect(b?.lines['pm25']?.mean).toEqual([null, 5, 6])
})

test.each<[string, readonly string[]]>([
  ['', []],
  ['B,C', ['B', 'C']],
  ['A,B,B, C ,D,E', ['B', 'C', 'D']],
  ['<b>,../x,B', ['B']],
])('the address names other sensors, each once, three at most: %j', (text, ids) => {
  expect(comparedIds(text, 'A')).toEqual(ids)
})

test('quantities are asked for in answers that stay small', () => {
  const names = ['pm25', 'pm10', 'co2', 'temperature', 'humidity']
  expect(smallAnswers(names, 144)).toEqual([names])
  for (const count of [1, 144, 241, 366, 800]) {
    const groups = smallAnswers(names, count)
    expect(groups.flat()).toEqual(names)
    for (const group of groups)
      expect(group.length === 1 || 3 * count * (group.length + 1) <= 3_600).toBe(true)
  }
  expect(smallAnswers([], 144)).toEqual([[]])
})

describe('an axis', () => {
  const axisOf = (zone: string, fromMs: number, length: number, width = 700) =>
    timeAxis({ zone, fromMs, toMs: fromMs + length, width, locale: 'en-GB' })

  test('names each day once, and keeps every label whole', () => {
    fc.assert(
      fc.property(
        anyZone,
        anyTime,
        fc.integer({ min: 1, max: 1_200 * 24 }),
        fc.integer({ min: 280, max: 1_400 }),
        (zone, fromMs, hours, width) => {
          const length = hours * hourMs
          const { labels, lines } = axisOf(zone, fromMs, length, width)
          const names = labels.map(({ text }) => text).filter((text) => !/^\d\d:\d\d$/.test(text))
          const days = hours < 16 * 24 ? names : []
          expect(new Set(days).size).toBe(days.length)
          for (const { timeMs, text } of labels) {
            const middle = ((timeMs - fromMs) / length) * width
            expect(middle - text.length * 3.3).toBeGreaterThanOrEqual(-16)
            expect(middle + text.length * 3.3).toBeLessThanOrEqual(width + 10)
          }
          expect(lines).toEqual(lines.toSorted((a, b) => a - b))
          expect(new Set(lines).size).toBe(lines.length)
        },
      ),
      { numRuns: 400 },
    )
  })

  test('of a day has hours of the local clock, and its midnight is named', () => {
    const { labels } = axisOf('Asia/Kathmandu', Date.UTC(2026, 10, 22, 12), dayMs)
    const named = labels.find(({ text }) => !text.includes(':'))
    expect(named).toEqual({ text: 'Mon 23', timeMs: Date.UTC(2026, 10, 22, 18, 15) })
    for (const { timeMs, text } of labels.filter((label) => label.text.includes(':')))
      expect(new Date(localMs(timeMs, 'Asia/Kathmandu')).toISOString().slice(11, 16)).toBe(text)
  })

  test('of a week has a name in the middle of each of its days', () => {
    const fromMs = startOfDay(Date.UTC(2026, 10, 16, 12), 'Africa/Lagos')
    const { labels, lines } = axisOf('Africa/Lagos', fromMs, 7 * dayMs)
    expect(labels.map(({ text }) => text)).toEqual([
      'Mon 16',
      'Tue 17',
      'Wed 18',
      'Thu 19',
      'Fri 20',
      'Sat 21',
      'Sun 22',
    ])
    expect(labels[0]?.timeMs).toBe(fromMs + dayMs / 2)
    expect(lines).toHaveLength(6)
  })

  test('of a year names its months, and the year where it begins', () => {
    const { labels } = axisOf(
      'Africa/Lagos',
      startOfDay(Date.UTC(2025, 10, 23, 12), 'Africa/Lagos'),
      365 * dayMs,
    )
    const texts = labels.map(({ text }) => text)
    expect(texts).toContain('2026')
    expect(texts.slice(0, 4)).toEqual(['Dec', '2026', 'Feb', 'Mar'])
    expect(new Set(texts).size).toBeGreaterThanOrEqual(texts.length - 1)
  })

  test('of nothing is empty', () => {
    expect(axisOf('UTC', 0, 0)).toEqual({ lines: [], labels: [] })
  })
})

test('a calendar has whole months from the first day with an index to the last', () => {
  const day = (date: string, mean: number | null): StepAnswer =>
    step(0, mean, {
      start_time: new Date(instantOf(Date.parse(date), 'Africa/Lagos')).toISOString(),
    })
  const months = monthsOf(
    [day('2024-02-28', 40), day('2024-02-29', null), day('2024-03-02', 90)],
    'Africa/Lagos',
  )
  expect(months.map(({ fromMs }) => dateText(fromMs, 'UTC'))).toEqual(['2024-02-01', '2024-03-01'])
  const days = months.flatMap(({ weeks }) => weeks.flat()).filter((one) => one !== undefined)
  expect(days).toHaveLength(29 + 31)
  expect(
    days
      .filter(({ aqi }) => aqi !== undefined)
      .map(({ localMs: at, aqi }) => [dateText(at, 'UTC'), aqi]),
  ).toEqual([
    ['2024-02-28', 40],
    ['2024-03-02', 90],
  ])
  // February 2024 began on a Thursday
  expect(months[0]?.weeks[0]?.map((one) => one !== undefined)).toEqual([
    false,
    false,
    false,
    true,
    true,
    true,
    true,
  ])
  expect(monthsOf([day('2024-02-28', null)], 'UTC')).toEqual([])
})
