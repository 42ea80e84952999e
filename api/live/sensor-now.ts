/** The state of a sensor as the routes need it; slot −1 is a sensor that never sent a reading. */

import type { AirIndex } from '../../core/air/index/air-index.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { PartitionState } from '../../core/state/partition-state.ts'
import { newestOf } from '../../core/state/partition-state.ts'
import { graceMsOf, held, offlineSinceMsOf, online } from '../../core/state/presence.ts'
import { newestMsOf, timeAt, timeOf } from '../../core/state/state-columns.ts'
import { secondMs } from '../../core/time.ts'
import type { RegisteredSensor, RegisteredSite } from '../../schemas/devices/registered-sensor.ts'

/** A sensor on the board; `state` and `slot` are the place of its columns (slot −1: none). */
export type Entry = {
  readonly sensor: RegisteredSensor
  readonly partition: number
  state: PartitionState
  slot: number
  /** Where it is now. */
  site: RegisteredSite
  /** The step of the clock that `site` and `texts` belong to; −1: update them. */
  step: number
  /** Its JSON by index, and that with its latest reading; emptied when they must be made again. */
  /** undefined: none was asked for yet. */
  texts: Map<AirIndex, string> | undefined
  latestTexts: Map<AirIndex, string> | undefined
  /** When its entry in the registry was last written. */
  readonly changedMs: number
}

type Place = Pick<Entry, 'state' | 'slot'>

/** A silence held back by a storm has not been reported yet, so it does not show. */
export function isOnline({ state, slot, sensor }: Place & Pick<Entry, 'sensor'>): boolean {
  // its last reading may be minutes old, and it sends no more
  if (sensor.retiredMs !== undefined) return false
  const status = slot === -1 ? undefined : state.status[slot]
  return status === online || status === held
}

/** Time of the newest accepted reading, −Infinity if there is none. */
export const newestMs = ({ state, slot }: Place): number =>
  slot === -1 ? -Infinity : newestMsOf(state, slot)

/** Without the version of its leaf and its signature: no hash follows from it (`wholeNewest`). */
export const newestReading = ({ state, slot }: Place): Reading | undefined =>
  slot === -1 ? undefined : newestOf(state, slot)

/** When a fresh reading last arrived, null if none ever did. */
export function lastHeardMs({ state, slot }: Place): number | null {
  const timeMs = slot === -1 ? Number.NaN : timeOf(state, slot, timeAt.heardArrivedMs)
  return Number.isNaN(timeMs) ? null : timeMs
}

/** How long ago that was, in whole seconds. */
export function silenceSeconds(entry: Place, nowMs: number): number | null {
  const lastMs = lastHeardMs(entry)
  return lastMs === null ? null : Math.max(0, Math.floor((nowMs - lastMs) / secondMs))
}

/**
 * Whether it sent something within its grace, by the clock. Unlike `isOnline` it is also false while a
 * storm holds the silence back, and while nothing of ours receives.
 */
export function isReporting(entry: Place & Pick<Entry, 'sensor'>, nowMs: number): boolean {
  const lastMs = lastHeardMs(entry)
  return lastMs !== null && nowMs - lastMs <= graceMsOf(entry.sensor.cadenceMs)
}

/** When its newest reading arrived, or its entry was written, whichever is later. */
export function modifiedMs({ state, slot, changedMs }: Place & Pick<Entry, 'changedMs'>): number {
  const arrivedMs = slot === -1 ? Number.NaN : timeOf(state, slot, timeAt.newestArrivedMs)
  return Number.isNaN(arrivedMs) ? changedMs : Math.max(arrivedMs, changedMs)
}

export const offlineSinceMs = ({ state, slot }: Place): number | null =>
  slot === -1 ? null : offlineSinceMsOf(state, slot)

/** The index of the newest reading, null if there is none. */
export function newestIndex(place: Place, index: AirIndex): number | null {
  const newest = newestReading(place)
  return newest === undefined ? null : index.ofReading(newest)
}
