/**
 * What is known now of the sensors of each area, counted as they change. Only which of them are silent depends on
 * the clock: that is worked out when it is asked for, in one pass over a column of times, 1.5 ms for a
 * million sensors.
 */
import {
  graceMsOf,
  held,
  offline,
  online,
  type Status,
  statusNames,
} from '../../core/state/presence.ts'
import {
  type Entry,
  lastHeardMs,
  newestMs,
  type Place,
  showsOnline,
  statusNow,
} from './sensor-now.ts'
import type { SensorTable } from './sensor-table.ts'

export type Counts = {
  /** Sensors in use that are there now. */
  readonly total: number
  readonly online: number
  /** Sent something within their grace, by the clock: not while a storm holds their silence back. */
  readonly reporting: number
  readonly everSent: number
  /** Time of the newest reading, −Infinity if there is none. */
  readonly newestMs: number
}

export const noSensors: Counts = {
  total: 0,
  online: 0,
  reporting: 0,
  everSent: 0,
  newestMs: -Infinity,
}

/** What is counted of a sensor: two flags, and its status above them. 0: it is not in use, or never sent. */
const hasSent = 1
const wasFresh = 2
const statusShift = 2
const kindBits = 4
const kindMask = 2 ** kindBits - 1

const nothing = () => ({
  byStatus: statusNames.map(() => 0),
  everSent: 0,
  everFresh: 0,
  /** NaN: the sensor that sent it has left. */
  newestMs: -Infinity,
})
type Tally = ReturnType<typeof nothing>

function add(tally: Tally, kind: number, by: 1 | -1): void {
  tally.byStatus[kind >> statusShift]! += by
  if ((kind & hasSent) !== 0) tally.everSent += by
  if ((kind & wasFresh) !== 0) tally.everFresh += by
}

/** Of several areas together. */
export const sumOf = (counts: Iterable<Counts>): Counts =>
  [...counts].reduce(
    (all, counts) => ({
      total: all.total + counts.total,
      online: all.online + counts.online,
      reporting: all.reporting + counts.reporting,
      everSent: all.everSent + counts.everSent,
      newestMs: Math.max(all.newestMs, counts.newestMs),
    }),
    noSensors,
  )

export class SensorCounts {
  readonly #table: SensorTable
  readonly #entryAt: (row: number) => Entry
  // by row, 12 bytes
  /** What was counted: its area's number and, in the lowest bits, its kind. */
  #counted = new Uint32Array()
  /** The end of its grace after what it last sent; NaN: it never sent anything fresh, or is not in use. */
  #untilMs = new Float64Array()
  /** By area, as the table numbers them. */
  #tallies: Tally[] = []

  constructor(table: SensorTable, entryAt: (row: number) => Entry) {
    this.#table = table
    this.#entryAt = entryAt
  }

  /** As if no sensor ever sent. */
  clear(): void {
    this.#counted.fill(0)
    this.#untilMs.fill(Number.NaN)
    this.#tallies = []
  }

  /** What a sensor sent, its status, its area, or whether it is in use may have changed. */
  changed(row: number, place: Place): void {
    if (row >= this.#counted.length) this.#grow(row + 1)
    const isInUse = this.#table.isInUse(row)
    const sentMs = newestMs(place)
    const heardMs = (isInUse ? lastHeardMs(place) : null) ?? Number.NaN
    const untilMs = heardMs + graceMsOf(this.#table.cadenceMsOf(row))
    const kind = isInUse
      ? (statusNow(place) << statusShift) |
        (sentMs === -Infinity ? 0 : hasSent) |
        (Number.isNaN(untilMs) ? 0 : wasFresh)
      : 0
    const area = this.#table.areaNumberOf(row)
    const tally = this.#tallyOf(area)
    const was = this.#counted[row]!
    const now = (area << kindBits) | kind
    if (now !== was) {
      const wasIn = this.#tallyOf(was >> kindBits)
      add(wasIn, was & kindMask, -1)
      add(tally, kind, 1)
      const isGone = wasIn !== tally || kind === 0
      if (isGone && (was & hasSent) !== 0 && sentMs === wasIn.newestMs) wasIn.newestMs = Number.NaN
    }
    if ((kind & hasSent) !== 0 && sentMs > tally.newestMs) tally.newestMs = sentMs
    this.#counted[row] = now
    this.#untilMs[row] = untilMs
  }

  isOnline = (row: number): boolean =>
    showsOnline(((this.#counted[row] ?? 0) & kindMask) >> statusShift)

  /** How many in use show as online. */
  online(): number {
    return this.#ofStatus(online) + this.#ofStatus(held)
  }

  /** How many in use have each status. */
  byStatus(): Readonly<Record<Status, number>> {
    const heard = {
      online: this.#ofStatus(online),
      held: this.#ofStatus(held),
      offline: this.#ofStatus(offline),
    }
    return { unheard: this.#table.inUse.size - sum(Object.values(heard)), ...heard }
  }

  /** Of each area that a sensor was ever at, by name. */
  all(nowMs: number): ReadonlyMap<string, Counts> {
    const silent = new Uint32Array(this.#table.areas.length)
    const untilMs = this.#untilMs
    // read once: a third less time
    const { length } = untilMs
    for (let row = 0; row < length; row++)
      if (untilMs[row]! < nowMs) silent[this.#counted[row]! >> kindBits]! += 1
    return new Map(
      this.#table.areas.map(({ name, rows }, area) => [
        name,
        this.#countsOf(area, rows.all(), silent[area]!),
      ]),
    )
  }

  /** Of one area: a look at the time of each sensor there. */
  of(name: string, nowMs: number): Counts {
    const rows = this.#table.inArea(name)
    let silent = 0
    for (const row of rows) if (this.#untilMs[row]! < nowMs) silent++
    return this.#countsOf(this.#table.areaNumber(name) ?? -1, rows, silent)
  }

  /** @param status any but `unheard`: one that never sent is not counted */
  #ofStatus = (status: number): number =>
    sum(this.#tallies.map(({ byStatus }) => byStatus[status]!))

  #countsOf(area: number, rows: Uint32Array, silent: number): Counts {
    const tally = this.#tallies[area] ?? nothing()
    const { byStatus, everSent, everFresh } = tally
    if (Number.isNaN(tally.newestMs)) {
      tally.newestMs = -Infinity
      for (const row of rows)
        tally.newestMs = Math.max(tally.newestMs, newestMs(this.#entryAt(row)))
    }
    return {
      total: rows.length,
      online: byStatus[online]! + byStatus[held]!,
      reporting: everFresh - silent,
      everSent,
      newestMs: tally.newestMs,
    }
  }

  #tallyOf(area: number): Tally {
    return (this.#tallies[area] ??= nothing())
  }

  #grow(rows: number): void {
    const room = Math.ceil(Math.max(rows, this.#table.rows.count()) * 1.2)
    const counted = new Uint32Array(room)
    counted.set(this.#counted)
    this.#counted = counted
    const untilMs = new Float64Array(room).fill(Number.NaN)
    untilMs.set(this.#untilMs)
    this.#untilMs = untilMs
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0)
