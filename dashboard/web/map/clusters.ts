/** Which sensors are one mark at which zoom. */
import Supercluster from 'supercluster'
import type { Box } from '../../../core/map-box.ts'

export type MapSensor = {
  readonly id: string
  readonly lat: number
  readonly lon: number
}

/** One sensor, or several. */
export type Item<T> =
  | { readonly kind: 'one'; readonly sensor: T; readonly lat: number; readonly lon: number }
  | {
      readonly kind: 'many'
      readonly cluster: number
      readonly count: number
      /** As they are now. */
      readonly sensors: () => readonly T[]
      readonly has: (id: string) => boolean
      readonly lat: number
      readonly lon: number
    }

/** Places of sensors, joined in pairs: the library asks for one such sum per cluster and zoom. */
type Members = number | readonly [Members, Members]
type Counted = { readonly members: Members }

const options = {
  /** Marks nearer than `radius` pixels, of a tile of `extent`, would cover each other. */
  radius: 36,
  extent: 256,
  maxZoom: 15,
  map: ({ members }: Counted): Counted => ({ members }),
  // its own way to name a cluster's sensors takes 100 ms of 100,000, for each zoom
  reduce: (sum: { members: Members }, { members }: Counted): void => {
    sum.members = [sum.members, members]
  },
}

export type Clusters<T> = {
  /** All sensors. Where none came, went or moved, nothing is computed. */
  readonly load: (sensors: readonly T[]) => void
  /** News of some of them; those that were not loaded are left out. */
  readonly change: (changed: readonly T[]) => void
  readonly itemsIn: (box: Box, zoom: number) => readonly Item<T>[]
  /** The zoom at which it falls into parts. */
  readonly zoomOf: (cluster: number) => number
}

export function openClusters<T extends MapSensor>(): Clusters<T> {
  let index = new Supercluster<Counted, Counted>(options).load([])
  let sensors: readonly T[] = []
  let places = new Map<string, number>()
  let known = new Map<number, readonly number[]>()
  const membersOf = (cluster: number, members: Members): readonly number[] => {
    const flat = known.get(cluster) ?? flattened(members)
    known.set(cluster, flat)
    return flat
  }
  const load = (all: readonly T[]): void => {
    const isSame = all.length === sensors.length && all.every((one, at) => isAt(sensors[at], one))
    sensors = all
    if (isSame) return
    known = new Map()
    places = new Map(all.map(({ id }, at) => [id, at]))
    index = new Supercluster<Counted, Counted>(options).load(
      all.map(({ lon, lat }, at) => ({
        type: 'Feature',
        properties: { members: at },
        geometry: { type: 'Point', coordinates: [lon, lat] },
      })),
    )
  }
  return {
    load,
    change: (changed) => {
      const all = [...sensors]
      for (const sensor of changed) {
        const at = places.get(sensor.id)
        if (at !== undefined) all[at] = sensor
      }
      load(all)
    },
    itemsIn: (box, zoom) =>
      index
        .getClusters([...box], Math.floor(zoom))
        .flatMap(({ geometry, properties }): Item<T>[] => {
          const [lon = 0, lat = 0] = geometry.coordinates
          if ('cluster_id' in properties) {
            const { cluster_id: cluster, point_count: count, members } = properties
            const all = (): readonly number[] => membersOf(cluster, members)
            return [
              {
                kind: 'many',
                cluster,
                count,
                sensors: () => all().map((at) => sensors[at]!),
                has: (id) => all().includes(places.get(id) ?? -1),
                lat,
                lon,
              },
            ]
          }
          const sensor = sensors[Number(properties.members)]
          return sensor === undefined ? [] : [{ kind: 'one', sensor, lat, lon }]
        }),
    zoomOf: (cluster) => index.getClusterExpansionZoom(cluster),
  }
}

const isAt = (was: MapSensor | undefined, now: MapSensor): boolean =>
  was?.id === now.id && was.lat === now.lat && was.lon === now.lon

function flattened(members: Members): readonly number[] {
  const flat: number[] = []
  const waiting = [members]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    if (typeof next === 'number') flat.push(next)
    else waiting.push(...next)
  return flat
}
