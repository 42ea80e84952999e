import type { SensorId, SensorIdRules } from '../../core/air/sensor-id.ts'
import { ApiError } from '../http/api-error.ts'
import type { SensorBoard } from './sensor-board.ts'
import type { Entry } from './sensor-now.ts'

const mostCandidates = 20

/**
 * The same for requests that want only readings: those of a sensor that is not in the registry any
 * more stay, and an earlier version left no entry when it removed one.
 * @throws ApiError 404
 */
export function findSensorId(board: SensorBoard, rules: SensorIdRules, text: string): SensorId {
  const id = rules.parse(text)
  return id !== undefined && board.hasReadings(id) ? id : findSensor(board, rules, text).id
}

/**
 * The sensor that an id names: canonical, or short if exactly one sensor has that number.
 * @throws ApiError 404 that states what an id looks like
 */
export function findSensor(board: SensorBoard, rules: SensorIdRules, text: string): Entry {
  const id = rules.parse(text)
  const known = id && board.get(id)
  if (known !== undefined) return known
  const number = rules.shortNumber(text)
  const candidates = number === undefined ? [] : board.withNumber(number)
  const [only] = candidates
  const entry = only && candidates.length === 1 ? board.get(only) : undefined
  if (entry !== undefined) return entry
  if (candidates.length > 1) {
    throw new ApiError(404, 'sensor_ambiguous', `several sensors have the number ${number}`, {
      details: { sensor_id: text, candidates: candidates.slice(0, mostCandidates) },
    })
  }
  throw new ApiError(
    404,
    'sensor_not_found',
    id === undefined && number === undefined
      ? `that is not a sensor id: the format is ${rules.format}`
      : `there is no sensor of that id (the format is ${rules.format})`,
    { details: { sensor_id: text.slice(0, 100), expected_format: rules.format } },
  )
}
