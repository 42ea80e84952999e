/**
 * The list of sensors and sites in the store, for those who query it: a copy of what is public
 * in the registry, kept by one process at a time. At its start it compares what the store lists with
 * the registry, so what changed while no process kept it is written too.
 */
import { createHash } from 'node:crypto'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import type { BucketView } from '../../runtime/nats/buckets/bucket-view.ts'
import {
  begunSites,
  type RegisteredSensor,
  siteAt,
} from '../../schemas/devices/registered-sensor.ts'
import type { SensorListing } from '../../store/sensor-listing.ts'
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
  readonly registry: BucketView<RegisteredSensor>
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
  const changed = new Set<string>()
  using following = new DisposableStack()
  following.defer(registry.onChange(({ key }) => changed.add(key)))
  const listed = new Map(await store.listedSensors())
  /** When the next site of a sensor begins, which is not listed before. */
  const begins = new Map<SensorId, number>()
  for (const [id] of registry.entries()) changed.add(id)
  for (const id of listed.keys()) changed.add(id)

  const write = async (keys: readonly string[]): Promise<void> => {
    const now = nowMs()
    const listings: SensorListing[] = []
    const former: SensorId[] = []
    for (const key of keys) {
      const sensor = registry.get(key)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is listed has such an id
      const id = sensor?.id ?? (key as SensorId)
      const next = sensor?.sites.find(({ fromMs }, at) => at > 0 && fromMs > now)
      if (next === undefined) begins.delete(id)
      else begins.set(id, next.fromMs)
      const listing = sensor && listingOf(sensor, now)
      const before = listed.get(id)
      if (before === listing?.about.revision) continue
      if (before !== undefined) former.push(id)
      if (listing !== undefined) listings.push(listing)
    }
    if (listings.length === 0 && former.length === 0) return
    await store.writeListings(listings, former)
    for (const id of former) listed.delete(id)
    for (const { sensor, about } of listings) listed.set(sensor, String(about.revision))
  }

  while (!stop.aborted) {
    for (const [id, fromMs] of begins) if (fromMs <= nowMs()) changed.add(id)
    for (const keys of inChunks([...changed])) {
      if (stop.aborted) return
      // before the write: what changes during it is written again
      for (const key of keys) changed.delete(key)
      await write(keys)
    }
    await pause(lookEveryMs)
  }
}

function inChunks(keys: readonly string[]): readonly (readonly string[])[] {
  const chunks: string[][] = []
  for (let at = 0; at < keys.length; at += sensorsAtOnce)
    chunks.push(keys.slice(at, at + sensorsAtOnce))
  return chunks
}
