/** What the API says of an area or a sensor, put together. */
import { slugOf } from '../../../core/air/area.ts'
import type { UsCategory } from '../../../core/air/index/us-bands.ts'
import { formatIsoMs } from '../../../core/iso-time.ts'
import { graceMsOf } from '../../../core/state/presence.ts'
import type { PublicReason } from '../../../core/state/why-silent.ts'
import { dayMs, floorTo, hourMs, minuteMs, secondMs } from '../../../core/time.ts'
import type { PlaceNow, SilenceNow } from '../../place-now.ts'
import { airOf, dayOf, type Hour, type Means, meansOf } from './air-of.ts'
import type { AskApi } from './ask-api.ts'
import { type LookUsual, notKnown } from './usual.ts'

export type PlaceKey =
  | { readonly kind: 'city' }
  | { readonly kind: 'area' | 'sensor'; readonly id: string }

type Asking = {
  readonly ask: AskApi
  readonly network: string
  /** The name of the whole network. */
  readonly city: string
  readonly timezone: string
  readonly nowMs: number
  readonly usual: LookUsual
  /** Of a sensor that does not report. */
  readonly why: (sensor: SilentSensor) => Promise<PublicReason>
}

export type SilentSensor = {
  readonly id: string
  readonly area: string
  readonly lastMs: number | null
  readonly retiredMs: number | null
  readonly cadenceMs: number
}

/** @returns undefined: there is no such place @throws where the API does not answer */
export async function askPlace(key: PlaceKey, asking: Asking): Promise<PlaceNow | undefined> {
  if (key.kind === 'sensor') return await askSensor(key.id, asking)
  return await askArea(key.kind === 'city' ? asking.city : key.id, asking)
}

type Average = { readonly avg: number | null }
type AreaAnswer = {
  readonly area: { readonly name: string }
  readonly sensors: { readonly total: number }
  readonly presence: Omit<PlaceNow['sensors'], 'total'>
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
  const { reporting, never_reported } = answer.presence
  const { total } = answer.sensors
  const silence = silenceOfArea(answer)
  const recent =
    answer.aqi.nowcast === null && silence === null
      ? await ask<AreaAnswer>(`${path}?start_time=${since(nowMs, recentMs)}`, network)
      : undefined
  const isCity = answer.area.name === city
  return {
    ...(silence === null ? await asking.usual(path, network, nowMs) : notKnown),
    kind: isCity ? 'city' : 'area',
    id: slugOf(answer.area.name) || answer.area.name,
    name: answer.area.name,
    area: null,
    sensors: { total, reporting, never_reported },
    isRetired: false,
    silence,
    // what hours ago weighed is not the air of now
    air:
      silence === null
        ? airOf({
            nowcast: answer.aqi.nowcast,
            hours,
            recent: recent && averagesOf(recent.measurements),
            nowMs,
          })
        : null,
    day:
      silence === null
        ? dayOf(averagesOf(answer.measurements), hours.filter(isMeasured).length)
        : null,
    last_reading: answer.last_updated,
    last_index: null,
    timezone,
    made_at: formatIsoMs(nowMs),
  }
}

function silenceOfArea({ sensors, presence, last_updated: at }: AreaAnswer): SilenceNow | null {
  const { total } = sensors
  const { reporting, never_reported: never } = presence
  if (reporting > 0 || total === 0) return null
  if (total === never) return { kind: 'never', at: null }
  return { kind: 'outage', at, silent: total - never, of: total - never }
}

const isMeasured = ({ means }: Hour): boolean => means.pm25 !== null || means.pm10 !== null

export type SensorAnswer = {
  readonly sensor_id: string
  readonly sensor_status: 'online' | 'offline'
  readonly retired: boolean
  readonly retired_at: string | null
  readonly last_reading: string | null
  readonly silence_seconds: number | null
  readonly expected_interval_seconds: number
  readonly latest: { readonly aqi: number | null; readonly aqi_category: UsCategory | null } | null
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
  const silence = await silenceOfSensor(sensor, asking)
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
    sensor.aqi_nowcast === null && silence === null
      ? await recentMeans(sensor.sensor_id, asking)
      : undefined
  const { address } = sensor.location
  const { latest } = sensor
  return {
    ...(silence === null ? await asking.usual(path, network, nowMs) : notKnown),
    kind: 'sensor',
    id: sensor.sensor_id,
    name: address === '' ? sensor.sensor_id : address,
    area: { name: sensor.area, slug: slugOf(sensor.area) || sensor.area },
    sensors: {
      total: 1,
      reporting: silence === null ? 1 : 0,
      never_reported: sensor.last_reading === null ? 1 : 0,
    },
    isRetired: sensor.retired,
    silence,
    air: silence === null ? airOf({ nowcast: sensor.aqi_nowcast, hours, recent, nowMs }) : null,
    day: silence === null ? dayOf(meansOf(hours), hours.filter(isMeasured).length) : null,
    last_reading: sensor.last_reading,
    last_index:
      latest?.aqi == null || latest.aqi_category === null
        ? null
        : { aqi: latest.aqi, category: latest.aqi_category },
    timezone,
    made_at: formatIsoMs(nowMs),
  }
}

/** Also one whose silence a storm holds back, which the API still calls online. */
export const isSilent = (
  sensor: Pick<SensorAnswer, 'sensor_status' | 'silence_seconds' | 'expected_interval_seconds'>,
): boolean =>
  sensor.sensor_status === 'offline' ||
  (sensor.silence_seconds ?? 0) * secondMs > graceMsOf(sensor.expected_interval_seconds * secondMs)

async function silenceOfSensor(sensor: SensorAnswer, { why }: Asking): Promise<SilenceNow | null> {
  if (!isSilent(sensor)) return null
  const { kind, ...reason } = await why(silentSensor(sensor))
  return {
    kind,
    at: 'atMs' in reason && reason.atMs !== null ? formatIsoMs(reason.atMs) : null,
    ...('of' in reason && { silent: reason.silent, of: reason.of, place: reason.place }),
  }
}

export const silentSensor = (
  sensor: Pick<
    SensorAnswer,
    'sensor_id' | 'area' | 'last_reading' | 'retired_at' | 'expected_interval_seconds'
  >,
): SilentSensor => {
  const msOf = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso))
  return {
    id: sensor.sensor_id,
    area: sensor.area,
    lastMs: msOf(sensor.last_reading),
    retiredMs: msOf(sensor.retired_at),
    cadenceMs: sensor.expected_interval_seconds * secondMs,
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
