import { expect, test } from 'vitest'
import { wholeNetwork } from '../../core/air/area.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { siteOf, type TestApi, type Told, testApi } from '../support/api.ts'

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
  const told: Told[] = []
  for (let timeMs = todayMs - 9 * dayMs; timeMs <= nowMs; timeMs += 5 * minuteMs) {
    if (timeMs >= todayMs - 4 * dayMs && timeMs < todayMs - 3.5 * dayMs) continue
    for (const [at, sensor] of sensorIds.entries()) {
      const pm25 = 500 + ((Math.floor(timeMs / minuteMs) * 7919) % 6_007) + at * 100
      told.push({ sensor, area: areaOf(sensor), timeMs, pm25, temperature: 2_500 })
    }
  }
  return told
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

async function filled(): Promise<{ api: TestApi; told: Told[] }> {
  const api = await testApi()
  const told = history()
  for (const id of sensorIds) await api.register({ id, sites: [siteOf(areaOf(id))] })
  for (let at = 0; at < told.length; at += 1_500) await api.commit(told.slice(at, at + 1_500))
  return { api, told }
}

/** Does what the statistics job does, up to the hour that runs. */
async function rollUp(api: TestApi): Promise<void> {
  const { store } = api
  const fromMs = todayMs - 10 * dayMs
  const hourNow = floorTo(nowMs, hourMs)
  const { sensors, areas } = await store.names()
  for (const area of [wholeNetwork, ...areas.filter((name) => name !== wholeNetwork)]) {
    await store.writeAreaHours(await store.computeBuckets(area, fromMs, hourNow, 'hour'))
    await store.writeAreaDays(await store.computeBuckets(area, fromMs, todayMs, 'day'))
  }
  await store.writeSensorHours(await store.computeSensors(sensors, fromMs, hourNow, 'hour'))
  await store.writeSensorDays(await store.computeSensors(sensors, fromMs, todayMs, 'day'))
  const record = { position: api.lastSeq(), dirty: [], dirtyDays: [], sensorsFromMs: 0 }
  await api.system.put('rollup', JSON.stringify(record))
}

async function ask(api: TestApi, path: string): Promise<Page> {
  const answer = await api.get(path)
  expect([path, answer.status]).toEqual([path, 200])
  return (await answer.json()) as Page
}

const inside = (told: readonly Told[], step: Step, ids: readonly string[]): number[] =>
  told
    .filter(({ sensor }) => ids.includes(sensor))
    .filter(
      ({ timeMs }) => timeMs >= Date.parse(step.start_time) && timeMs < Date.parse(step.end_time),
    )
    .map(({ pm25 }) => pm25 ?? 0)

test('the local days of a sensor are those of its readings', async () => {
  const { api, told } = await filled()
  await using _ = api
  const [id] = sensorIds
  const bounds = `start_time=${formatIsoMs(todayMs - 8 * dayMs)}&end_time=${formatIsoMs(todayMs)}`
  for (const zone of ['Africa/Lagos', 'Asia/Kolkata', 'UTC']) {
    const page = await ask(
      api,
      `/v1/sensors/${id}/statistics?interval=day&timezone=${zone}&${bounds}&measurements=pm25`,
    )
    expect(page).toMatchObject({ timezone: zone, basis: 'readings', next_cursor: null })
    expect(page.count).toBe(zone === 'UTC' ? 8 : 9)
    for (const step of page.statistics) {
      const values = inside(told, step, [id])
      expect(step.coverage.observed).toBe(values.length)
      expect(step.measurements['pm25']).toMatchObject(plain(values))
      expect(step.valid).toBe(values.length >= 0.75 * step.coverage.expected)
      if (step !== page.statistics[0])
        expect(step.local_start).toMatch(/T00:00:00\.000[+-]\d\d:\d\d$/)
    }
    expect(page.statistics.filter(({ valid }) => !valid)).toHaveLength(1)
  }
  await rollUp(api)
})
