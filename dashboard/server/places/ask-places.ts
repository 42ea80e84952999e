/** What the API says of an area or a sensor, put together. */
import { slugOf } from '../../../core/air/area.ts'
import { formatIsoMs } from '../../../core/iso-time.ts'
import { dayMs, floorTo, hourMs, minuteMs, secondMs } from '../../../core/time.ts'
import type { PlaceNow } from '../../place-now.ts'
import { airOf, dayOf, type Hour, type Means, meansOf } from './air-of.ts'

export type PlaceKey =
  | { readonly kind: 'city' }
  | { readonly kind: 'area' | 'sensor'; readonly id: string }

/** @returns undefined: there is no such thing @throws where the API does not answer */
export type AskApi = <T>(path: string, network: string) => Promise<T | undefined>

type Options = {
  readonly apiUrl: string
  readonly key: () => string
}

const answerWithinMs = 8 * secondMs

/** Asks with our key as the network of the visitor, so that turns at the API are fair. */
export const askApi =
  ({ apiUrl, key }: Options): AskApi =>
  async <T>(path: string, network: string): Promise<T | undefined> => {
    const answer = await fetch(apiUrl + path, {
      headers: { authorization: `Bearer ${key()}`, 'airproof-network': network },
      signal: AbortSignal.timeout(answerWithinMs),
    })
    // the caller names the type of the answer
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (answer.ok) return (await answer.json()) as T
    await answer.body?.cancel()
    if (answer.status === 404) return undefined
    throw new Error(`the API answered ${answer.status}`)
  }

type Asking = {
  readonly ask: AskApi
  readonly network: string
  /** The name of the whole network. */
  readonly city: string
  readonly timezone: string
  readonly nowMs: number
}

/** @returns undefined: there is no such place @throws where the API does not answer */
export async function askPlace(key: PlaceKey, asking: Asking): Promise<PlaceNow | undefined> {
  if (key.kind === 'sensor') return await askSensor(key.id, asking)
  return await askArea(key.kind === 'city' ? asking.city : key.id, asking)
}

type Average = { readonly avg: number | null }
type AreaAnswer = {
  readonly area: { readonly name: string }
  readonly sensors: { readonly total: number; readonly online: number }
  readonly last_updated: string | null
  readonly aqi: { readonly nowcast: number | null }
  readonly measurements: { readonly pm25: Average; readonly pm10: Average }
  readonly series?: readonly {
    readonly start_time: string
    readonly readings: number
    readonly measurements: { readonly pm25: Average; readonly pm10: Average }
  }[]
}

const averagesOf = ({ pm25, pm10 }: AreaAnswer['measurements']): Means => ({
  pm25: pm25.avg,
  pm10: pm10.avg,
})

const recentMs = 10 * minuteMs

/** Where a period begins, on the grid of ten seconds that all visitors share. */
const since = (nowMs: number, lengthMs: number): string =>
  formatIsoMs(floorTo(nowMs, 10 * secondMs) - lengthMs)

async function askArea(name: string, asking: Asking): Promise<PlaceNow | undefined> {
  const { ask, network, nowMs, city, timezone } = asking
  const path = `/v1/areas/${encodeURIComponent(name)}`
  const answer = await ask<AreaAnswer>(`${path}?interval=hour`, network)
  if (answer === undefined) return undefined
  const hours = (answer.series ?? []).map(
    ({ start_time, readings, measurements }): Hour => ({
      startMs: floorTo(Date.parse(start_time), hourMs),
      n: readings,
      means: averagesOf(measurements),
    }),
  )
  const recent =
    answer.aqi.nowcast === null
      ? await ask<AreaAnswer>(`${path}?start_time=${since(nowMs, recentMs)}`, network)
      : undefined
  const isCity = answer.area.name === city
  return {
    kind: isCity ? 'city' : 'area',
    id: slugOf(answer.area.name) || answer.area.name,
    name: answer.area.name,
    area: null,
    sensors: { total: answer.sensors.total, online: answer.sensors.online },
    isRetired: false,
    air: airOf({
      nowcast: answer.aqi.nowcast,
      hours,
      recent: recent && averagesOf(recent.measurements),
      nowMs,
    }),
    day: dayOf(averagesOf(answer.measurements), hours.filter(isMeasured).length),
    last_reading: answer.last_updated,
    timezone,
    made_at: formatIsoMs(nowMs),
  }
}

const isMeasured = ({ means }: Hour): boolean => means.pm25 !== null || means.pm10 !== null

type SensorAnswer = {
  readonly sensor_id: string
  readonly sensor_status: 'online' | 'offline'
  readonly retired: boolean
  readonly last_reading: string | null
  readonly aqi_nowcast: number | null
  readonly area: string
  readonly location: { readonly address: string }
}
type StatisticsAnswer = {
  readonly statistics: readonly {
    readonly start_time: string
    readonly measurements: { readonly pm25: Measured; readonly pm10: Measured }
  }[]
}
type Measured = { readonly n: number; readonly mean: number | null }
type ReadingsAnswer = {
  readonly readings: readonly { readonly pm25: number | null; readonly pm10: number | null }[]
}

async function askSensor(id: string, asking: Asking): Promise<PlaceNow | undefined> {
  const { ask, network, nowMs, timezone } = asking
  const path = `/v1/sensors/${encodeURIComponent(id)}`
  const sensor = await ask<SensorAnswer>(`${path}/status`, network)
  if (sensor === undefined) return undefined
  const query = `interval=hour&measurements=pm25,pm10&start_time=${since(nowMs, dayMs)}`
  const day = await ask<StatisticsAnswer>(`${path}/statistics?${query}`, network)
  const hours = (day?.statistics ?? []).map(
    ({ start_time, measurements: { pm25, pm10 } }): Hour => ({
      startMs: floorTo(Date.parse(start_time), hourMs),
      n: Math.max(pm25.n, pm10.n),
      means: { pm25: pm25.mean, pm10: pm10.mean },
    }),
  )
  const recent =
    sensor.aqi_nowcast === null && sensor.sensor_status === 'online'
      ? await recentMeans(sensor.sensor_id, asking)
      : undefined
  const { address } = sensor.location
  return {
    kind: 'sensor',
    id: sensor.sensor_id,
    name: address === '' ? sensor.sensor_id : address,
    area: { name: sensor.area, slug: slugOf(sensor.area) || sensor.area },
    sensors: { total: 1, online: sensor.sensor_status === 'online' ? 1 : 0 },
    isRetired: sensor.retired,
    air: airOf({ nowcast: sensor.aqi_nowcast, hours, recent, nowMs }),
    day: dayOf(meansOf(hours), hours.filter(isMeasured).length),
    last_reading: sensor.last_reading,
    timezone,
    made_at: formatIsoMs(nowMs),
  }
}

/** Of the readings themselves: statistics of minutes are of whole hours. */
async function recentMeans(
  id: string,
  { ask, network, nowMs }: Asking,
): Promise<Means | undefined> {
  const query = new URLSearchParams({
    sensor_id: id,
    start_time: since(nowMs, recentMs),
    quality: 'suspect',
    limit: '1000',
  })
  const answer = await ask<ReadingsAnswer>(`/v1/readings?${String(query)}`, network)
  const mean = (values: readonly (number | null)[]): number | null => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
  }
  return (
    answer && {
      pm25: mean(answer.readings.map(({ pm25 }) => pm25)),
      pm10: mean(answer.readings.map(({ pm10 }) => pm10)),
    }
  )
}
