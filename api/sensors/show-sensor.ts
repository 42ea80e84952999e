import type { AirIndex } from '../../core/air/index/air-index.ts'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import { begunSites, type RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
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

/** Of the addresses only the present one is published (`location`). */
const sitesJson = (sensor: RegisteredSensor, nowMs: number) =>
  begunSites(sensor, nowMs).map(({ fromMs, untilMs, ...place }) => ({
    from: formatIsoMs(fromMs),
    until: untilMs === undefined ? null : formatIsoMs(untilMs),
    ...place,
  }))
