import { expect, test } from 'vitest'
import { wholeNetwork } from '../../core/air/area.ts'
import { median, percentile } from '../../core/air/percentile.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { siteOf, type TestApi, type Told, testApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'

const nowMs = Date.now()
const todayMs = floorTo(nowMs, dayMs)

type Numbers = { avg: number; min: number; max: number; median: number; p98: number }
type AreaAnswer = {
  area: { name: string; code: string | null }
  period: { start_time: string; end_time: string }
  basis: string
  sensors: { total: number; online: number; offline: number }
  presence: { reporting: number; never_reported: number }
  aqi: { average: number | null; median: number | null; nowcast: number | null; category: string }
  measurements: Record<'pm25', Numbers & { unit: string }>
  coverage: { expected: number; observed: number; percent: number }
  worst_sensor: { sensor_id: string; aqi: number } | null
  last_updated: string
  series?: { start_time: string; readings: number; measurements: Record<'pm25', Numbers> }[]
}

const sensors = [
  { id: 'NGR-LOS-IKJ-001', area: 'Ikeja' },
  { id: 'NGR-LOS-IKJ-002', area: 'Ikeja' },
  { id: 'NGR-LOS-VIC-001', area: 'Victoria Island' },
] as const

/** Three days up to now, one reading per sensor every five minutes, with a gap of six hours. */
function history(): Told[] {
  const committed: Told[] = []
  for (let timeMs = nowMs - 3 * dayMs; timeMs <= nowMs; timeMs += 5 * minuteMs) {
    const hour = Math.floor((nowMs - timeMs) / hourMs)
    if (hour >= 30 && hour < 36) continue
    sensors.forEach(({ id, area }, i) => {
      committed.push({
        sensor: id,
        area,
        timeMs,
        pm25: 500 + (Math.floor(timeMs / minuteMs) % 97) * 10 + i * 100,
      })
    })
  }
  return committed
}

/** Hundredths, whole or not, in µg/m³ as the API prints them; a half that a double shows an ulp low is a half. */
const printed = (hundredths: number | null): number =>
  Math.round((hundredths ?? Number.NaN) + 1e-6) / 100
const ascending = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b)
const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** What the API should return for these readings, computed in the shortest way possible. */
function recomputed(readings: readonly Told[]): Numbers {
  const values = ascending(readings.map(({ pm25 }) => pm25 ?? 0))
  return {
    avg: printed(meanOf(values)),
    min: printed(values[0] ?? null),
    max: printed(values.at(-1) ?? null),
    median: printed(median(values)),
    p98: printed(percentile(values, 98)),
  }
}

/** Median and 98th percentile of the means of clock hours. */
function ofHourlyMeans(readings: readonly Told[]): Pick<Numbers, 'median' | 'p98'> {
  const hours = Map.groupBy(readings, ({ timeMs }) => floorTo(timeMs, hourMs))
  const means = [...hours.values()].map((hour) => meanOf(hour.map(({ pm25 }) => pm25 ?? 0)))
  return {
    median: printed(median(ascending(means))),
    p98: printed(percentile(ascending(means), 98)),
  }
}

async function fill(api: TestApi, committed: readonly Told[]): Promise<void> {
  for (const { id, area } of sensors) await api.register({ id, sites: [siteOf(area)] })
  for (let at = 0; at < committed.length; at += 1_500)
    await api.commit(committed.slice(at, at + 1_500))
}

const ask = async (api: TestApi, path: string): Promise<AreaAnswer> => {
  const answer = await api.get(`/v1/areas/${path}`)
  expect(answer.status).toBe(200)
  return (await answer.json()) as AreaAnswer
}

