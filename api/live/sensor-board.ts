/**
 * Every registered sensor with its current state, in the order of ids, each with its JSON ready to
 * be joined. A text is made when it is requested and discarded when a message or the clock changes
 * it.
 */

import type { AirIndex } from '../../core/air/index/air-index.ts'
import { partitionOf, type SensorId, type SensorIdRules } from '../../core/air/sensor-id.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import type { PartitionState } from '../../core/state/partition-state.ts'
import { minuteMs } from '../../core/time.ts'
import { type RegisteredSensor, siteAt } from '../../schemas/devices/registered-sensor.ts'
import { latestText } from './latest-json.ts'
import type { Entry } from './sensor-now.ts'
import { sensorText } from './sensor-text.ts'

export type SensorBoard = {
  /** Sensors in use, in the order of ids. */
  readonly all: () => readonly Entry[]
  /** Also those that were retired, in no order. */
  readonly ever: () => readonly Entry[]
  /** A retired sensor too. */
  readonly get: (id: SensorId) => Entry | undefined
  /** Whether readings of it were ever accepted: they stay even if the entry is gone. */
  readonly hasReadings: (id: SensorId) => boolean
  /** Sensors with this number, for short ids; retired ones only if no other has it. */
  readonly withNumber: (number: string) => readonly SensorId[]
  /** @param entry just returned by `all` or `get` */
  readonly textOf: (entry: Entry, index: AirIndex) => string
  /** The same with its latest reading, up to what the clock alone changes. @param entry as above */
  readonly latestTextOf: (entry: Entry, index: AirIndex) => string
  /** Counts up with every change of the registry. */
  readonly registryVersion: () => number
  /** Counts up with everything that may change a text, an order or a status. */
  readonly version: () => number
  readonly onFolded: (message: LogMessage | undefined) => void
  /** @param changedMs when the entry was written */
  readonly onRegistered: (
    key: string,
    sensor: RegisteredSensor | undefined,
    changedMs?: number,
  ) => void
}

type Options = {
  readonly states: () => readonly PartitionState[]
  readonly nowMs: () => number
  readonly rules: SensorIdRules
}

/** Uptime changes in five-minute slots, so no text is older than that; nor is a site. */
const stepMs = 5 * minuteMs

export function createSensorBoard({ states, nowMs, rules }: Options): SensorBoard {
  const byId = new Map<string, Entry>()
  let ordered: readonly Entry[] | undefined
  /** The step of the clock to which all of `ordered` was last moved. */
  let orderedStep = -1
  let byNumber: Map<string, Entry[]> | undefined
  let registryVersion = 0
  let version = 0
  let versionStep = -1

  const stateOf = (partition: number): PartitionState => {
    const state = states()[partition]
    if (state === undefined) throw new RangeError(`there is no partition ${partition}`)
    return state
  }

  const entryFor = (sensor: RegisteredSensor, changedMs: number): Entry => {
    const partition = partitionOf(sensor.id)
    const state = stateOf(partition)
    const slot = state.slots.get(sensor.id) ?? -1
    const texts = { texts: undefined, latestTexts: undefined }
    return { sensor, partition, state, slot, site: sensor.sites[0], step: -1, changedMs, ...texts }
  }

  /** Moves the entry to the current step of the clock. */
  const refresh = (entry: Entry): void => {
    const step = Math.floor(nowMs() / stepMs)
    if (entry.step === step) return
    entry.site = siteAt(entry.sensor, nowMs())
    entry.step = step
    forgetTexts(entry)
  }

  const changed = (id: SensorId): void => {
    const entry = byId.get(id)
    if (entry === undefined) return
    if (entry.slot === -1) entry.slot = entry.state.slots.get(id) ?? -1
    forgetTexts(entry)
  }

  return {
    all: () => {
      const step = Math.floor(nowMs() / stepMs)
      if (ordered === undefined || orderedStep !== step) {
        ordered ??= [...byId.values()]
          .filter(isInUse)
          .sort((a, b) => (a.sensor.id < b.sensor.id ? -1 : 1))
        for (const entry of ordered) refresh(entry)
        orderedStep = step
      }
      return ordered
    },
    ever: () => [...byId.values()],
    hasReadings: (id) => stateOf(partitionOf(id)).slots.has(id),
    get: (id) => {
      const entry = byId.get(id)
      if (entry !== undefined) refresh(entry)
      return entry
    },
    withNumber: (number) => {
      byNumber ??= numbersOf(byId.values())
      const entries = byNumber.get(number) ?? []
      const inUse = entries.filter(isInUse)
      return (inUse.length > 0 ? inUse : entries).map(({ sensor }) => sensor.id)
    },
    textOf: (entry, index) => {
      entry.texts ??= new Map()
      let text = entry.texts.get(index)
      if (text === undefined) {
        text = sensorText(entry, index, nowMs())
        entry.texts.set(index, text)
      }
      return text
    },
    latestTextOf: (entry, index) => {
      entry.latestTexts ??= new Map()
      let text = entry.latestTexts.get(index)
      if (text === undefined) {
        text = latestText(entry, index, nowMs())
        entry.latestTexts.set(index, text)
      }
      return text
    },
    registryVersion: () => registryVersion,
    version: () => {
      const step = Math.floor(nowMs() / stepMs)
      if (step !== versionStep) version++
      versionStep = step
      return version
    },
    onFolded: (message) => {
      version++
      if (message === undefined) {
        for (const entry of byId.values()) {
          entry.state = stateOf(entry.partition)
          entry.slot = entry.state.slots.get(entry.sensor.id) ?? -1
          forgetTexts(entry)
        }
        return
      }
      for (const { sensor } of message.readings) changed(sensor)
      for (const event of message.events) if (event.kind === 'offline') changed(event.sensor)
    },
    onRegistered: (key, sensor, changedMs = 0) => {
      version++
      registryVersion++
      ordered = undefined
      byNumber = undefined
      const id = rules.parse(key)
      if (id === undefined || sensor === undefined || sensor.id !== id) byId.delete(key)
      else byId.set(key, entryFor(sensor, changedMs))
    },
  }
}

function forgetTexts({ texts, latestTexts }: Entry): void {
  texts?.clear()
  latestTexts?.clear()
}

const isInUse = ({ sensor }: Entry): boolean => sensor.retiredMs === undefined

/** By number, in the order of ids. */
function numbersOf(entries: Iterable<Entry>): Map<string, Entry[]> {
  const ordered = [...entries].sort((a, b) => (a.sensor.id < b.sensor.id ? -1 : 1))
  return Map.groupBy(ordered, ({ sensor }) => sensor.id.slice(sensor.id.lastIndexOf('-') + 1))
}
