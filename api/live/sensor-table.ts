/**
 * The registry as columns, by the rows of its bucket: what lists, filters and sums of all sensors need. The
 * rest is made of a sensor's entry when it is asked for. Some 70 bytes per sensor, its places in lists
 * and indexes included.
 */
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import { secondMs } from '../../core/time.ts'
import type { EntryRows } from '../../runtime/nats/buckets/bucket-view.ts'
import {
  type RegisteredSensor,
  type RegisteredSite,
  siteAt,
} from '../../schemas/devices/registered-sensor.ts'
import { AreaClaims } from './area-claims.ts'
import type { Outline } from './area-directory.ts'
import { NumberIndex, numberIn } from './number-index.ts'
import type { Box, Site } from './region.ts'
import { SiteIndex } from './site-index.ts'
import { SortedRows } from './sorted-rows.ts'

const known = 1
const inUse = 2
/** Of those asked for last the sensors are kept, 4 bytes each. */
const mostPlaces = 32

/** Where a sensor has been, and since when. */
export type Stays = Pick<RegisteredSensor, 'id' | 'cadenceMs' | 'retiredMs'> & {
  readonly about?: RegisteredSensor['about']
  readonly sites: readonly [Stay, ...Stay[]]
}
type Stay = Pick<RegisteredSite, 'fromMs' | 'area'>

const columnsFor = (rows: number) => ({
  lat: new Float64Array(rows),
  lon: new Float64Array(rows),
  /** When its first site began. */
  firstMs: new Float64Array(rows),
  cadenceSeconds: new Uint32Array(rows),
  area: new Uint32Array(rows),
  partition: new Uint8Array(rows),
  flags: new Uint8Array(rows),
})

export class SensorTable {
  readonly rows: EntryRows<RegisteredSensor>
  /** Sensors in use, by id. */
  readonly inUse: SortedRows
  readonly claims = new AreaClaims()
  readonly nowMs: () => number
  #columns = columnsFor(0)
  readonly #sites: SiteIndex
  readonly #numbers = new NumberIndex()
  /** Every area that a sensor was at, and the sensors in use that are there. */
  readonly areas: { readonly name: string; readonly rows: SortedRows }[] = []
  readonly #areaNumbers = new Map<string, number>()
  readonly #found = new BoundedMap<string, Uint32Array>(mostPlaces)
  /** Known sensors that were at more than one site, or are retired. */
  readonly #odd = new Set<number>()
  /** Sensors with a site that is still to come: when it begins, ms. */
  readonly #moves = new Map<number, number>()
  /** Of each row, the place of its id in `inUse`. */
  #ranks = new Uint32Array()
  #ranksVersion = -1

  constructor(rows: EntryRows<RegisteredSensor>, nowMs: () => number) {
    this.rows = rows
    this.nowMs = nowMs
    this.inUse = new SortedRows(rows.compareKeys, this.isInUse)
    this.#sites = new SiteIndex(this)
  }

