import type { Reading } from '../../core/air/reading.ts'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import type { Asker } from '../http/answer.ts'
import { ApiError, badParameter } from '../http/api-error.ts'
import { latestMs, type Params, readTime } from '../http/params.ts'
import type { QueryStore } from '../http/query-store.ts'
import { findSensorId } from '../live/find-sensor.ts'
import type { NewestReadings } from '../live/newest-readings.ts'
import type { SensorBoard } from '../live/sensor-board.ts'

export type ReadingSources = {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly newest: NewestReadings
  readonly queryStore: QueryStore
}

export type FoundReading = {
  readonly reading: Reading
  /** False: accepted, but its row is not in the database (yet). */
  readonly isStored: boolean
}

/** `timestamp`, which these routes require. @throws ApiError 400 */
export function needTime(params: Params): number {
  const timeMs = readTime(params, 'timestamp')
  if (timeMs !== undefined) return timeMs
  throw badParameter('timestamp', undefined, 'the ISO 8601 time of the reading')
}

/** The one reading of a sensor at a time, from the store. @throws ApiError 404 */
export async function findReading(
  { board, rules, newest, queryStore }: ReadingSources,
  asker: Asker,
  name: string,
  timeMs: number,
): Promise<FoundReading> {
  const sensor = findSensorId(board, rules, name)
  const stored = await queryStore(asker, (store, signal) => store.within(signal).at(sensor, timeMs))
  if (stored !== undefined) return { reading: stored, isStored: true }
  const [accepted] =
    newest.page({ sensor, fromMs: timeMs, toMs: Math.min(timeMs + 1, latestMs), limit: 1 }) ?? []
  if (accepted !== undefined) return { reading: accepted, isStored: false }
  throw new ApiError(404, 'reading_not_found', 'this sensor has no reading at that time', {
    details: { sensor_id: sensor, timestamp: formatIsoMs(timeMs) },
  })
}
