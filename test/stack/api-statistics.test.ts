import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { intervals } from '../../api/http/intervals.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { siteOf, type TestApi, type Told, testApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { writeHours } from '../support/written-hours.ts'

const nowMs = Date.now()
const todayMs = floorTo(nowMs, dayMs)
const sensorIds = ['NGR-LOS-IKJ-001', 'NGR-LOS-IKJ-002', 'NGR-LOS-VIC-001'] as const
const areaOf = (id: string): string => (id.includes('IKJ') ? 'Ikeja' : 'Victoria Island')

type Numbers = Record<
  'n' | 'mean' | 'sd' | 'min' | 'q02' | 'q25' | 'median' | 'q75' | 'q98' | 'max',
  number | null
>
type Step = {
  start_time: string
  end_time: string
  local_start: string
  hour?: number
  weekday?: string
  coverage: { expected: number; observed: number; percent: number | null }
  valid: boolean
  aqi: Numbers & { category: string | null; dominant_pollutant: string | null }
  measurements: Record<string, Numbers & { unit: string; valid: boolean }>
}
type Page = {
  basis: string
  timezone: string
  count: number
  next_cursor: string | null
  period: { start_time: string; end_time: string }
  statistics: Step[]
}

/** Nine days up to now, a reading every five minutes, with half a day that is missing. */
function history(): Told[] {
  const committed: Told[] = []
  for (let timeMs = todayMs - 9 * dayMs; timeMs <= nowMs; timeMs += 5 * minuteMs) {
    if (timeMs >= todayMs - 4 * dayMs && timeMs < todayMs - 3.5 * dayMs) continue
    for (const [at, sensor] of sensorIds.entries()) {
      const pm25 = 500 + ((Math.floor(timeMs / minuteMs) * 7919) % 6_007) + at * 100
      committed.push({ sensor, area: areaOf(sensor), timeMs, pm25, temperature: 2_500 })
    }
  }
  return committed
}

const halfUp = (value: number): number => Math.floor(value * 100 + 0.5 + 1e-6) / 100
const rank = (sorted: readonly number[], percent: number): number =>
  sorted[Math.max(0, Math.floor((sorted.length * percent) / 100 + 0.5) - 1)] ?? Number.NaN

/** In hundredths; by the definitions, from the values alone. */
function plain(values: readonly number[], quantilesOf = values): Numbers {
  const n = values.length
  const sorted = quantilesOf.toSorted((a, b) => a - b)
  const mean = values.reduce((sum, value) => sum + value, 0) / n
  const middle = sorted.length / 2
  const spread = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return {
    n,
    mean: halfUp(mean / 100),
    sd: n < 2 ? null : halfUp(Math.sqrt(spread / (n - 1)) / 100),
    min: Math.min(...values) / 100,
    q02: halfUp(rank(sorted, 2) / 100),
    q25: halfUp(rank(sorted, 25) / 100),
    median: halfUp(
      ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 200,
    ),
    q75: halfUp(rank(sorted, 75) / 100),
    q98: halfUp(rank(sorted, 98) / 100),
    max: Math.max(...values) / 100,
  }
}

const committed = history()
let api: TestApi
beforeAll(async () => {
  api = await testApi()
  await register(300)
  for (let at = 0; at < committed.length; at += 1_500)
    await api.commit(committed.slice(at, at + 1_500))
})
afterAll(() => api[Symbol.asyncDispose]())

/** The more readings there should be, the more is made from hours. */
async function register(cadence: number): Promise<void> {
  for (const [at, id] of sensorIds.entries()) {
    const site = siteOf(areaOf(id), 6.6 + at / 100, 3.35, formatIsoMs(todayMs - 9 * dayMs))
    await api.register({ id, cadence_seconds: cadence, sites: [site] })
  }
  await eventually('the API knows', async () => {
    const answer = await api.get(`/v1/sensors/${sensorIds[2]}`)
    const { sensor } = (await answer.json()) as { sensor?: { expected_interval_seconds: number } }
    return sensor?.expected_interval_seconds === cadence
  })
}

