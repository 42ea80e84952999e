/** Which readings statistics are made of, and what corrected values give. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { corrected } from '../../core/air/correction-model.ts'
import { maskOf } from '../../core/air/quality.ts'
import { type QualityFilter, qualityFilters, refusedMaskOf } from '../../core/air/quality-level.ts'
import { valuesOf } from '../../core/air/values.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { shippedCorrections } from '../../schemas/corrections.ts'
import { retentionText } from '../../schemas/retention.ts'
import { siteOf, type TestApi, type Told, testApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { writeHours } from '../support/written-hours.ts'

const nowMs = Date.now()
const todayMs = floorTo(nowMs, dayMs)
const beginMs = todayMs - 3 * dayMs
const [good, stuck, other] = ['NGR-LOS-IKJ-001', 'NGR-LOS-IKJ-002', 'NGR-LOS-VIC-001'] as const
const areaOf = (id: string): string => (id === other ? 'Victoria Island' : 'Ikeja')

type Row = Told & { readonly flags: number; readonly pm25: number }

/** Three days. One sensor is stuck for the second of them, and now and then one is suspect. */
const committed: readonly Row[] = Array.from({ length: (3 * dayMs) / (5 * minuteMs) }, (_, at) =>
  [good, stuck, other].map((sensor, n): Row => {
    const isStuck = sensor === stuck && at >= 288 && at < 576
    const isSuspect = (at + n) % 10 === 0
    return {
      sensor,
      area: areaOf(sensor),
      timeMs: beginMs + at * 5 * minuteMs,
      pm25: isStuck ? 40_000 : 1_000 + ((at * 7_919 + n) % 2_003),
      pm10: null,
      humidity: 5_000 + (at % 9) * 100,
      flags: isStuck ? maskOf('pm_stuck') : isSuspect ? maskOf('pm_spike') : 0,
    }
  }),
).flat()

type Numbers = { n: number; mean: number | null; max: number | null; valid: boolean }
type Step = {
  start_time: string
  end_time: string
  coverage: { expected: number; observed: number }
  left_out: number | null
  valid: boolean
  measurements: Record<string, Numbers>
  corrections?: Record<string, Record<string, Numbers>>
}
type Page = {
  quality: string
  basis: string
  next_cursor: string | null
  corrections?: { name: string; version: number; hash: string }[]
  statistics: Step[]
}

let api: TestApi
beforeAll(async () => {
  api = await testApi()
  await register(300)
  for (let at = 0; at < committed.length; at += 1_500)
    await api.commit(committed.slice(at, at + 1_500))
  await writeHours(api, beginMs, nowMs)
})
afterAll(() => api[Symbol.asyncDispose]())

/** The more readings there should be, the more is made from hours. */
async function register(cadence: number): Promise<void> {
  for (const [at, id] of [good, stuck, other].entries()) {
    const site = siteOf(areaOf(id), 6.6 + at / 100, 3.35, formatIsoMs(beginMs))
    // the model was fitted to other devices than that
    const about = { make: 'Maker', model: id === other ? 'Another' : 'PMS5003' }
    await api.register({ id, cadence_seconds: cadence, sites: [site], ...about })
  }
  await eventually('the API knows', async () => {
    const answer = await api.get(`/v1/sensors/${other}`)
    const { sensor } = (await answer.json()) as { sensor?: { expected_interval_seconds: number } }
    return sensor?.expected_interval_seconds === cadence
  })
}

async function ask<Answer = Page>(path: string): Promise<Answer> {
  const answer = await api.get(path)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Answer
}

const period = `start_time=${formatIsoMs(beginMs)}&end_time=${formatIsoMs(todayMs)}`
const places: readonly (readonly [path: string, sensors: readonly string[]])[] = [
  [`/v1/sensors/${stuck}`, [stuck]],
  ['/v1/areas/Ikeja', [good, stuck]],
  ['/v1', [good, stuck, other]],
  ['/v1?bbox=3.3,6.605,3.4,6.7', [stuck, other]],
]
const pathOf = (place: string, query: string): string => {
  const [path, more] = place.split('?')
  return `${path}/statistics?${period}&${query}${more === undefined ? '' : `&${more}`}`
}

