/**
 * A city in memory for the API's benchmarks: registry, states, and one key that is always valid.
 */
import { hash } from 'node:crypto'
import { createKeyGuard } from '../api/access/key-guard.ts'
import type { Admit } from '../api/admit.ts'
import { createSensorBoard, type SensorBoard } from '../api/live/sensor-board.ts'
import { apiKeyPrefix, makeKey } from '../core/access/api-key.ts'
import { seqOf } from '../core/air/reading.ts'
import { partitionCount, partitionOf, type SensorId, sensorIdRules } from '../core/air/sensor-id.ts'
import { evolve } from '../core/state/evolve.ts'
import type { ArrivedReading, LogMessage } from '../core/state/log-message.ts'
import { createState, type PartitionState } from '../core/state/partition-state.ts'
import { newEntry } from '../operate/sensor-registry.ts'
import type { SensorEntry } from '../schemas/devices/sensor.ts'
import { valued } from '../test/support/readings.ts'
import { registeredView } from '../test/support/registered-view.ts'

export const rules = sensorIdRules()
export const key = makeKey(apiKeyPrefix, new Uint8Array(64).fill(7))
const known = {
  id: 'bench',
  account: 'bench',
  name: 'bench',
  hint: '',
  expiresMs: Number.MAX_SAFE_INTEGER,
  isRevoked: false,
  isInternal: false,
}
const keys = new Map([[hash('sha256', key), known]])

const guard = createKeyGuard({
  find: (name) => keys.get(name),
  hasAccount: () => true,
  staleMs: () => 0,
  nowMs: Date.now,
})
/** Keys are checked; quotas have a benchmark of their own. */
export const admit: Admit = async (credentials) => ({
  caller: guard(credentials),
  headers: {},
  refund: () => undefined,
})

export function sensorId(n: number): SensorId {
  const id = rules.parse(`NGR-LOS-BEN-${String(n).padStart(4, '0')}`)
  if (id === undefined) throw new RangeError(`no id for ${n}`)
  return id
}
export const areas = 10
export const areaOf = (n: number): string => `Area ${n % areas}`

/** Spread over a country of ten degrees. */
export const entryOf = (n: number, area = areaOf(n)): SensorEntry =>
  newEntry({
    id: sensorId(n),
    area,
    lat: 4 + ((n * 7_919) % 100_003) / 10_000,
    lon: 3 + ((n * 7_907) % 100_019) / 10_000,
    address: `${n} Broad Street, Lagos`,
    cadenceSeconds: 60,
    fromMs: 0,
    nowMs: 0,
  })

export type City = {
  readonly board: SensorBoard
  /** A reading of sensor n, as if it came from the log. */
  readonly hear: (n: number, timeMs: number) => void
}

/** @param areasOfCity of as many sensors each */
export function createCity(sensors: number, areasOfCity = areas): City {
  const states: readonly PartitionState[] = Array.from({ length: partitionCount }, (_, p) =>
    createState(p),
  )
  const registry = registeredView(rules)
  for (let n = 0; n < sensors; n++) registry.put(sensorId(n), entryOf(n, `Area ${n % areasOfCity}`))
  const board = createSensorBoard({
    sensors: registry,
    states: () => states,
    nowMs: Date.now,
  })
  let seq = 0
  return {
    board,
    hear: (n, timeMs) => {
      const sensor = sensorId(n)
      const state = states[partitionOf(sensor)]
      if (state === undefined) throw new RangeError(`no partition for ${sensor}`)
      const reading: ArrivedReading = valued({
        sensor,
        area: areaOf(n),
        timeMs,
        arrivedMs: timeMs,
        pm25: 1_250,
        pm10: 4_000,
        co2: 41_000,
        temperature: 2_900,
        humidity: 7_000,
        aqi: 57,
        flags: 0,
        seq: seqOf(state.partition, state.n + 1),
      })
      const message: LogMessage = {
        partition: state.partition,
        worker: 'bench',
        rawLast: 0,
        rawLastTimeMs: timeMs,
        nLast: state.n + 1,
        lateTo: 0,
        listenedMs: timeMs,
        readings: [reading],
        events: [],
        held: [],
        deferred: [],
        refused: [],
        duplicates: [],
      }
      evolve(state, message, ++seq)
      board.onFolded(message)
    },
  }
}
