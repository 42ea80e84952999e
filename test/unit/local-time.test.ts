import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatLocal,
  hoursOfDay,
  hoursOfWeek,
  instantOfLocal,
  type LocalStep,
  startOfStep,
  stepStarts,
  type TimeZone,
  timeZoneOf,
  utc,
  weekday,
  yearSpan,
} from '../../core/local-time.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time.ts'

const zones = [
  'UTC',
  'Africa/Lagos',
  'Africa/Casablanca',
  'America/New_York',
  // its clocks changed at 00:01
  'America/St_Johns',
  // its clocks changed at midnight, so days began at 01:00
  'America/Sao_Paulo',
  'Antarctica/Troll',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Tehran',
  // half an hour of summer time
  'Australia/Lord_Howe',
  'Europe/London',
  // left out 30 December 2011
  'Pacific/Apia',
  'Pacific/Chatham',
].map((name) => timeZoneOf(name) ?? utc)

/** What a wall clock shows, by another way than the one tested: `Intl`, minute by minute. */
const clocks = new Map(
  zones.map((zone) => [
    zone,
    new Intl.DateTimeFormat('en-u-ca-iso8601', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    }),
  ]),
)
function shown(timeMs: number, zone: TimeZone) {
  const parts = Object.fromEntries(
    (clocks.get(zone)?.formatToParts(timeMs) ?? []).map(({ type, value }) => [type, value]),
  )
  const { year = '', month = '', day = '', hour = '', minute = '', timeZoneName = '' } = parts
  return { date: `${year}-${month}-${day}`, hour, minute, offset: timeZoneName }
}

const nameOfStep: Readonly<Record<LocalStep, (timeMs: number, zone: TimeZone) => string>> = {
  '10_minutes': (timeMs, zone) => {
    const { date, hour, minute, offset } = shown(timeMs, zone)
    return `${date} ${hour}:${minute.slice(0, 1)} ${offset}`
  },
  hour: (timeMs, zone) => {
    const { date, hour, offset } = shown(timeMs, zone)
    return `${date} ${hour} ${offset}`
  },
  '3_hours': (timeMs, zone) => {
    const { date, hour, offset } = shown(timeMs, zone)
    return `${date} ${Math.floor(Number(hour) / 3)} ${offset}`
  },
  day: (timeMs, zone) => shown(timeMs, zone).date,
  month: (timeMs, zone) => shown(timeMs, zone).date.slice(0, 7),
  year: (timeMs, zone) => shown(timeMs, zone).date.slice(0, 4),
}

/** The first minute of each step whose name comes up, and where the span begins. */
function plainStarts(fromMs: number, toMs: number, step: LocalStep, zone: TimeZone): number[] {
  const names = new Set<string>()
  const starts: number[] = []
  for (let timeMs = fromMs; timeMs < toMs; timeMs += minuteMs) {
    const name = nameOfStep[step](timeMs, zone)
    if (names.has(name)) continue
    names.add(name)
    starts.push(timeMs)
  }
  return starts
}

/** Instants near which clocks change, of any year, and any others. */
const anySpan = fc.record({
  zone: fc.constantFrom(...zones),
  fromMs: fc
    .record({
      year: fc.integer({ min: 2006, max: 2031 }),
      month: fc.constantFrom(0, 2, 3, 8, 9, 10, 11),
      minute: fc.integer({ min: 0, max: 31 * 24 * 60 }),
    })
    .map(({ year, month, minute }) => Date.UTC(year, month) + minute * minuteMs),
  minutes: fc.integer({ min: 1, max: 2_000 }),
})

