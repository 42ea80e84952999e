import type { Pollutant } from '../../../../core/air/index/air-index.ts'
import type { UsCategory } from '../../../../core/air/index/us-bands.ts'
import type { Flag } from '../../../../core/air/quality.ts'
import type { Measurements } from '../../../../core/air/values.ts'
import { getJson } from '../../data.ts'

export type Reading = Measurements & {
  readonly sensor_id: string
  readonly timestamp: string
  readonly aqi: number | null
  readonly aqi_category: UsCategory | null
  readonly dominant_pollutant: Pollutant | null
  readonly beyond_index: boolean
  readonly quality: readonly Flag[]
  readonly blockchain: {
    readonly hash: string
    readonly status: 'pending' | 'anchoring' | 'verified' | 'mismatch'
  }
}

export type SensorNow = {
  readonly sensor_id: string
  readonly sensor_status: 'online' | 'offline'
  /** Taken out of the network. */
  readonly retired: boolean
  readonly retired_at: string | null
  readonly last_reading: string | null
  readonly silence_seconds: number | null
  readonly offline_since: string | null
  readonly uptime_24h: number
  /** Before that no readings were expected. */
  readonly commissioned_at: string
  readonly expected_interval_seconds: number
  readonly latest: Reading | null
  readonly aqi_nowcast: number | null
  readonly aqi_24h: number | null
  readonly pm25_corrected: { readonly value: number; readonly unit: string } | null
  readonly area: string
  readonly location: { readonly lat: number; readonly lon: number; readonly address: string }
}

export type ReadingsPage = {
  readonly readings: readonly Reading[]
  readonly next_cursor: string | null
}

type Ask = { readonly id: string; readonly signal?: AbortSignal }

export const getSensor = async ({ id, signal }: Ask): Promise<SensorNow> =>
  getJson<SensorNow>(`/data/v1/sensors/${encodeURIComponent(id)}/status`, signal ? { signal } : {})

type AskPage = Ask & { readonly cursor?: string; readonly limit: number }

export const getReadings = async ({ id, cursor, limit, signal }: AskPage): Promise<ReadingsPage> =>
  getJson<ReadingsPage>(
    `/data/v1/readings?${new URLSearchParams({
      sensor_id: id,
      limit: String(limit),
      ...(cursor === undefined ? {} : { cursor }),
    })}`,
    signal ? { signal } : {},
  )

/** A sensor that sends every ten seconds has 8,640 readings per day: more pages are not drawn. */
const mostPages = 12

export type History = {
  readonly readings: readonly Reading[]
  /** Where loading ended before the whole time was there. */
  readonly isCut: boolean
}

/** All readings of a time, newest first, a thousand at once. */
export async function getHistory({
  id,
  fromMs,
  signal,
}: Ask & { readonly fromMs: number }): Promise<History> {
  const readings: Reading[] = []
  let cursor: string | null = null
  for (let page = 0; page < mostPages; page++) {
    const query = new URLSearchParams({
      sensor_id: id,
      start_time: new Date(fromMs).toISOString(),
      limit: '1000',
      shape: 'flat',
      ...(cursor === null ? {} : { cursor }),
    })
    const answer: ReadingsPage = await getJson<ReadingsPage>(
      `/data/v1/readings?${query}`,
      signal ? { signal } : {},
    )
    readings.push(...answer.readings)
    cursor = answer.next_cursor
    if (cursor === null) return { readings, isCut: false }
  }
  return { readings, isCut: true }
}
