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

/** The page of a reading's proof. */
export const proofOf = ({ sensor_id: id, timestamp, blockchain }: Reading): string =>
  `/proof/${encodeURIComponent(id)}/${encodeURIComponent(timestamp)}?hash=${blockchain.hash}`

type Ask = { readonly id: string; readonly signal?: AbortSignal }

export const getSensor = async ({ id, signal }: Ask): Promise<SensorNow> =>
  getJson<SensorNow>(`/data/v1/sensors/${encodeURIComponent(id)}/status`, signal ? { signal } : {})
