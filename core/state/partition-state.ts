/**
 * The state of the sensors of one partition, as a fold over its READINGS messages (`evolve.ts`).
 * The pipeline decides from it, the API shows it; a snapshot of it and the messages after it give
 * the very same state as an uninterrupted fold.
 *
 * It is changed in place: a reading costs no allocation. A sensor's data are at its slot in every
 * column; slots are assigned in the order in which sensors are first accepted, and never reused.
 */
import type { Reading } from '../air/reading.ts'
import type { SensorId } from '../air/sensor-id.ts'
import { mostValues, sameValues, trimmed, type Values } from '../air/values.ts'
import type { RulesVersion } from './quality-rules.ts'
import {
  type Columns,
  columnNames,
  emptyColumns,
  grown,
  layout,
  newestMsOf,
  noAqi,
  noValue,
  numberAt,
  numbersOf,
  timeAt,
  timeOf,
} from './state-columns.ts'

export type PartitionState = Columns & {
  readonly partition: number
  /** Sequence in READINGS of the message folded last, 0 before the first. */
  readingsSeq: number
  /** Accepted readings so far. */
  n: number
  /** READINGS sequence up to which the late lane has judged what was deferred. */
  lateTo: number
  /** The listening clock of the message folded last (`listening-clock.ts`). */
  listenedMs: number
  rawLast: number
  rawLastTimeMs: number
  /** The rules that the message now folded was decided by; in no snapshot. */
  rules: RulesVersion
  readonly slots: Map<SensorId, number>
  /** The sensor of each slot. */
  readonly ids: SensorId[]
  /** Every area name ever seen, and the place of each. */
  readonly areas: string[]
  readonly areaPlaces: Map<string, number>
  /** Sensors that fit before the columns grow. */
  capacity: number
}

const firstCapacity = 64

export function createState(partition: number, capacity: number = firstCapacity): PartitionState {
  return {
    partition,
    readingsSeq: 0,
    n: 0,
    lateTo: 0,
    listenedMs: 0,
    rawLast: 0,
    rawLastTimeMs: 0,
    rules: 0,
    slots: new Map(),
    ids: [],
    areas: [],
    areaPlaces: new Map(),
    capacity,
    ...emptyColumns(capacity),
  }
}

/** The slot of a sensor known to the state, or −1. Never adds one: for callers that only read. */
export const findSlot = (state: PartitionState, sensor: SensorId): number =>
  state.slots.get(sensor) ?? -1

/**
 * The slot of a sensor, assigned now if it has none. Only for a reading about to be accepted: a first
 * believable reading always is, so a worker and a replay of its log number the sensors alike.
 */
export function slotOf(state: PartitionState, sensor: SensorId): number {
  const known = state.slots.get(sensor)
  if (known !== undefined) return known
  const slot = state.ids.length
  if (slot === state.capacity) {
    state.capacity += Math.max(firstCapacity, state.capacity >>> 2)
    Object.assign(state, grown(state, state.capacity))
  }
  state.ids.push(sensor)
  state.slots.set(sensor, slot)
  return slot
}

/** The place of an area's name in `areas`, assigned now if it has none. */
export function areaPlaceOf(state: PartitionState, area: string): number {
  const known = state.areaPlaces.get(area)
  if (known !== undefined) return known
  state.areas.push(area)
  state.areaPlaces.set(area, state.areas.length - 1)
  return state.areas.length - 1
}

const orNull = (value: number | undefined): number | null =>
  value === undefined || value === noValue ? null : value

/** The values of the newest reading. */
function newestValues(state: PartitionState, slot: number): Values {
  const at = numbersOf(slot) + numberAt.values
  const values: (number | null)[] = []
  for (let id = 0; id < mostValues; id++) values.push(orNull(state.numbers[at + id]))
  return trimmed(values)
}

/**
 * Compares a reading with the newest accepted one of its sensor: `newer` is accepted at once,
 * `duplicate` and `conflict` (same time, equal or other values) are refused at once, `older` is
 * for the late lane.
 */
export function compareToNewest(
  state: PartitionState,
  slot: number,
  reading: Pick<Reading, 'timeMs' | 'values'>,
): 'newer' | 'duplicate' | 'conflict' | 'older' {
  const newestMs = newestMsOf(state, slot)
  if (reading.timeMs > newestMs) return 'newer'
  if (reading.timeMs < newestMs) return 'older'
  return sameValues(newestValues(state, slot), reading.values) ? 'duplicate' : 'conflict'
}

/** The newest accepted reading of a sensor. */
export function newestOf(state: PartitionState, slot: number): Reading | undefined {
  const sensor = state.ids[slot]
  const timeMs = newestMsOf(state, slot)
  if (sensor === undefined || timeMs === -Infinity) return undefined
  const { numbers } = state
  const row = numbersOf(slot)
  const aqi = numbers[row + numberAt.aqi] ?? noAqi
  return {
    sensor,
    area: state.areas[numbers[row + numberAt.area] ?? 0] ?? '',
    timeMs,
    values: newestValues(state, slot),
    aqi: aqi === noAqi ? null : aqi,
    flags: numbers[row + numberAt.flags] ?? 0,
    seq: timeOf(state, slot, timeAt.newestSeq),
  }
}

/** The state as plain data, spare capacity left out: two states are the same if these are equal. */
export function plainState(state: PartitionState): Readonly<Record<string, unknown>> {
  const size = state.ids.length
  const columns = columnNames.map((name) => [
    name,
    Array.from(state[name].subarray(0, size * layout[name].width)),
  ])
  return {
    partition: state.partition,
    readingsSeq: state.readingsSeq,
    n: state.n,
    lateTo: state.lateTo,
    listenedMs: state.listenedMs,
    rawLast: state.rawLast,
    rawLastTimeMs: state.rawLastTimeMs,
    slots: [...state.slots],
    ids: [...state.ids],
    areas: [...state.areas],
    areaPlaces: [...state.areaPlaces],
    ...Object.fromEntries(columns),
  }
}
