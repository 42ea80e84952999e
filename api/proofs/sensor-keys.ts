/**
 * Which keys a sensor signs with, and when each was entered: without an account, so that anyone can keep
 * the list and compare the key of a proof with it.
 */
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { findSensor } from '../live/find-sensor.ts'
import type { SensorBoard } from '../live/sensor-board.ts'

type Options = {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  /** @throws ApiError 429 */
  readonly bound: (network: string) => void
}

/** Below the network's own address. */
export const keysPath = '/v1/network/keys'

/** GET /v1/network/keys/{sensor_id}: at most `mostKeys`, from memory. */
export const sensorKeys = ({ board, rules, bound }: Options): Route => ({
  path: `${keysPath}/:sensor_id`,
  params: [],
  types: [jsonType],
  isOpen: true,
  answer: ({ names, network }) => {
    bound(network())
    return jsonAnswer(keysJson(findSensor(board, rules, names['sensor_id'] ?? '').sensor))
  },
})

function keysJson({ id, keys = [], mustSign, mustSignSinceMs }: RegisteredSensor) {
  return {
    status: 'success',
    sensor_id: id,
    signature: mustSign === true ? 'required' : 'optional',
    signature_since: timeOrNull(mustSignSinceMs),
    keys: keys.map(({ algorithm, publicKey, fromMs, untilMs, addedMs }) => ({
      algorithm,
      public_key: publicKey,
      from: formatIsoMs(fromMs),
      until: timeOrNull(untilMs),
      added_at: timeOrNull(addedMs),
    })),
  }
}

const timeOrNull = (ms: number | undefined): string | null =>
  ms === undefined ? null : formatIsoMs(ms)
