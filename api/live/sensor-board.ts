/**
 * Every registered sensor with its current state. The JSON of those asked for lately is kept, ready to be
 * joined: made when it is requested, and discarded when a message or the clock changes it.
 */

import type { AirIndex } from '../../core/air/index/air-index.ts'
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import type { PartitionState } from '../../core/state/partition-state.ts'
import { minuteMs } from '../../core/time.ts'
import type { RowView } from '../../runtime/nats/buckets/bucket-view.ts'
import { earliestOf, type RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { KeptTexts } from './kept-texts.ts'
import { latestText } from './latest-json.ts'
import { SensorCounts } from './sensor-counts.ts'
import { Entry, type Place } from './sensor-now.ts'
import { SensorSlots } from './sensor-slots.ts'
import { SensorTable } from './sensor-table.ts'
import { sensorText } from './sensor-text.ts'

export type SensorBoard = {
  /** The registry, with every sensor where it is now. */
  readonly table: () => SensorTable
  readonly entryAt: (row: number) => Entry
  /** What is known of all sensors of an area, where they are now. */
  readonly counts: () => SensorCounts
  /** Sensors in use, in the order of ids. @param area only those that are there now */
  readonly inUse: (area?: string) => IterableIterator<Entry>
  /** A retired sensor too. */
  readonly get: (id: SensorId) => Entry | undefined
  /** Whether readings of it were ever accepted: they stay even if the entry is gone. */
  readonly hasReadings: (id: SensorId) => boolean
  /** Sensors with this number, for short ids; retired ones only if no other has it. */
  readonly withNumber: (number: string) => readonly SensorId[]
  /** Before it no sensor was in the network, ms since the epoch; Infinity: there is none. */
  readonly earliestMs: () => number
  /** @param entry just returned by the board */
  readonly textOf: (entry: Entry, index: AirIndex) => string
  /** The same with its latest reading, up to what the clock alone changes. @param entry as above */
  readonly latestTextOf: (entry: Entry, index: AirIndex) => string
  /** Counts up with every change of the registry. */
  readonly registryVersion: () => number
  /** Counts up with everything that may change a text, an order or a status. */
  readonly version: () => number
  readonly onFolded: (message: LogMessage | undefined) => void
}

type Options = {
  /** The registry; changes are followed. */
  readonly sensors: Pick<RowView<RegisteredSensor>, 'rows' | 'onChange'>
  readonly states: () => readonly PartitionState[]
  readonly nowMs: () => number
}

/** Uptime changes in five-minute slots, so no text is older than that; nor is a site. */
const stepMs = 5 * minuteMs

export function createSensorBoard({ sensors, states, nowMs }: Options): SensorBoard {
  const { rows } = sensors
  const table = new SensorTable(rows, nowMs)
  const slots = new SensorSlots()
  const texts = new KeptTexts()
  const latestTexts = new KeptTexts()
  let registryVersion = 0
  let version = 0
  let versionStep = -1
  /** The step of the clock that sites and texts are of. */
  let step = -1

  const stateOf = (partition: number): PartitionState => {
    const state = states()[partition]
    if (state === undefined) throw new RangeError(`there is no partition ${partition}`)
    return state
  }
  const entryAt = (row: number): Entry =>
    new Entry(table, row, stateOf(table.partitionOf(row)), slots.slotOf(row))
  const counts = new SensorCounts(table, entryAt)

  const changed = (row: number, place: Place): void => {
    texts.forget(row)
    latestTexts.forget(row)
    counts.changed(row, place)
  }
  /** Its row from now on, if the sensor is known. */
  const join = (id: SensorId, slot: number): number => {
    const row = table.find(id)
    if (row !== -1) slots.join(row, table.partitionOf(row), slot)
    return row
  }
  const put = (row: number, sensor?: RegisteredSensor, before?: RegisteredSensor): void => {
    table.put(row, sensor, before)
    if (sensor !== undefined) {
      const partition = table.partitionOf(row)
      slots.join(row, partition, stateOf(partition).slots.get(sensor.id) ?? -1)
    }
    changed(row, entryAt(row))
  }
  const foldedOf = (state: PartitionState, id: SensorId): void => {
    const slot = state.slots.get(id)
    if (slot === undefined) return
    const known = slots.rowAt(state.partition, slot)
    const row = known === -1 ? join(id, slot) : known
    if (row !== -1) changed(row, { state, slot })
  }
  /** No other sensors than those of the states are online. */
  const seeded = (): void => {
    slots.clear()
    texts.clear()
    latestTexts.clear()
    counts.clear()
    for (const state of states())
      for (const [slot, id] of state.ids.entries()) {
        const row = join(id, slot)
        if (row !== -1) changed(row, { state, slot })
      }
  }
  const moveToNow = (): void => {
    const now = Math.floor(nowMs() / stepMs)
    if (step === now) return
    step = now
    for (const row of table.moveToNow()) counts.changed(row, entryAt(row))
    texts.clear()
    latestTexts.clear()
  }

  for (let row = 0; row < rows.count(); row++) table.put(row, rows.make(row))
  seeded()
  sensors.onChange(({ key, value, before }) => {
    version++
    registryVersion++
    put(rows.find(key), value, before)
  })

  return {
    table: () => {
      moveToNow()
      return table
    },
    entryAt,
    counts: () => {
      moveToNow()
      return counts
    },
    inUse: function* (area) {
      moveToNow()
      for (const row of area === undefined ? table.inUse.all() : table.inArea(area))
        yield entryAt(row)
    },
    hasReadings: (id) => stateOf(partitionOf(id)).slots.has(id),
    get: (id) => {
      moveToNow()
      const row = table.find(id)
      return row === -1 ? undefined : entryAt(row)
    },
    withNumber: (number) => {
      const entries = table.withNumber(number).map(entryAt)
      const inUse = entries.filter(({ isInUse }) => isInUse)
      return (inUse.length > 0 ? inUse : entries).map(({ id }) => id).sort()
    },
    earliestMs: () => {
      let ms = Infinity
      for (const row of table.ever())
        ms = Math.min(ms, earliestOf({ sites: [{ fromMs: table.firstMsOf(row) }] }))
      return ms
    },
    textOf: (entry, index) => texts.get(entry.row, index, () => sensorText(entry, index, nowMs())),
    latestTextOf: (entry, index) =>
      latestTexts.get(entry.row, index, () => latestText(entry, index, nowMs())),
    registryVersion: () => registryVersion,
    version: () => {
      const now = Math.floor(nowMs() / stepMs)
      if (now !== versionStep) version++
      versionStep = now
      return version
    },
    onFolded: (message) => {
      version++
      if (message === undefined) {
        seeded()
        return
      }
      const state = stateOf(message.partition)
      for (const { sensor } of message.readings) foldedOf(state, sensor)
      for (const event of message.events)
        if (event.kind === 'offline') foldedOf(state, event.sensor)
      for (const sensor of message.held) foldedOf(state, sensor)
    },
  }
}
