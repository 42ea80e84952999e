/** The areas with how they are now, for the page that needs no script. */

import type { UsCategory } from '../../../core/air/index/us-bands.ts'
import { usIndex } from '../../../core/air/index/us-epa.ts'
import { minuteMs } from '../../../core/time.ts'
import type { AskApi } from './ask-api.ts'

export type AreaNow = {
  readonly name: string
  readonly slug: string
  readonly total: number
  readonly online: number
  /** Of the mean of its sensors' newest readings, which are at most ten minutes old. */
  readonly aqi: number | null
  readonly category: UsCategory | null
}

type Areas = {
  readonly areas: readonly {
    readonly name: string
    readonly slug: string
    readonly sensors: { readonly total: number; readonly online: number }
  }[]
}
type Sensors = {
  readonly sensors: readonly Sensor[]
  readonly next_cursor: string | null
}
type Sensor = {
  readonly area: string
  readonly last_reading: string | null
  readonly quality_level: string | null
  readonly pm25: number | null
  readonly pm10: number | null
}

const mostAreas = 200
/** Of a thousand sensors; areas of a larger network are listed without an index. */
const mostPages = 5
const recentMs = 10 * minuteMs

export async function askAreas(
  ask: AskApi,
  network: string,
  nowMs: number,
): Promise<readonly AreaNow[]> {
  const list = await ask<Areas>('/v1/areas', network)
  const recent = (await newest(ask, network))?.filter(
    ({ last_reading: last, quality_level: level }) =>
      last !== null && level !== 'fail' && nowMs - Date.parse(last) <= recentMs,
  )
  const byArea = Map.groupBy(recent ?? [], ({ area }) => area)
  return (list?.areas ?? []).slice(0, mostAreas).map(({ name, slug, sensors }): AreaNow => {
    const here = byArea.get(name) ?? []
    const worst = usIndex.worstOf((pollutant) => mean(here.map((sensor) => sensor[pollutant])))
    const aqi = worst?.value ?? null
    const category = aqi === null ? null : usIndex.categoryOf(aqi)
    return { name, slug: slug || name, total: sensors.total, online: sensors.online, aqi, category }
  })
}

const mean = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}

async function newest(ask: AskApi, network: string): Promise<readonly Sensor[] | undefined> {
  const all: Sensor[] = []
  let cursor: string | null = ''
  const fields = 'area,last_reading,quality_level,pm25,pm10'
  for (let page = 0; page < mostPages; page++) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const path: string = `/v1/sensors?include=latest&limit=1000&fields=${fields}${from}`
    const answer: Sensors | undefined = await ask<Sensors>(path, network)
    all.push(...(answer?.sensors ?? []))
    cursor = answer?.next_cursor ?? null
    if (cursor === null) return all
  }
  return undefined
}
