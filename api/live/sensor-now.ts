/** The state of a sensor as the routes need it; slot −1 is a sensor that never sent a reading. */

import type { AirIndex } from '../../core/air/index/air-index.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { PartitionState } from '../../core/state/partition-state.ts'
import { newestOf } from '../../core/state/partition-state.ts'
import { held, offlineSinceMsOf, online, unheard } from '../../core/state/presence.ts'
import { newestMsOf, timeAt, timeOf } from '../../core/state/state-columns.ts'
import { secondMs } from '../../core/time.ts'
import type { EntryRows } from '../../runtime/nats/buckets/bucket-view.ts'
import type { RegisteredSensor, RegisteredSite } from '../../schemas/devices/registered-sensor.ts'
import type { SensorTable } from './sensor-table.ts'

/** A sensor on the board, for as long as a request lasts; `state` and `slot` are the place of its columns (slot −1: none). */
export class Entry {
  readonly row: number
  readonly state: PartitionState
  readonly slot: number
  readonly #registered: Registered
  #sensor: RegisteredSensor | undefined

  constructor(registered: Registered, row: number, state: PartitionState, slot: number) {
    this.#registered = registered
    this.row = row
    this.state = state
    this.slot = slot
  }

  get id(): SensorId {
    return this.#registered.idOf(this.row)
  }

  get cadenceMs(): number {
    return this.#registered.cadenceMsOf(this.row)
  }

  /** When it came to its first site. */
  get firstMs(): number {
    return this.#registered.firstMsOf(this.row)
  }

  get isInUse(): boolean {
    return this.#registered.isInUse(this.row)
  }

  /** Where it is now. */
  get area(): string {
    return this.#registered.areaOf(this.row)
  }

  get lat(): number {
    return this.#registered.latOf(this.row)
  }

  get lon(): number {
    return this.#registered.lonOf(this.row)
  }

  /** When its entry in the registry was last written. */
  get changedMs(): number {
    return this.#registered.rows.timeMsOf(this.row)
  }

  /** All of its entry: made of the entry's bytes when it is first asked for. */
  get sensor(): RegisteredSensor {
    this.#sensor ??= this.#registered.rows.get(this.id)
    if (this.#sensor === undefined) throw new Error(`${this.id} was removed meanwhile`)
    return this.#sensor
  }

  /** Where it is now, with the address. */
  get site(): RegisteredSite {
    const { sites } = this.sensor
    const nowMs = this.#registered.nowMs()
    const isHere = ({ area, lat, lon, fromMs }: RegisteredSite): boolean =>
      area === this.area && lat === this.lat && lon === this.lon && fromMs <= nowMs
    return sites.findLast((site) => isHere(site)) ?? sites[0]
  }
}

type Registered = Pick<
  SensorTable,
  'areaOf' | 'cadenceMsOf' | 'firstMsOf' | 'idOf' | 'isInUse' | 'latOf' | 'lonOf' | 'nowMs'
> & { readonly rows: Pick<EntryRows<RegisteredSensor>, 'timeMsOf' | 'get'> }

export type Place = Pick<Entry, 'state' | 'slot'>

/** As in `presence.ts`. */
export const statusNow = ({ state, slot }: Place): number =>
  slot === -1 ? unheard : (state.status[slot] ?? unheard)

/** A silence held back by a storm has not been reported yet, so it does not show. */
export const showsOnline = (status: number): boolean => status === online || status === held

/** Of a sensor that is not in use the last reading may be minutes old, and it sends no more. */
export const isOnline = (sensor: Place & Pick<Entry, 'isInUse'>): boolean =>
  sensor.isInUse && showsOnline(statusNow(sensor))

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