const halfUp = (value: number): number => Math.floor(value * 100 + 0.5 + 1e-6) / 100

function expectSteps(page: Page, sensors: readonly string[], quality: QualityFilter): void {
  expect(page.quality).toBe(quality)
  for (const step of page.statistics) {
    const all = committed.filter(
      ({ sensor, timeMs }) =>
        sensors.includes(sensor) &&
        timeMs >= Date.parse(step.start_time) &&
        timeMs < Date.parse(step.end_time),
    )
    const rows = all.filter(({ flags }) => (flags & refusedMaskOf(quality)) === 0)
    expect(step.coverage.observed).toBe(rows.length)
    expect(step.left_out).toBe(all.length - rows.length)
    const pm25 = step.measurements['pm25']
    expect(pm25?.n).toBe(rows.length)
    const sum = rows.reduce((total, row) => total + row.pm25, 0)
    expect(pm25?.mean).toBe(rows.length === 0 ? null : halfUp(sum / rows.length / 100))
    expect(step.valid).toBe(rows.length >= 0.75 * step.coverage.expected)
  }
}

describe.each([
  ['few readings', 300],
  ['written hours', 10],
])('%s', (_, cadence) => {
  beforeAll(() => register(cadence))

  test.each(places)('leave out what failed, and count it: %s', async (place, sensors) => {
    for (const interval of ['hour', 'day', 'month']) {
      const page = await ask(pathOf(place, `interval=${interval}`))
      expectSteps(page, sensors, 'suspect')
      expect(page.statistics.reduce((sum, { left_out }) => sum + (left_out ?? 0), 0)).toBe(288)
    }
  })

  test.each(places)('are of the quality that is asked for: %s', async (place, sensors) => {
    for (const quality of qualityFilters) {
      for (const interval of ['day', 'hour']) {
        const page = await ask(pathOf(place, `interval=${interval}&quality=${quality}`))
        expectSteps(page, sensors, quality)
      }
    }
    const all = await ask(pathOf(place, 'interval=month&quality=all'))
    expect(Math.max(...all.statistics.map((step) => step.measurements['pm25']?.max ?? 0))).toBe(400)
  })

  test('are of corrected values too, and name their models', async () => {
    const model = shippedCorrections.find(({ kinds }) => kinds !== undefined)
    if (model === undefined) throw new Error('one is for some devices only')
    const { name, version, hash } = model
    const path = pathOf('/v1', `interval=day&measurements=pm25&corrections=${name}`)
    const page = await ask(path)
    expect(page.corrections).toEqual([{ name, version, hash }])
    for (const step of page.statistics) {
      const values = committed
        .filter(
          ({ sensor, timeMs, flags }) =>
            timeMs >= Date.parse(step.start_time) &&
            timeMs < Date.parse(step.end_time) &&
            sensor !== other &&
            (flags & refusedMaskOf('suspect')) === 0,
        )
        .map((row) => corrected(model, valuesOf(row), undefined))
        .filter((value) => value !== null)
      const stat = step.corrections?.[name]?.['pm25']
      expect(stat?.n).toBe(values.length)
      expect(values.length).toBeGreaterThan(0)
      const sum = values.reduce((total, value) => total + Math.round(value * 100), 0)
      expect(stat?.mean).toBe(halfUp(sum / values.length / 100))
    }
    const csv = await (await api.get(`${path}&format=csv`)).text()
    const [head = '', ...lines] = csv.trim().split('\r\n')
    expect(head).toContain(`,pm25_${name}_n,pm25_${name}_mean,`)
    expect(head.endsWith(',corrections')).toBe(true)
    expect(lines).toHaveLength(page.statistics.length)
    for (const line of lines) {
      expect(line.split(',')).toHaveLength(head.split(',').length)
      expect(line.endsWith(`,${name}/${version}/${hash}`)).toBe(true)
    }
  })

  test('make reports without what failed', async () => {
    const year = new Date(beginMs).getUTCFullYear()
    const of = async (quality: string) =>
      ask<{ left_out: number; quality: string; pm25: { highest_day: number } }>(
        `/v1/sensors/${stuck}/report?year=${year}${quality}`,
      )
    // a year may have begun within these days
    const mine = committed.filter(
      ({ sensor, timeMs }) => sensor === stuck && new Date(timeMs).getUTCFullYear() === year,
    )
    const failed = mine.filter(({ flags }) => (flags & maskOf('pm_stuck')) !== 0).length
    expect(await of('')).toMatchObject({ quality: 'suspect', left_out: failed })
    expect(await of('&quality=all')).toMatchObject({ quality: 'all', left_out: 0 })
  })
})

