/** The registry with what is known of each sensor, as an operator sees it. */
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionOf, type SensorIdRules } from '../../../core/air/sensor-id.ts'
import { formatIso } from '../../../core/iso-time.ts'
import { findSlot, newestOf, type PartitionState } from '../../../core/state/partition-state.ts'
import { type Status, statusOf } from '../../../core/state/presence.ts'
import { secondMs } from '../../../core/time.ts'
import type { WatchedBucket } from '../../../runtime/nats/buckets/watched-bucket.ts'
import { seedStates } from '../../../runtime/nats/seed-states.ts'
import type { AboutName, SensorEntry } from '../../../schemas/devices/sensor.ts'

export type SensorRow = {
  readonly id: string
  readonly area: string
  readonly address: string
  readonly lat: number
  readonly lon: number
  readonly cadence_seconds: number
  /** `held`: silent, but not reported offline while many others are silent. */
  readonly state: Status
  readonly last_reading: string | null
  readonly aqi: number | null
}

type Filter = {
  /** Part of an id, an area or an address, in any case. */
  readonly search: string
  readonly state: Status | undefined
  /** The last id of the previous page. */
  readonly after: string
  readonly limit: number
}

export type SensorPage = {
  readonly total: number
  readonly next: string | null
  readonly sensors: readonly SensorRow[]
}

export type SensorList = {
  /** By id. Their newest readings are as of the partitions' snapshots, some seconds ago. */
  readonly list: (filter: Filter) => Promise<SensorPage>
  /** undefined: there is no such sensor. */
  readonly find: (
    id: string,
  ) => Promise<(SensorRow & Pick<SensorEntry, 'sites' | 'receipts' | AboutName>) | undefined>
}

/** Snapshots that are older are read again. */
const statesKeptMs = 3 * secondMs

type Options = {
  readonly nc: NatsConnection
  /** Retired ones too, which are not listed. */
  readonly bucket: WatchedBucket<SensorEntry>
  readonly rules: SensorIdRules
  readonly clockMs: () => number
}

export function sensorList({ nc, bucket, rules, clockMs }: Options): SensorList {
  let looked: { readonly atMs: number; readonly states: Promise<readonly PartitionState[]> }
  looked = { atMs: -Infinity, states: Promise.resolve([]) }
  const statesNow = (): Promise<readonly PartitionState[]> => {
    if (clockMs() - looked.atMs > statesKeptMs) {
      const states = seedStates(nc, 0).then((seed) => seed.states)
      looked = { atMs: clockMs(), states }
      states.catch(() => (looked = { atMs: -Infinity, states: Promise.resolve([]) }))
    }
    return looked.states
  }
  const rowOf = (entry: SensorEntry, states: readonly PartitionState[]): SensorRow => {
    const id = rules.parse(entry.id)
    const state = id === undefined ? undefined : states[partitionOf(id)]
    const slot = state === undefined || id === undefined ? -1 : findSlot(state, id)
    const newest = state === undefined || slot === -1 ? undefined : newestOf(state, slot)
    const status = state === undefined || slot === -1 ? 'unheard' : statusOf(state, slot)
    const site = entry.sites.at(-1)
    return {
      id: entry.id,
      area: site?.area ?? '',
      address: site?.address ?? '',
      lat: site?.lat ?? 0,
      lon: site?.lon ?? 0,
      cadence_seconds: entry.cadence_seconds,
      // of an archive, or of a device that sent only old readings: it has data
      state: status === 'unheard' && newest !== undefined ? 'offline' : status,
      last_reading: newest === undefined ? null : formatIso(newest.timeMs),
      aqi: newest?.aqi ?? null,
    }
  }
  return {
    list: async ({ search, state, after, limit }) => {
      const [states] = await Promise.all([statesNow(), bucket.barrier()])
      const words = search.toLowerCase()
      const fits = (row: SensorRow): boolean =>
        (state === undefined || row.state === state) &&
        [row.id, row.area, row.address].some((text) => text.toLowerCase().includes(words))
      const matches = [...bucket.entries()]
        .filter(([, { retired_at: at }]) => at === undefined)
        .map(([, entry]) => rowOf(entry, states))
        .filter(fits)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      const rest = matches.filter(({ id }) => id > after)
      const sensors = rest.slice(0, limit)
      const next = rest.length > limit ? (sensors.at(-1)?.id ?? null) : null
      return { total: matches.length, next, sensors }
    },
    find: async (id) => {
      const [states] = await Promise.all([statesNow(), bucket.barrier()])
      const entry = bucket.get(id)
      if (entry === undefined || entry.retired_at !== undefined) return undefined
      const { sites, receipts, make, model, indoor, height_m, licence, owner } = entry
      const about = { receipts, make, model, indoor, height_m, licence, owner }
      return { ...rowOf(entry, states), sites, ...definedOf(about) }
    },
  }
}

const definedOf = <T extends object>(fields: T): Partial<T> =>
  // only fields are left out
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<T>