/** Does what the statistics job does: writes roll-ups, and records how far it got. */
async function rollUp(api: TestApi, dirtyFromMs: number): Promise<void> {
  const areas = [wholeNetwork, 'Ikeja', 'Victoria Island']
  const fromMs = todayMs - 4 * dayMs
  const dirty: [string, number][] = []
  const dirtyDays: [string, number][] = []
  for (const area of areas) {
    await api.store.writeAreaHours(
      await api.store.computeBuckets(area, fromMs, dirtyFromMs, 'hour'),
    )
    await api.store.writeAreaDays(await api.store.computeBuckets(area, fromMs, todayMs, 'day'))
    for (let hour = dirtyFromMs; hour <= nowMs; hour += hourMs) dirty.push([area, hour])
    dirtyDays.push([area, todayMs])
  }
  await api.system.put('rollup', JSON.stringify({ position: api.lastSeq(), dirty, dirtyDays }))
}

const inIkeja = (committed: readonly Told[], fromMs: number, toMs: number): Told[] =>
  committed.filter((one) => one.area === 'Ikeja' && one.timeMs >= fromMs && one.timeMs < toMs)

test('an area agrees with a plain recomputation, with bounds that cut hours and days', async () => {
  await using api = await testApi()
  const committed = history()
  await fill(api, committed)
  const cases = [
    { fromMs: nowMs - 20 * hourMs - 7 * minuteMs, toMs: nowMs - 90 * minuteMs },
    { fromMs: nowMs - 70 * hourMs - 7 * minuteMs, toMs: nowMs - 33 * minuteMs },
    { fromMs: nowMs - 40 * hourMs - 7 * minuteMs, toMs: nowMs - 10 * hourMs - 1 },
    { fromMs: nowMs - 20 * minuteMs, toMs: nowMs - 5 * minuteMs },
  ]
  const check = async (): Promise<void> => {
    for (const { fromMs, toMs } of cases) {
      const bounds = `start_time=${formatIsoMs(fromMs)}&end_time=${formatIsoMs(toMs)}`
      const expected = recomputed(inIkeja(committed, fromMs, toMs))
      const isLong = toMs - fromMs > dayMs
      const answer = await ask(api, `Ikeja?${bounds}`)
      expect(answer.coverage.observed).toBe(inIkeja(committed, fromMs, toMs).length)
      expect(answer.basis).toBe(isLong ? 'hourly_means' : 'readings')
      expect(answer.measurements.pm25).toEqual({
        ...expected,
        ...(isLong && ofHourlyMeans(inIkeja(committed, fromMs, toMs))),
        unit: 'µg/m³',
      })
      for (const [interval, stepMs] of [
        ['hour', hourMs],
        ['day', dayMs],
      ] as const) {
        const { series = [] } = await ask(api, `ikj?${bounds}&interval=${interval}`)
        const buckets = Map.groupBy(inIkeja(committed, fromMs, toMs), ({ timeMs }) =>
          Math.max(fromMs, floorTo(timeMs, stepMs)),
        )
        const starts = [...buckets.keys()].toSorted((a, b) => a - b)
        expect(series.map(({ start_time }) => start_time)).toEqual(starts.map(formatIsoMs))
        expect(series.map(({ measurements: { pm25 } }) => pm25)).toEqual(
          starts.map((start) => ({ ...recomputed(buckets.get(start) ?? []), unit: 'µg/m³' })),
        )
      }
    }
  }
  // without any roll-up, with roll-ups of all but the current hour, and with a few hours missing
  await check()
  await rollUp(api, floorTo(nowMs, hourMs))
  await check()
  await rollUp(api, floorTo(nowMs, hourMs) - 3 * hourMs)
  await check()
})

test('a late reading shows in an hour that was rolled up before', async () => {
  await using api = await testApi()
  const committed = history()
  await fill(api, committed)
  await rollUp(api, floorTo(nowMs, hourMs))
  const fromMs = floorTo(nowMs, hourMs) - 50 * hourMs
  const path = `Ikeja?interval=hour&start_time=${formatIsoMs(fromMs)}&end_time=${formatIsoMs(fromMs + hourMs)}`
  const maxOf = async (): Promise<number | undefined> =>
    (await ask(api, path)).series?.[0]?.measurements.pm25.max
  // a mark that no reading left: as long as it shows, the roll-up is read
  const [hour] = await api.store.areaHours('Ikeja', fromMs, fromMs + hourMs)
  const marked = { ...hour!, fields: { ...hour!.fields, pm25: { ...hour!.fields.pm25, max: 77 } } }
  await api.store.writeAreaHours([marked])
  await eventually('the roll-up is read', async () => (await maxOf()) === 77)
  const late = {
    sensor: sensors[0].id,
    area: 'Ikeja',
    timeMs: fromMs + 1,
    arrivedMs: nowMs,
    pm25: 90_000,
  }
  await api.commit([late])
  expect(await maxOf()).toBe(900)
})