const rollUp = (): Promise<void> => writeHours(api, todayMs - 10 * dayMs, nowMs)

async function ask(path: string): Promise<Page> {
  const answer = await api.get(path)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Page
}

const inside = (step: Pick<Step, 'start_time' | 'end_time'>, ids: readonly string[]): number[] =>
  committed
    .filter(({ sensor }) => ids.includes(sensor))
    .filter(
      ({ timeMs }) => timeMs >= Date.parse(step.start_time) && timeMs < Date.parse(step.end_time),
    )
    .map(({ pm25 }) => pm25 ?? 0)

const bounds = `start_time=${formatIsoMs(todayMs - 8 * dayMs)}&end_time=${formatIsoMs(todayMs)}`
const [first] = sensorIds
const ikeja = sensorIds.slice(0, 2)
const zones = ['Africa/Lagos', 'Asia/Kolkata', 'Asia/Kathmandu', 'UTC']

/** The means of UTC hours, and of what a step holds of one, over the sensors together or each. */
function hourMeans(step: Step, ids: readonly string[], isEach: boolean): number[] {
  const own = committed.filter(
    ({ sensor, timeMs }) =>
      ids.includes(sensor) &&
      timeMs >= Date.parse(step.start_time) &&
      timeMs < Date.parse(step.end_time),
  )
  const hours = Map.groupBy(
    own,
    ({ sensor, timeMs }) => `${floorTo(timeMs, hourMs)} ${isEach ? sensor : ''}`,
  )
  return [...hours.values()].map(
    (rows) => rows.reduce((sum, { pm25 }) => sum + (pm25 ?? 0), 0) / rows.length,
  )
}

const isObserved = ({ coverage }: Step): boolean => coverage.observed > 0