describe('the steps of local time', () => {
  test.each(['10_minutes', 'hour', '3_hours', 'day', 'month', 'year'] as const)(
    'are where clocks on the wall say: %s',
    (step) => {
      fc.assert(
        fc.property(anySpan, ({ zone, fromMs, minutes }) => {
          const toMs = fromMs + minutes * minuteMs
          const starts = stepStarts({ fromMs, toMs }, step, zone, Infinity)
          expect(starts).toEqual(plainStarts(fromMs, toMs, step, zone))
          for (const start of starts)
            expect(startOfStep(start, step, zone)).toBeLessThanOrEqual(start)
          for (const start of starts.slice(1)) expect(startOfStep(start, step, zone)).toBe(start)
        }),
        { numRuns: 60 },
      )
    },
  )

  // each a span within which the clocks of the zone do something rare
  test.each<[string, string, string]>([
    ['America/New_York', '2026-03-07T00:00Z', '2026-03-10T00:00Z'],
    ['America/New_York', '2026-10-31T00:00Z', '2026-11-03T00:00Z'],
    ['Australia/Lord_Howe', '2026-04-03T00:00Z', '2026-04-06T00:00Z'],
    ['Australia/Lord_Howe', '2026-10-02T00:00Z', '2026-10-05T00:00Z'],
    ['America/Sao_Paulo', '2018-11-02T00:00Z', '2018-11-06T00:00Z'],
    ['America/Sao_Paulo', '2018-02-16T00:00Z', '2018-02-20T00:00Z'],
    ['America/St_Johns', '2010-11-05T00:00Z', '2010-11-09T00:00Z'],
    ['Pacific/Apia', '2011-12-28T00:00Z', '2012-01-02T00:00Z'],
    ['Antarctica/Troll', '2026-10-24T00:00Z', '2026-10-27T00:00Z'],
  ])('are right in %s from %s', (name, from, to) => {
    const zone = timeZoneOf(name) ?? utc
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
    for (const step of ['10_minutes', 'hour', '3_hours', 'day', 'month'] as const) {
      const starts = stepStarts({ fromMs, toMs }, step, zone, Infinity)
      expect(starts).toEqual(plainStarts(fromMs, toMs, step, zone))
    }
  })

  test('days have 23 and 25 hours where clocks change, and half an hour more or less', () => {
    const hours = (name: string, date: string): number => {
      const zone = timeZoneOf(name) ?? utc
      const fromMs = instantOfLocal(Date.parse(`${date}T00:00Z`), zone)
      const [, next = 0] = stepStarts({ fromMs, toMs: fromMs + 2 * dayMs }, 'day', zone, 2)
      return (next - fromMs) / hourMs
    }
    expect(hours('America/New_York', '2026-03-08')).toBe(23)
    expect(hours('America/New_York', '2026-11-01')).toBe(25)
    expect(hours('Australia/Lord_Howe', '2026-04-05')).toBe(24.5)
    expect(hours('Australia/Lord_Howe', '2026-10-04')).toBe(23.5)
    expect(hours('Africa/Lagos', '2026-03-08')).toBe(24)
  })

  test('of Lagos begin at 23:00Z, of Kolkata at 18:30Z', () => {
    const fromMs = Date.UTC(2026, 0, 1, 12)
    const toMs = fromMs + dayMs
    const [lagos, kolkata] = ['Africa/Lagos', 'Asia/Kolkata'].map((name) =>
      stepStarts({ fromMs, toMs }, 'day', timeZoneOf(name) ?? utc, 9).map((start) =>
        new Date(start).toISOString(),
      ),
    )
    expect(lagos?.[1]).toBe('2026-01-01T23:00:00.000Z')
    expect(kolkata?.[1]).toBe('2026-01-01T18:30:00.000Z')
  })

  test('are at most as many as asked for, and none of an empty span', () => {
    const span = { fromMs: 0, toMs: 100 * 365 * dayMs }
    for (const step of ['hour', 'day', 'month', 'year'] as const) {
      expect(stepStarts(span, step, utc, 7)).toHaveLength(7)
      expect(stepStarts({ fromMs: 5, toMs: 5 }, step, utc, 7)).toEqual([])
    }
  })
})

test('the hour of the day and the weekday are what the clock and the calendar show', () => {
  fc.assert(
    fc.property(anySpan, ({ zone, fromMs, minutes }) => {
      const times = Array.from({ length: 50 }, (_, at) => fromMs + at * minutes * minuteMs)
      expect(hoursOfDay(times, zone)).toEqual(times.map((time) => Number(shown(time, zone).hour)))
      const days = new Intl.DateTimeFormat('en', { timeZone: zone, weekday: 'long' })
      const names = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
      expect(names[weekday(fromMs, zone) - 1]).toBe(days.format(fromMs))
      expect(hoursOfWeek(times, zone)).toEqual(
        times.map((time) => names.indexOf(days.format(time)) * 24 + Number(shown(time, zone).hour)),
      )
    }),
  )
})

test('a time of the wall is an instant that shows it, the first of two, or moved on if it is skipped', () => {
  fc.assert(
    fc.property(anySpan, ({ zone, fromMs }) => {
      const { date, hour, minute } = shown(fromMs, zone)
      const asUtcMs = Date.parse(`${date}T${hour}:${minute}Z`)
      const found = instantOfLocal(asUtcMs, zone)
      expect(shown(found, zone)).toMatchObject({ date, hour, minute })
      expect(found).toBeLessThanOrEqual(fromMs)
      expect(formatLocal(found, zone).slice(0, 16)).toBe(`${date}T${hour}:${minute}`)
    }),
  )
  const newYork = timeZoneOf('America/New_York') ?? utc
  const skipped = instantOfLocal(Date.UTC(2026, 2, 8, 2, 30), newYork)
  expect(formatLocal(skipped, newYork)).toBe('2026-03-08T03:30:00.000-04:00')
})

test('a year begins with its first day and ends with that of the next', () => {
  const { fromMs, toMs } = yearSpan(2026, timeZoneOf('Africa/Lagos') ?? utc)
  expect(new Date(fromMs).toISOString()).toBe('2025-12-31T23:00:00.000Z')
  expect((toMs - fromMs) / dayMs).toBe(365)
})

test.each([
  ['Africa/Lagos', 'Africa/Lagos'],
  ['africa/lagos', 'Africa/Lagos'],
  ['UTC', 'UTC'],
  ['Etc/GMT+5', 'Etc/GMT+5'],
  ['Mars/Phobos', undefined],
  ['', undefined],
  ['+01:00', undefined],
  ['Africa/Lagos ', undefined],
  ['../etc/passwd', undefined],
  ['x'.repeat(500), undefined],
  ['2026-01-01T00:00[Africa/Lagos]', undefined],
])('the zone %j is %j', (given, zone) => {
  expect(timeZoneOf(given)).toBe(zone)
})
