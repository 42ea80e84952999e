import { corrected } from '../../core/air/correction-model.ts'
import type { AirIndex } from '../../core/air/index/air-index.ts'
import { units } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { sensorLevelOf } from '../../core/state/sensor-level.ts'
import { secondMs } from '../../core/time.ts'
import { epa2021 } from '../../schemas/corrections.ts'
import { indexNow, indexOfDay, leftOut } from '../areas/network-now.ts'
import { jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import type { QueryStore } from '../http/query-store.ts'
import { findSensor } from '../live/find-sensor.ts'
import type { NewestReadings } from '../live/newest-readings.ts'
import { type Proofs, readingJson } from '../live/reading-json.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import type { Entry } from '../live/sensor-now.ts'
import { isOnline, offlineSinceMs, silenceSeconds } from '../live/sensor-now.ts'
import { vitalsOf } from '../live/sensor-text.ts'
import { readView } from '../live/view.ts'
import { wholeNewest } from '../live/whole-newest.ts'

type Options = {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly newest: NewestReadings
  readonly queryStore: QueryStore
  readonly texts: Proofs
  readonly nowMs: () => number
  readonly indices?: readonly AirIndex[]
}

/** GET /v1/sensors/{sensor_id}/status, from memory where the sensor was heard lately. */
export const sensorStatus = ({
  board,
  rules,
  newest: memory,
  queryStore,
  texts,
  nowMs,
  indices,
}: Options): Route => ({
  path: '/v1/sensors/:sensor_id/status',
  params: ['index'],
  types: [jsonType],
  answer: async ({ names, params, asker }) => {
    const view = readView(params, indices)
    const entry = findSensor(board, rules, names['sensor_id'] ?? '')
    const { area, lat, lon, address } = entry.site
    const newest = await wholeNewest(entry, asker, { newest: memory, queryStore })
    const { retiredMs } = entry.sensor
    return jsonAnswer({
      status: 'success',
      sensor_id: entry.sensor.id,
      sensor_status: isOnline(entry) ? 'online' : 'offline',
      retired: retiredMs !== undefined,
      retired_at: retiredMs === undefined ? null : formatIsoMs(retiredMs),
      ...vitalsOf(entry, nowMs()),
      silence_seconds: silenceSeconds(entry, nowMs()),
      offline_since: offlineSince(entry),
      commissioned_at: formatIsoMs(entry.sensor.sites[0].fromMs),
      expected_interval_seconds: entry.sensor.cadenceMs / secondMs,
      latest: newest === undefined ? null : readingJson(newest, view, texts),
      aqi_nowcast: indexNow(entry, view.index, nowMs()),
      aqi_24h: indexOfDay(entry, view.index, nowMs()),
      quality_level: sensorLevelOf(entry.state, entry.slot),
      left_out_24h: leftOut(entry, nowMs()),
      pm25_corrected: correctedOf(newest),
      area,
      location: { lat, lon, address },
    })
  },
})

/** Offered in addition to the raw value; only the raw value is stored, indexed and hashed. */
function correctedOf(newest: Reading | undefined) {
  // as it ever was, of every kind of device
  const value = newest === undefined ? null : corrected(epa2021, newest.values, undefined)
  if (value === null) return null
  return { value: Math.round(value * 10) / 10, unit: units.pm25, method: epa2021.name }
}

function offlineSince(entry: Entry): string | null {
  const sinceMs = offlineSinceMs(entry)
  return sinceMs === null ? null : formatIsoMs(Math.floor(sinceMs))
}