describe('few readings', () => {
  test.each(zones)('make local days of a sensor: %s', async (zone) => {
    const page = await ask(
      `/v1/sensors/${first}/statistics?interval=day&timezone=${zone}&${bounds}&measurements=pm25`,
    )
    expect(page).toMatchObject({ timezone: zone, basis: 'readings', next_cursor: null })
    expect(page.count).toBe(zone === 'UTC' ? 8 : 9)
    for (const step of page.statistics) {
      const values = inside(step, [first])
      expect(step.coverage.observed).toBe(values.length)
      expect(step.measurements['pm25']).toMatchObject(plain(values))
      expect(step.valid).toBe(values.length >= 0.75 * step.coverage.expected)
    }
    for (const { local_start } of page.statistics.slice(1))
      expect(local_start).toMatch(/T00:00:00\.000[+-]\d\d:\d\d$/)
    expect(page.statistics.filter(({ valid }) => !valid)).toHaveLength(1)
  })

  test('make hours, months, years, hours of the day and weekdays of each source', async () => {
    const sources: [string, readonly string[]][] = [
      [`/v1/sensors/${first}`, [first]],
      ['/v1/areas/Ikeja', ikeja],
      ['/v1', sensorIds],
    ]
    for (const [path, ids] of sources) {
      for (const interval of ['10_minutes', 'hour', '3_hours', 'month', 'year']) {
        const page = await ask(
          `${path}/statistics?interval=${interval}&timezone=Asia/Kolkata&${bounds}`,
        )
        expect(page.statistics.length).toBeGreaterThan(0)
        const some = Math.ceil(page.statistics.length / 200)
        for (const step of page.statistics.filter((one, at) => isObserved(one) && at % some === 0))
          expect(step.measurements['pm25']).toMatchObject(plain(inside(step, ids)))
      }
    }
    const sum = (page: Page): number =>
      page.statistics.reduce((total, { coverage }) => total + coverage.observed, 0)
    const all = inside(
      { start_time: formatIsoMs(todayMs - 8 * dayMs), end_time: formatIsoMs(todayMs) },
      [first],
    )
    const ofDay = await ask(
      `/v1/sensors/${first}/statistics?interval=hour_of_day&timezone=Africa/Lagos&${bounds}`,
    )
    expect(ofDay.statistics.map(({ hour }) => hour)).toEqual(
      Array.from({ length: 24 }, (_, at) => at),
    )
    expect(sum(ofDay)).toBe(all.length)
    const local = committed.filter(
      ({ sensor, timeMs }) =>
        sensor === first &&
        timeMs >= todayMs - 8 * dayMs &&
        timeMs < todayMs &&
        new Date(timeMs + hourMs).getUTCHours() === 7,
    )
    expect(ofDay.statistics[7]?.measurements['pm25']).toMatchObject(
      plain(local.map(({ pm25 }) => pm25 ?? 0)),
    )
    const ofWeek = await ask(
      `/v1/sensors/${first}/statistics?interval=weekday&timezone=Africa/Lagos&${bounds}`,
    )
    expect(ofWeek.statistics.map(({ weekday }) => weekday)).toHaveLength(7)
    expect(ofWeek.statistics[0]?.weekday).toBe('monday')
    expect(sum(ofWeek)).toBe(all.length)
    const hours = await ask(
      `/v1/sensors/${first}/statistics?interval=hour_of_week&timezone=Africa/Lagos&${bounds}`,
    )
    expect(hours.statistics).toHaveLength(168)
    expect(sum(hours)).toBe(all.length)
    for (const [at, { weekday, hour }] of hours.statistics.entries()) {
      expect(weekday).toBe(ofWeek.statistics[Math.floor(at / 24)]?.weekday)
      expect(hour).toBe(at % 24)
    }
    const sevens = hours.statistics.filter(({ hour }) => hour === 7)
    expect(sum({ ...hours, statistics: sevens })).toBe(ofDay.statistics[7]?.coverage.observed)
  })

  test('of a box are those of the sensors that are in it now', async () => {
    const page = await ask(`/v1/statistics?bbox=3.3,6.595,3.4,6.615&interval=day&${bounds}`)
    expect(page).toMatchObject({ sensors: 2, bbox: '3.3,6.595,3.4,6.615' })
    for (const step of page.statistics)
      expect(step.measurements['pm25']).toMatchObject(plain(inside(step, ikeja)))
    const none = await ask('/v1/statistics?bbox=3.3,6.5,3.31,6.51&interval=day')
    expect(none).toMatchObject({ sensors: 0, count: 0, statistics: [] })
  })

  test('have only the numbers that were asked for', async () => {
    const path = `/v1/sensors/${first}/statistics?interval=day&${bounds}&measurements=pm25`
    const { statistics } = await ask(path)
    const few = await ask(`${path}&numbers=max,mean`)
    expect(few.statistics.length).toBeGreaterThan(4)
    for (const [at, { measurements, aqi }] of few.statistics.entries()) {
      const { n, mean, max, unit, valid } = statistics[at]!.measurements['pm25']!
      expect(measurements['pm25']).toEqual({ n, mean, max, unit, valid })
      const others = ['sd', 'min', 'q02', 'q25', 'median', 'q75', 'q98']
      const all = Object.entries(statistics[at]!.aqi)
      expect(aqi).toEqual(Object.fromEntries(all.filter(([name]) => !others.includes(name))))
    }
    const csv = await (await api.get(`${path}&numbers=mean&format=csv`)).text()
    expect(csv.split('\r\n')[0]).toBe(
      'start_time,end_time,local_start,expected,observed,percent,left_out,valid,pm25_n,pm25_mean,pm25_valid,aqi_n,aqi_mean,aqi_category,dominant_pollutant',
    )
  })

  test('come as CSV, with the same numbers', async () => {
    const path = `/v1/sensors/${first}/statistics?interval=day&${bounds}&measurements=pm25`
    const { statistics } = await ask(path)
    const answer = await api.get(`${path}&format=csv`)
    expect(answer.headers.get('content-type')).toContain('text/csv')
    const [head = '', ...lines] = (await answer.text()).trim().split('\r\n')
    expect(lines).toHaveLength(statistics.length)
    const rows = lines.map((line) => {
      const cells = line.split(',')
      return Object.fromEntries(head.split(',').map((name, at) => [name, cells[at]]))
    })
    for (const [at, row] of rows.entries()) {
      const step = statistics[at]
      expect(row['start_time']).toBe(step?.start_time)
      expect(Number(row['pm25_q98'])).toBe(step?.measurements['pm25']?.q98)
      expect(Number(row['expected'])).toBe(step?.coverage.expected)
    }
  })

  test('make a report of a year, which is that of its days', async () => {
    const zone = 'Africa/Lagos'
    const localNow = new Date(nowMs + hourMs)
    const year = localNow.getUTCFullYear()
    const from = Date.UTC(year, 0, 1) - hourMs
    const days: { mean: number | null }[] = []
    for (let start = from; start + dayMs <= nowMs; start += dayMs) {
      const start_time = formatIsoMs(start)
      const values = inside({ start_time, end_time: formatIsoMs(start + dayMs) }, [first])
      const begin = Math.max(start, todayMs - 9 * dayMs)
      const due = Math.max(0, Math.floor((start + dayMs - begin) / (5 * minuteMs)))
      if (due === 0) continue
      const sum = values.reduce((total, value) => total + value, 0)
      days.push({ mean: values.length >= 0.75 * due ? sum / values.length / 100 : null })
    }
    const means = days.flatMap(({ mean }) => mean ?? [])
    const answer = await api.get(
      `/v1/sensors/${first}/report?year=${year}&timezone=${zone}&index=uk`,
    )
    const report = (await answer.json()) as {
      days: { over: number }
      pm25: {
        valid_days: number
        completeness_percent: number
        annual_mean: number
        who_24_hours: { level: string; limit: number; days_over: number | null }[]
        who_year: { level: string; limit: number; met: boolean }[]
      }
      pm10: { valid_days: number; annual_mean: number | null }
      index: { name: string; valid_days: number; categories: { category: string; days: number }[] }
    }
    expect(report.days.over).toBe(days.length)
    expect(report.pm25.valid_days).toBe(means.length)
    const year1 = means.reduce((sum, mean) => sum + mean, 0) / means.length
    expect(report.pm25.annual_mean).toBe(halfUp(year1))
    for (const { limit, days_over } of report.pm25.who_24_hours)
      expect([limit, days_over]).toEqual([limit, means.filter((mean) => mean > limit).length])
    expect(report.pm25.who_24_hours.map(({ limit }) => limit)).toEqual([75, 50, 37.5, 25, 15])
    for (const { limit, met } of report.pm25.who_year)
      expect([limit, met]).toEqual([limit, year1 <= limit])
    expect(report.index).toMatchObject({ name: 'uk', valid_days: means.length })
    const low = means.filter((mean) => Math.floor(mean + 0.5) <= 35).length
    expect(report.index.categories[0]).toEqual({ category: 'low', days: low })
    expect(report.pm10).toMatchObject({ valid_days: means.length, annual_mean: 20 })
    const none = await api.get(`/v1/sensors/${first}/report?year=${year - 5}`)
    const { pm25 } = (await none.json()) as typeof report
    expect(pm25.valid_days).toBe(0)
    expect(new Set(pm25.who_24_hours.map(({ days_over }) => days_over))).toEqual(new Set([null]))
    const csv = await (
      await api.get(`/v1/areas/Ikeja/report?year=${year}&timezone=${zone}&format=csv`)
    ).text()
    expect(csv).toMatch(
      new RegExp(`^${year},days_over_who_24_hours,pm25,guideline,15,\\d+\r$`, 'm'),
    )
  })
})