test('an area counts what failed, of a period and of its steps', async () => {
  const area = await ask<{
    left_out: number
    coverage: { observed: number }
    measurements: { pm25: { max: number } }
    series: { left_out: number; readings: number }[]
  }>(`/v1/areas/Ikeja?${period}&interval=day`)
  expect(area.left_out).toBe(288)
  expect(area.coverage.observed).toBe(5 * 288)
  expect(area.measurements.pm25.max).toBeLessThan(400)
  expect(area.series.map(({ left_out, readings }) => [left_out, readings])).toEqual([
    [0, 576],
    [288, 288],
    [0, 576],
  ])
})

test('a report of readings themselves is of the whole year, however many they are', async () => {
  await register(1)
  const year = new Date(todayMs - 1).getUTCFullYear()
  const daysIn = (Date.UTC(year + 1, 0) - Date.UTC(year, 0)) / dayMs
  for (const path of [`/v1/sensors/${good}`, '/v1/areas/Ikeja'])
    for (const quality of qualityFilters)
      expect(await ask<unknown>(`${path}/report?year=${year}&quality=${quality}`)).toMatchObject({
        days: { in_year: daysIn },
      })
})

test('hours that an earlier version wrote say that it is not known what failed', async () => {
  await register(10)
  const [hour] = await api.store.areaHours('Ikeja', beginMs, beginMs + hourMs)
  if (hour === undefined) throw new Error('it is written')
  // SQLite's column of it is null; the row is otherwise as it was
  await api.store.writeAreaHours([{ ...hour, failed: null }])
  const page = await ask(pathOf('/v1/areas/Ikeja', 'interval=day&timezone=Africa/Lagos'))
  expect(page.statistics[0]?.left_out).toBeNull()
  expect(page.statistics.at(-1)?.left_out).not.toBeNull()
  // answers are kept for some seconds: a period that was not asked for before
  const until = formatIsoMs(todayMs - hourMs)
  const area = await ask<{ left_out: number | null }>(
    `/v1/areas/Ikeja?start_time=${formatIsoMs(beginMs)}&end_time=${until}`,
  )
  expect(area.left_out).toBeNull()
  await api.store.writeAreaHours([hour])
})