test('an area shows its sensors, and is found by name, slug and code in any case', async () => {
  await using api = await testApi()
  const committed = history()
  await fill(api, committed)
  await api.register({ id: 'NGR-LOS-IKJ-009' })
  await api.register({ id: 'NGR-LOS-SUR-001', sites: [siteOf('Surulere')] })
  await api.commit([
    { sensor: sensors[0].id, timeMs: nowMs + 1_000, pm25: 20_000, arrivedMs: nowMs },
  ])
  await eventually('all are listed', async () => {
    const { areas } = (await (await api.get('/v1/areas')).json()) as { areas: unknown[] }
    return areas.length === 3
  })
  const answer = await ask(api, 'IKEJA')
  expect(answer.area).toEqual({ name: 'Ikeja', code: 'IKJ' })
  expect(answer.sensors).toEqual({ total: 3, online: 2, offline: 1 })
  expect(answer.presence).toEqual({ reporting: 2, never_reported: 1 })
  expect(answer.worst_sensor).toMatchObject({ sensor_id: sensors[0].id, aqi: 275 })
  expect(answer.last_updated).toBe(formatIsoMs(nowMs + 1_000))
  expect(answer.aqi.nowcast).toBeGreaterThan(0)
  expect(answer.coverage.percent).toBeGreaterThan(30)
  for (const name of ['victoria-island', 'Victoria%20Island', 'vic', 'VIC']) {
    expect((await ask(api, name)).area.name).toBe('Victoria Island')
  }
  const lagos = await ask(api, 'lagos')
  expect(lagos.area).toEqual({ name: 'Lagos', code: 'LOS' })
  expect(lagos.sensors.total).toBe(5)
  const empty = await ask(api, 'surulere')
  expect(empty).toMatchObject({
    sensors: { total: 1, online: 0, offline: 1 },
    aqi: { average: null, median: null, min: null, max: null, category: null, nowcast: null },
    measurements: { pm25: { avg: null, median: null, unit: 'µg/m³' } },
    coverage: { observed: 0, percent: 0 },
    worst_sensor: null,
    last_updated: null,
  })
  const unknown = await api.get('/v1/areas/atlantis')
  expect(unknown.status).toBe(404)
  expect(await unknown.json()).toMatchObject({ error: { code: 'area_not_found' } })
  const past = await ask(api, `ikeja?end_time=${formatIsoMs(nowMs - 2 * hourMs)}`)
  expect(past.aqi.nowcast).toBeNull()
  const lengthOf = ({ period }: Pick<AreaAnswer, 'period'>): number =>
    Date.parse(period.end_time) - Date.parse(period.start_time)
  expect(lengthOf(lagos)).toBe(24 * hourMs)
  const ahead = `ikeja?end_time=${formatIsoMs(nowMs + 5 * hourMs)}`
  for (const { period } of [lagos, await ask(api, ahead)]) {
    // the end of the current ten seconds, which all requests within them share
    expect(Date.parse(period.end_time)).toBeLessThanOrEqual(Date.now() + 10_000)
    expect(Date.parse(period.end_time) % 10_000).toBe(0)
  }
  expect(await (await api.get('/v1/areas')).json()).toMatchObject({
    count: 3,
    network: { name: 'Lagos', sensors: { total: 5 } },
    areas: [{ name: 'Ikeja', code: 'IKJ', slug: 'ikeja' }, { name: 'Surulere' }, { code: 'VIC' }],
  })
})