describe('a wrong request', () => {
  const old = '/v1/sensors/NGR-LOS-OLD-001/statistics'
  beforeAll(async () => {
    const site = siteOf('Old Town', 6.9, 3.35, '2015-01-01T00:00:00Z')
    await api.register({ id: 'NGR-LOS-OLD-001', cadence_seconds: 10, sites: [site] })
    await eventually('the API knows', async () => (await api.get(old)).status === 200)
  })

  test('is none for 1,830 days of a sensor that sends every ten seconds', async () => {
    const start = formatIsoMs(nowMs - 1_829 * dayMs)
    for (const interval of intervals) {
      const path = `${old}?interval=${interval}&start_time=${start}&timezone=Africa/Lagos`
      const { statistics } = await ask(path)
      expect(statistics.length).toBeGreaterThan(4)
      expect(statistics.every(({ valid }) => !valid)).toBe(true)
    }
  })

  const sensor = `/v1/sensors/${first}/statistics`
  test.each<[string, string, string]>([
    ['a zone that does not exist', `${sensor}?timezone=Mars/Phobos`, 'timezone'],
    ['an offset as a zone', `${sensor}?timezone=%2B01:00`, 'timezone'],
    ['an interval', `${sensor}?interval=week`, 'interval'],
    ['a quantity that does not exist', `${sensor}?measurements=pm25,pm3`, 'measurements'],
    ['a quantity twice', `${sensor}?measurements=pm25,pm25`, 'measurements'],
    ['a number that does not exist', `${sensor}?numbers=mean,mode`, 'numbers'],
    ['a number twice', `${sensor}?numbers=mean,mean`, 'numbers'],
    ['no quantity', `${sensor}?measurements=`, 'measurements'],
    ['an index', `${sensor}?index=mars`, 'index'],
    ['a format', `${sensor}?format=geojson`, 'format'],
    ['a limit', `${sensor}?limit=1001`, 'limit'],
    ['pages of what has one', `${sensor}?interval=weekday&limit=3`, 'limit'],
    ['a cursor of what has one', `${sensor}?interval=hour_of_day&cursor=dDox`, 'cursor'],
    ['a mangled cursor', `${sensor}?cursor=%00%00`, 'cursor'],
    ['a cursor of the future', `${sensor}?cursor=${btoa('t:9999999999999')}`, 'cursor'],
    ['an end before the start', `${sensor}?start_time=2026-02-01&end_time=2026-01-01`, 'end_time'],
    ['a start in the future', `${sensor}?start_time=2199-01-01`, 'start_time'],
    ['no time', `${sensor}?start_time=yesterday`, 'start_time'],
    ['a long gathering', `${old}?interval=weekday&start_time=2015-01-01`, 'start_time'],
    ['latitude and longitude swapped', '/v1/statistics?bbox=6.5,3.3,6.7,3.5', 'bbox'],
    ['no year', `/v1/sensors/${first}/report`, 'year'],
    ['a year to come', `/v1/sensors/${first}/report?year=2199`, 'year'],
  ])('is answered 400: %s', async (_, path, parameter) => {
    const answer = await api.get(path)
    const { error } = (await answer.json()) as { error: { code: string; details: object } }
    expect([answer.status, error.code, error.details]).toMatchObject([
      400,
      'bad_parameter',
      { parameter },
    ])
  })

  test('for what does not exist is 404, and with what goes elsewhere 400', async () => {
    const statusOf = async (path: string): Promise<number> => (await api.get(path)).status
    expect(await statusOf('/v1/sensors/NGR-LOS-IKJ-999/statistics')).toBe(404)
    expect(await statusOf('/v1/areas/Nowhere/statistics')).toBe(404)
    expect(await statusOf('/v1/areas/Nowhere/report?year=2026')).toBe(404)
    expect(await statusOf(`${sensor}?bbox=1,2,3,4`)).toBe(400)
    expect(await statusOf(`${sensor}?fields=pm25`)).toBe(400)
  })
})

