/** What statistics are of: a sensor, an area, the network, or the sensors in a box. */
import { wholeNetwork } from '../../core/air/area.ts'
import type { SensorId, SensorIdRules } from '../../core/air/sensor-id.ts'
import type { StatSource } from '../../store/store.ts'
import { findArea } from '../areas/find-area.ts'
import type { Params } from '../http/params.ts'
import type { AreaDirectory } from '../live/area-directory.ts'
import { findSensorId } from '../live/find-sensor.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { pageById } from '../live/sensor-pages.ts'
import type { Stays } from '../live/sensor-table.ts'
import { readSensorQuery } from '../sensors/sensor-filter.ts'

export type Target = {
  readonly of: StatSource
  /** How many sources of written hours: an area is one. */
  readonly sources: number
  /** As the statistics job calls what it has not written. */
  readonly rollups: string
  /** Whose readings are expected; where an area is given, while they were in it. */
  readonly sensors: Iterable<Stays>
  readonly area: string | undefined
  /** What the answer says of it. */
  readonly about: Readonly<Record<string, unknown>>
}

type Options = {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly directory: () => AreaDirectory
}

/** @throws ApiError 404 */
export function sensorTarget({ board, rules }: Options, text: string): Target {
  const id: SensorId = findSensorId(board, rules, text)
  const sensor = board.get(id)?.sensor
  return {
    of: { sensors: [id] },
    sources: 1,
    rollups: wholeNetwork,
    sensors: sensor === undefined ? [] : [sensor],
    area: undefined,
    about: { sensor_id: id },
  }
}

/** @throws ApiError 404 */
export function areaTarget({ board, directory }: Options, text: string): Target {
  const { name, code, storedAs, isNetwork } = findArea(directory(), text)
  return {
    of: { area: storedAs },
    sources: 1,
    rollups: storedAs,
    sensors: { [Symbol.iterator]: () => board.table().stays() },
    area: isNetwork ? undefined : name,
    about: { area: { name, code } },
  }
}

/** The network, or with `bbox` the sensors in use that are in the box now. @throws ApiError 400 */
export function networkTarget(options: Options, params: Params): Target {
  const { board, directory } = options
  const query = readSensorQuery(params, options)
  if (Object.keys(query).length === 0) return areaTarget(options, directory().network.name)
  const { shown } = pageById(board, { query, limit: Infinity, after: undefined })
  const sensors = shown.map(({ entry }) => entry.sensor)
  return {
    of: { sensors: sensors.map(({ id }) => id) },
    sources: sensors.length,
    rollups: wholeNetwork,
    sensors,
    area: undefined,
    about: { bbox: params.get('bbox'), sensors: sensors.length },
  }
}
