/**
 * The list of sensors and sites in the store, for those who query it: a copy of what is public
 * in the registry, kept by one process at a time. At its start it compares what the store lists with
 * the registry, so what changed while no process kept it is written too.
 */
import { createHash } from 'node:crypto'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import type { EntryRows, RowView } from '../../runtime/nats/buckets/bucket-view.ts'
import {
  begunSites,
  type RegisteredSensor,
  siteAt,
} from '../../schemas/devices/registered-sensor.ts'
import type { ListedSensors, SensorListing } from '../../store/sensor-listing.ts'
import type { Store } from '../../store/store.ts'

/** Nothing else of an entry gets into the store: not its device, keys or bounds. */
export function listingOf(sensor: RegisteredSensor, nowMs: number): SensorListing {
  const { about = {}, retiredMs } = sensor
  const { area, lat, lon } = siteAt(sensor, nowMs)
  const known = {
    area,
    lat,
    lon,
    make: about.make ?? null,
    model: about.model ?? null,
    indoor: about.indoor ?? null,
    height_m: about.height_m ?? null,
    licence: about.licence ?? null,
    owner: about.owner ?? null,
    expected_interval_seconds: sensor.cadenceMs / secondMs,
    commissioned_at: formatIsoMs(sensor.sites[0].fromMs),
    retired_at: retiredMs === undefined ? null : formatIsoMs(retiredMs),
  }
  const sites = begunSites(sensor, nowMs).map(({ fromMs, untilMs, ...place }, at) => ({
    site: at + 1,
    ...place,
    site_from: formatIsoMs(fromMs),
    site_from_ms: fromMs,
    site_until: untilMs === undefined ? null : formatIsoMs(untilMs),
    site_until_ms: untilMs ?? null,
  }))
  const text = JSON.stringify([known, sites])
  const revision = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { sensor: sensor.id, about: { ...known, revision }, sites }
}

type ListStore = Pick<Store, 'listedSensors' | 'writeListings'>
type Options = {
  /** Retired sensors too. */
  readonly registry: Pick<RowView<RegisteredSensor>, 'rows' | 'onChange'>
  readonly store: ListStore
  readonly nowMs: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly onFailure: (error: unknown) => void
}

const lookEveryMs = 1_000
const retryMs = 5_000
/** Of one call of the store. */
const sensorsAtOnce = 500

/** Runs until `stop`; every failure is tried again. */
export async function keepSensorList(options: Options, stop: AbortSignal): Promise<void> {
  const { pause, onFailure } = options
  while (!stop.aborted) {
    try {
      await follow(options, stop)
    } catch (error) {
      if (!stop.aborted) onFailure(error)
      await pause(retryMs)
    }
  }
}

async function follow(
  { registry, store, nowMs, pause }: Options,
  stop: AbortSignal,
): Promise<void> {
  const { rows } = registry
  const changed = new Set<number>()
  using following = new DisposableStack()
  following.defer(registry.onChange(({ key }) => changed.add(rows.find(key))))
  const { listed, strangers } = columnOf(rows, await store.listedSensors())
  /** When the next site of a sensor begins, which is not listed before. */
  const begins = new Map<number, number>()

  const write = async (some: readonly number[]): Promise<void> => {
    const now = nowMs()
    const listings: SensorListing[] = []
    const former: SensorId[] = []
    const revisions = new Map<number, bigint>()
    for (const row of some) {
      const sensor = rows.make(row)
      const next = sensor?.sites.find(({ fromMs }, at) => at > 0 && fromMs > now)
      if (next === undefined) begins.delete(row)
      else begins.set(row, next.fromMs)
      const listing = sensor && listingOf(sensor, now)
      const before = listed.get(row)
      const revision = listing === undefined ? notListed : numberOf(listing.about.revision)
      if (before === revision) continue
      revisions.set(row, revision)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is listed has such an id
      if (before !== notListed) former.push(rows.keyOf(row) as SensorId)
      if (listing !== undefined) listings.push(listing)
    }
    if (revisions.size === 0) return
    await store.writeListings(listings, former)
    for (const [row, revision] of revisions) listed.set(row, revision)
  }

  for (const some of inChunks(strangers)) await store.writeListings([], some)
  for (let first = 0; first < rows.count() && !stop.aborted; first += sensorsAtOnce) {
    const until = Math.min(first + sensorsAtOnce, rows.count())
    await write(Array.from({ length: until - first }, (_, at) => first + at))
  }
  while (!stop.aborted) {
    for (const [row, fromMs] of begins) if (fromMs <= nowMs()) changed.add(row)
    for (const some of inChunks([...changed])) {
      if (stop.aborted) return
      // before the write: what changes during it is written again
      for (const row of some) changed.delete(row)
      await write(some)
    }
    await pause(lookEveryMs)
  }
}

const notListed = 0n
/** Of a listing, which has 16 hexadecimal digits; another one is none that we write now. */
const numberOf = (revision: unknown): bigint =>
  /^[0-9a-f]{16}$/.test(String(revision)) ? BigInt(`0x${String(revision)}`) : 1n

/** The revisions of the listings that the store has, by row, and the sensors without one. */
function columnOf(rows: Pick<EntryRows<unknown>, 'find' | 'count'>, inStore: ListedSensors) {
  let column = new BigUint64Array(rows.count())
  const set = (row: number, revision: bigint): void => {
    if (row >= column.length) {
      const grown = new BigUint64Array(Math.ceil((row + 1) * 1.2))
      grown.set(column)
      column = grown
    }
    column[row] = revision
  }
  const strangers: SensorId[] = []
  for (const [id, revision] of inStore) {
    const row = rows.find(id)
    if (row === -1) strangers.push(id)
    else set(row, numberOf(revision))
  }
  return { listed: { get: (row: number) => column[row] ?? notListed, set }, strangers }
}

function* inChunks<T>(all: readonly T[]): IterableIterator<readonly T[]> {
  for (let at = 0; at < all.length; at += sensorsAtOnce) yield all.slice(at, at + sensorsAtOnce)
}