describe('many readings', () => {
  beforeAll(async () => {
    await rollUp()
    await register(10)
  })

  test('are read as hours, and n, mean, sd, min and max stay exact', async () => {
    for (const [path, ids] of [
      [`/v1/sensors/${first}`, [first]],
      ['/v1/areas/Ikeja', ikeja],
    ] as const) {
      for (const zone of zones) {
        const page = await ask(
          `${path}/statistics?interval=day&timezone=${zone}&${bounds}&measurements=pm25`,
        )
        const isUtc = zone === 'UTC'
        expect(page.basis).toBe(isUtc ? 'readings' : 'hourly_means')
        for (const step of page.statistics) {
          const values = inside(step, ids)
          const quantilesOf = isUtc ? values : hourMeans(step, ids, false)
          expect(step.measurements['pm25']).toMatchObject(plain(values, quantilesOf))
          expect(step.valid).toBe(false)
        }
      }
    }
  })

  test('are read as hours for a visitor, who may ask for less', async () => {
    const { key } = await api.newKey({ account: 'dashboard', internal: true })
    const get = (path: string): Promise<Response> =>
      api.get(path, { headers: { authorization: `Bearer ${key}` } })
    await register(300)
    const path = `/v1/sensors/${first}/statistics?timezone=Africa/Lagos&${bounds}&measurements=pm25`
    const [own, visitor] = await Promise.all(
      [api.get(path), get(path)].map(async (answer) => (await (await answer).json()) as Page),
    )
    expect([own?.basis, visitor?.basis]).toEqual(['readings', 'hourly_means'])
    const mean = (page: Page | undefined) =>
      page?.statistics.map(({ measurements }) => measurements['pm25']?.mean)
    expect(mean(visitor)).toEqual(mean(own))
    await register(10)
  })

  test('of hours are those of the readings, in zones of whole hours and of half ones', async () => {
    for (const zone of zones) {
      const page = await ask(
        `/v1/areas/Ikeja/statistics?interval=hour&timezone=${zone}&${bounds}&measurements=pm25`,
      )
      expect(page.basis).toBe('readings')
      for (const step of page.statistics.filter(isObserved))
        expect(step.measurements['pm25']).toMatchObject(plain(inside(step, ikeja)))
    }
  })

  test('of a box have the quantiles of the hours of its sensors', async () => {
    const page = await ask(
      `/v1/statistics?bbox=3.3,6.595,3.4,6.615&interval=day&timezone=Africa/Lagos&${bounds}&measurements=pm25`,
    )
    expect(page.basis).toBe('hourly_means')
    for (const step of page.statistics)
      expect(step.measurements['pm25']).toMatchObject(
        plain(inside(step, ikeja), hourMeans(step, ikeja, true)),
      )
  })

  test('of ten years of hours come in pages, which are one after the other and leave nothing out', async () => {
    const start = new Date(todayMs - 3_650 * dayMs).toISOString().slice(0, 10)
    const path = `/v1/sensors/${first}/statistics?interval=hour&timezone=Asia/Kolkata&start_time=${start}&measurements=pm25&limit=1000`
    const steps: Step[] = []
    let pages = 0
    let cursor: string | null = null
    do {
      const page: Page = await ask(cursor === null ? path : `${path}&cursor=${cursor}`)
      steps.push(...page.statistics)
      cursor = page.next_cursor
      pages++
    } while (cursor !== null)
    expect(pages).toBeLessThan(12)
    const seen = steps.reduce((sum, { coverage }) => sum + coverage.observed, 0)
    expect(seen).toBe(committed.filter(({ sensor }) => sensor === first).length)
    for (const [at, { end_time }] of steps.slice(0, -1).entries())
      expect((steps[at + 1]?.start_time ?? '') >= (end_time ?? '')).toBe(true)
  })

  test('that the job has not written yet are read as readings', async () => {
    await api.commit([
      { sensor: first, area: 'Ikeja', timeMs: todayMs - 2 * dayMs + 1, pm25: 90_000 },
    ])
    committed.push({ sensor: first, area: 'Ikeja', timeMs: todayMs - 2 * dayMs + 1, pm25: 90_000 })
    for (const path of [`/v1/sensors/${first}`, '/v1/areas/Ikeja', '/v1']) {
      for (const zone of ['UTC', 'Africa/Lagos']) {
        const page = await ask(`${path}/statistics?interval=day&timezone=${zone}&${bounds}`)
        const highest = Math.max(
          ...page.statistics.map(({ measurements }) => measurements['pm25']?.max ?? 0),
        )
        expect([path, zone, highest]).toEqual([path, zone, 900])
      }
    }
  })
})
