import { correctionMethod, pm25Corrected } from '../../core/air/correction.ts'
import { type QuantityName, units } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { inUnit, valueOf } from '../../core/air/values.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import { dailyIndexOf, nowcastOf } from '../areas/network-now.ts'
import { jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { findSensor } from '../live/find-sensor.ts'
import { readingJson } from '../live/reading-json.ts'
import type { ReadingTexts } from '../live/reading-texts.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import type { Entry } from '../live/sensor-now.ts'
import { heardMs, isOnline, newestReading, offlineSinceMs } from '../live/sensor-now.ts'
import { vitalsOf } from '../live/sensor-text.ts'

type Options = {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly texts: Pick<ReadingTexts, 'hashOf' | 'onChainOf'>
  readonly nowMs: () => number
}

/** GET /v1/sensors/{sensor_id}/status, from memory. */
export const sensorStatus = ({ board, rules, texts, nowMs }: Options): Route => ({
  path: '/v1/sensors/:sensor_id/status',
  params: [],
  types: [jsonType],
  answer: ({ names }) => {
    const entry = findSensor(board, rules, names['sensor_id'] ?? '')
    const { area, lat, lon, address } = entry.site
    const newest = newestReading(entry)
    const { retiredMs } = entry.sensor
    return jsonAnswer({
      status: 'success',
      sensor_id: entry.sensor.id,
      sensor_status: isOnline(entry) ? 'online' : 'offline',
      retired: retiredMs !== undefined,
      retired_at: retiredMs === undefined ? null : formatIsoMs(retiredMs),
      ...vitalsOf(entry, nowMs()),
      ...silenceOf(entry, nowMs()),
      commissioned_at: formatIsoMs(entry.sensor.sites[0].fromMs),
      expected_interval_seconds: entry.sensor.cadenceMs / secondMs,
      latest: newest === undefined ? null : readingJson(newest, texts.hashOf, texts.onChainOf),
      aqi_nowcast: nowcastOf(entry, nowMs()),
      aqi_24h: dailyIndexOf(entry, nowMs()),
      pm25_corrected: correctedOf(newest),
      area,
      location: { lat, lon, address },
    })
  },
})

/** An offer beside the raw value, which alone is stored, indexed and hashed. */
function correctedOf(newest: Reading | undefined) {
  const of = (name: QuantityName): number | null =>
    inUnit(newest === undefined ? null : valueOf(newest.values, name))
  const value = pm25Corrected(of('pm25'), of('humidity'))
  if (value === null) return null
  return { value: Math.round(value * 10) / 10, unit: units.pm25, method: correctionMethod }
}

function silenceOf(
  entry: Entry,
  nowMs: number,
): { readonly silence_seconds: number | null; readonly offline_since: string | null } {
  const lastHeardMs = heardMs(entry)
  const sinceMs = offlineSinceMs(entry)
  return {
    silence_seconds:
      lastHeardMs === null ? null : Math.max(0, Math.floor((nowMs - lastHeardMs) / secondMs)),
    offline_since: sinceMs === null ? null : formatIsoMs(Math.floor(sinceMs)),
  }
}