describe('what would read too much', () => {
  beforeAll(async () => {
    const site = siteOf('Old Town', 6.9, 3.35, formatIsoMs(beginMs - 20 * dayMs))
    await api.register({ id: 'NGR-LOS-OLD-001', cadence_seconds: 1, sites: [site] })
    await register(1)
  })

  test('comes in pages, if its steps are short', async () => {
    const path = pathOf('/v1', 'interval=hour&quality=all')
    const steps: Step[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const page: Page = await ask(`${path}${cursor === null ? '' : `&cursor=${cursor}`}`)
      steps.push(...page.statistics)
      cursor = page.next_cursor
      pages++
    } while (cursor !== null)
    expect(pages).toBeGreaterThan(3)
    expect(steps.reduce((sum, { coverage }) => sum + coverage.observed, 0)).toBe(committed.length)
  })

  test.each(['quality=all', 'quality=good', 'corrections=barkjohn_2021'])(
    'is refused if one step is too long: %s',
    async (what) => {
      for (const interval of ['year', 'hour_of_day']) {
        const answer = await api.get(
          `/v1/statistics?interval=${interval}&start_time=${formatIsoMs(beginMs - 10 * dayMs)}&end_time=${formatIsoMs(nowMs)}&${what}`,
        )
        const { error } = (await answer.json()) as { error: { details: { parameter: string } } }
        expect(answer.status).toBe(400)
        expect(error.details.parameter).toBe('interval')
      }
    },
  )

  test('is answered from hours without it', async () => {
    const page = await ask(pathOf('/v1', 'interval=month'))
    expect(page.basis).toBe('hourly_means')
  })
})

test('visitors get each quality by itself, of fewer readings', async () => {
  await register(10)
  const { key } = await api.newKey({ account: 'dashboard', internal: true })
  const get = (path: string): Promise<Response> =>
    api.get(path, { headers: { authorization: `Bearer ${key}` } })
  for (const quality of qualityFilters) {
    const path = pathOf(`/v1/sensors/${stuck}`, `interval=day&quality=${quality}`)
    const page = (await (await get(path)).json()) as Page
    // 20,000 readings are more than two days
    expect(page.next_cursor === null).toBe(quality === 'suspect')
    expectSteps(page, [stuck], quality)
  }
  const corrected = await get(pathOf(`/v1/sensors/${stuck}`, 'corrections=epa_2021_ext'))
  expect(((await corrected.json()) as Page).statistics[0]?.corrections).toBeDefined()
  const longer = await get(pathOf('/v1/areas/Ikeja', 'interval=hour_of_day&quality=all'))
  expect(longer.status).toBe(200)
  await register(1)
  const tooLong = await get(pathOf('/v1/areas/Ikeja', 'interval=hour_of_day&quality=all'))
  expect(tooLong.status).toBe(400)
})

describe('where the archive alone has the readings', () => {
  beforeAll(async () => {
    await register(300)
    const retention = { rawBeforeMs: beginMs + dayMs, blobsBeforeBatch: null }
    await api.system.put('retention', retentionText(retention))
    await eventually('the API knows', async () => {
      const answer = await api.get(pathOf('/v1', 'quality=all'))
      return answer.status === 400
    })
  })
  afterAll(() => api.system.delete('retention'))

  test('hours answer for the usual quality, and nothing for another one', async () => {
    const page = await ask(pathOf(`/v1/sensors/${stuck}`, 'interval=day'))
    expectSteps(page, [stuck], 'suspect')
    for (const [query, parameter] of [
      ['quality=good', 'quality'],
      ['corrections=epa_2021_ext', 'corrections'],
      ['interval=10_minutes', 'interval'],
    ] as const) {
      const answer = await api.get(pathOf(`/v1/sensors/${stuck}`, query))
      const { error } = (await answer.json()) as { error: { details: { parameter: string } } }
      expect([answer.status, error.details.parameter]).toEqual([400, parameter])
    }
    const after = `start_time=${formatIsoMs(beginMs + dayMs)}&end_time=${formatIsoMs(todayMs)}`
    const later = await ask(`/v1/sensors/${stuck}/statistics?interval=day&quality=all&${after}`)
    expectSteps(later, [stuck], 'all')
  })
})

test.each(['quality=fail', 'corrections=epa_1999', 'corrections=epa_2021_ext,epa_2021_ext'])(
  'there is no %s',
  async (query) => {
    const answer = await api.get(pathOf('/v1', query))
    expect(answer.status).toBe(400)
  },
)
