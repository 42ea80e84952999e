/** Features as vector tiles. */

import { GeoJSONVT } from '@maplibre/geojson-vt'
import { fromGeojsonVt } from '@maplibre/vt-pbf'
import type { Box } from '../../core/map-box.ts'
import { layers, type MapFeature, type MapFeatures } from './shapes.ts'
import type { Tile } from './tile-archive.ts'

type Options = {
  readonly box: Box
  readonly minZoom: number
  readonly maxZoom: number
  /** Called after each zoom. */
  readonly onZoom?: (zoom: number) => void
}

const extent = 4096

/** A feature is in the tiles from its `min_zoom` on. */
export function cutTiles(
  features: MapFeatures,
  { box, minZoom, maxZoom, onZoom }: Options,
): readonly Tile[] {
  const tiles: Tile[] = []
  for (let z = minZoom; z <= maxZoom; z++) {
    const indices = layers.flatMap((name) => {
      const shown = features[name].filter(({ properties }) => minZoomOf(properties) <= z)
      return shown.length === 0 ? [] : [[name, indexOf(shown, maxZoom)] as const]
    })
    for (const { x, y } of tilesOf(box, z)) {
      const found = indices.flatMap(([name, index]) => {
        const tile = index.getTile(z, x, y)
        return tile === null || tile.features.length === 0 ? [] : [[name, tile] as const]
      })
      if (found.length > 0)
        tiles.push({
          z,
          x,
          y,
          body: fromGeojsonVt(Object.fromEntries(found), { version: 2, extent }),
        })
    }
    onZoom?.(z)
  }
  return tiles
}

const minZoomOf = (properties: MapFeature['properties']): number =>
  Number(properties['min_zoom'] ?? 0)

const indexOf = (features: readonly MapFeature[], maxZoom: number): GeoJSONVT =>
  new GeoJSONVT(
    { type: 'FeatureCollection', features: [...features] },
    { maxZoom, indexMaxZoom: 4, extent, buffer: 64, tolerance: 3 },
  )

/** The numbers of the tiles that the box touches. */
function* tilesOf([west, south, east, north]: Box, z: number) {
  const count = 2 ** z
  const column = (lon: number): number => Math.floor(((lon + 180) / 360) * count)
  const row = (lat: number): number => {
    const angle = (lat * Math.PI) / 180
    return Math.floor(((1 - Math.asinh(Math.tan(angle)) / Math.PI) / 2) * count)
  }
  for (let x = column(west); x <= column(east); x++)
    for (let y = row(north); y <= row(south); y++) yield { x, y }
}
