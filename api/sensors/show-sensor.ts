import type { AirIndex } from '../../core/air/index/air-index.ts'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { aboutNames } from '../../schemas/devices/sensor.ts'
import { jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { findSensor } from '../live/find-sensor.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { sensorJson } from '../live/sensor-text.ts'
import { readView } from '../live/view.ts'

type Options = {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly nowMs: () => number
  readonly indices?: readonly AirIndex[]
}

/** GET /v1/sensors/{sensor_id}: what does not change with every reading, from memory. */
export const showSensor = ({ board, rules, nowMs, indices }: Options): Route => ({
  path: '/v1/sensors/:sensor_id',
  params: ['index'],
  types: [jsonType],
  answer: ({ names, params }) => {
    const { index } = readView(params, indices)
    const entry = findSensor(board, rules, names['sensor_id'] ?? '')
    const { sensor } = entry
    const { retiredMs, about = {} } = sensor
    return jsonAnswer({
      status: 'success',
      sensor: {
        ...sensorJson(entry, index, nowMs()),
        retired: retiredMs !== undefined,
        retired_at: retiredMs === undefined ? null : formatIsoMs(retiredMs),
        commissioned_at: formatIsoMs(sensor.sites[0].fromMs),
        expected_interval_seconds: sensor.cadenceMs / secondMs,
        ...Object.fromEntries(aboutNames.map((name) => [name, about[name] ?? null])),
        sites: sitesJson(sensor, nowMs()),
      },
    })
  },
})

/**
 * Those that have begun; where a sensor will be is not published before. Only the present address
 * is (`location`): at a former one there may live a person who has no sensor any more.
 */
function sitesJson({ sites }: RegisteredSensor, nowMs: number) {
  const begun = sites.filter(({ fromMs }, at) => at === 0 || fromMs <= nowMs)
  return begun.map(({ fromMs, area, lat, lon }, at) => {
    const next = begun[at + 1]
    const until = next === undefined ? null : formatIsoMs(next.fromMs)
    return { from: formatIsoMs(fromMs), until, area, lat, lon }
  })
}