  isKnown = (row: number): boolean => ((this.#columns.flags[row] ?? 0) & known) !== 0
  isInUse = (row: number): boolean => ((this.#columns.flags[row] ?? 0) & inUse) !== 0
  isIn = (row: number, area: string): boolean => this.#columns.area[row] === this.areaNumber(area)
  latOf = (row: number): number => this.#columns.lat[row] ?? Number.NaN
  lonOf = (row: number): number => this.#columns.lon[row] ?? Number.NaN
  /** The area's place in `areas`; undefined: no sensor was ever there. */
  areaNumber = (name: string): number | undefined => this.#areaNumbers.get(name)
  /** The same of the area where a sensor is. */
  areaNumberOf = (row: number): number => this.#columns.area[row] ?? 0
  areaOf = (row: number): string => this.areas[this.areaNumberOf(row)]?.name ?? ''
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of known sensors are ids
  idOf = (row: number): SensorId => this.rows.keyOf(row) as SensorId
  partitionOf = (row: number): number => this.#columns.partition[row] ?? 0
  cadenceMsOf = (row: number): number => (this.#columns.cadenceSeconds[row] ?? 0) * secondMs
  firstMsOf = (row: number): number => this.#columns.firstMs[row] ?? 0

  /** The row of a known sensor, or -1. */
  find(id: string): number {
    const row = this.rows.find(id)
    return this.isKnown(row) ? row : -1
  }

  /**
   * @param sensor undefined: there is none
   * @param before what was put before; undefined: nothing was
   */
  put(row: number, sensor: RegisteredSensor | undefined, before?: RegisteredSensor): void {
    if (row >= this.#columns.flags.length) this.#grow(row + 1)
    // in this order a code that both have is never forgotten in between
    if (sensor !== undefined) this.claims.add(sensor)
    if (before !== undefined) this.claims.remove(before)
    // no sensor has a cadence of 0, so the row was never filled
    if (sensor !== undefined && this.cadenceMsOf(row) === 0) this.#numbers.add(row, sensor.id)
    this.#place(row, sensor)
  }

  /** Moves the sensors whose next site has begun. @returns them */
  moveToNow(): readonly number[] {
    const nowMs = this.nowMs()
    const moved = [...this.#moves].filter(([, fromMs]) => fromMs <= nowMs).map(([row]) => row)
    for (const row of moved) this.#place(row, this.rows.make(row))
    return moved
  }

  /** Sensors in use that are in an area now, by id. */
  inArea(name: string): Uint32Array {
    return this.areas[this.areaNumber(name) ?? -1]?.rows.all() ?? new Uint32Array()
  }

  /** Sensors in use that may be in a box: all that are, and few others. */
  near = (box: Box): readonly number[] => this.#sites.near(box)

  /** @param rows in use @returns the same, by id */
  inOrder(rows: readonly number[]): Uint32Array {
    const ranks = this.#ranksNow()
    const all = this.inUse.all()
    const places = Uint32Array.from(rows, (row) => ranks[row] ?? 0)
    return places.sort().map((place) => all[place] ?? 0)
  }

  /** Those of a place that was asked for before, as long as no sensor came, moved or went. */
  found(place: unknown, find: () => Uint32Array): Uint32Array {
    const key = JSON.stringify(place)
    const known = this.#found.get(key)
    if (known !== undefined) return known
    const rows = find()
    this.#found.set(key, rows)
    return rows
  }

  /** Known sensors with this number, in no order. */
  withNumber(number: string): readonly number[] {
    return [...this.#numbers.near(number)].filter(
      (row) => this.isKnown(row) && numberIn(this.rows.keyOf(row)) === number,
    )
  }

  /** All known sensors, retired ones too; in no order. @param area only those that were ever there */
  *stays(area?: string): IterableIterator<Stays> {
    for (const row of area === undefined ? this.inUse.all() : this.inArea(area)) {
      if (!this.#odd.has(row)) yield new OnlyStay(this, row)
    }
    for (const row of this.#odd) {
      const sensor = this.rows.make(row)
      if (sensor === undefined) continue
      if (area === undefined || sensor.sites.some((site) => site.area === area)) yield sensor
    }
  }

  outline(): Outline {
    return { claims: this.claims.counts, region: this.region() }
  }

  /** Around all sites that sensors ever had; undefined: there are none. */
  region(): Box | undefined {
    return this.claims.region(() => this.#allSites())
  }

  *#allSites(): IterableIterator<readonly Site[]> {
    for (const row of this.ever())
      if (this.#odd.has(row)) yield this.rows.make(row)?.sites ?? []
      else yield [{ lat: this.latOf(row), lon: this.lonOf(row) }]
  }

  /** All known sensors, retired ones too. */
  *ever(): IterableIterator<number> {
    for (let row = 0; row < this.#columns.flags.length; row++) if (this.isKnown(row)) yield row
  }

  #place(row: number, sensor: RegisteredSensor | undefined): void {
    const columns = this.#columns
    const nowMs = this.nowMs()
    const wasAt = this.isInUse(row) ? (columns.area[row] ?? 0) : -1
    const wasLat = columns.lat[row]
    const wasLon = columns.lon[row]
    let isAt = -1
    this.#moves.delete(row)
    this.#odd.delete(row)
    columns.flags[row] = 0
    if (sensor !== undefined) {
      const { lat, lon, area } = siteAt(sensor, nowMs)
      const next = sensor.sites.find(({ fromMs }, at) => at > 0 && fromMs > nowMs)
      if (next !== undefined) this.#moves.set(row, next.fromMs)
      const isPlain = sensor.retiredMs === undefined && sensor.sites.length === 1
      if (!isPlain) this.#odd.add(row)
      columns.lat[row] = lat
      columns.lon[row] = lon
      columns.firstMs[row] = sensor.sites[0].fromMs
      columns.cadenceSeconds[row] = sensor.cadenceMs / secondMs
      columns.area[row] = this.#numberFor(area)
      columns.partition[row] = partitionOf(sensor.id)
      columns.flags[row] = known | (sensor.retiredMs === undefined ? inUse : 0)
      if (sensor.retiredMs === undefined) isAt = columns.area[row] ?? 0
    }
    if ((wasAt === -1) !== (isAt === -1)) this.inUse.changed(row)
    if (wasAt !== isAt) for (const area of [wasAt, isAt]) this.areas[area]?.rows.changed(row)
    const isMoved = wasLat !== columns.lat[row] || wasLon !== columns.lon[row]
    if (isMoved || (wasAt === -1) !== (isAt === -1)) this.#sites.changed(row)
    // at a start there is nothing, and a million sensors come
    if ((isMoved || wasAt !== isAt) && this.#found.size > 0) this.#found.clear()
  }

  #numberFor(name: string): number {
    const number = this.areaNumber(name)
    if (number !== undefined) return number
    const next = this.areas.length
    const isThere = (row: number): boolean => this.isInUse(row) && this.#columns.area[row] === next
    this.#areaNumbers.set(name, next)
    return this.areas.push({ name, rows: new SortedRows(this.rows.compareKeys, isThere) }) - 1
  }

  #ranksNow(): Uint32Array {
    const all = this.inUse.all()
    if (this.#ranksVersion === this.inUse.version) return this.#ranks
    if (this.#ranks.length < this.#columns.flags.length)
      this.#ranks = new Uint32Array(this.#columns.flags.length)
    for (let place = 0; place < all.length; place++) this.#ranks[all[place] ?? 0] = place
    this.#ranksVersion = this.inUse.version
    return this.#ranks
  }

  #grow(rows: number): void {
    const grown = columnsFor(Math.ceil(Math.max(rows, this.rows.count()) * 1.2))
    const { lat, lon, firstMs, cadenceSeconds, area, partition, flags } = this.#columns
    grown.lat.set(lat)
    grown.lon.set(lon)
    grown.firstMs.set(firstMs)
    grown.cadenceSeconds.set(cadenceSeconds)
    grown.area.set(area)
    grown.partition.set(partition)
    grown.flags.set(flags)
    this.#columns = grown
  }
}

/** Of a sensor that was only ever at one site. */
class OnlyStay implements Stays {
  readonly #table: SensorTable
  readonly #row: number
  readonly cadenceMs: number
  readonly sites: readonly [Stay]

  constructor(table: SensorTable, row: number) {
    this.#table = table
    this.#row = row
    this.cadenceMs = table.cadenceMsOf(row)
    this.sites = [{ fromMs: table.firstMsOf(row), area: table.areaOf(row) }]
  }

  get id(): SensorId {
    return this.#table.idOf(this.#row)
  }

  get about(): RegisteredSensor['about'] {
    return this.#table.rows.make(this.#row)?.about
  }
}
