/** Names of places: GeoNames for the world, and what OpenStreetMap has of Nigeria besides. */

import { readFileSync } from 'node:fs'
import { parseCsv } from '../../core/csv.ts'
import type { Box } from '../../core/map-box.ts'
import { isIn, type MapFeature } from './shapes.ts'

export type Place = {
  readonly name: string
  readonly lon: number
  readonly lat: number
  /** `locality`: a town; `neighbourhood`: a part of one. */
  readonly kind: 'locality' | 'neighbourhood' | 'road'
  readonly minZoom: number
}

/** GeoNames has these at a wrong place, some 20 km off. */
const misplaced: ReadonlySet<string> = new Set(['12359322'])

/** @param file `cities500.txt`: all places of 500 people and more, and seats of districts */
export function geonamesIn(file: string, box: Box): readonly Place[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const parts = line.split('\t')
      const [id = '', name = '', , , lat = '', lon = ''] = parts
      const people = Number(parts[14] ?? 0)
      if (name === '' || misplaced.has(id) || !isIn(box, [Number(lon), Number(lat)])) return []
      const isTown = people >= 100_000
      const minZoom = people >= 1_000_000 ? 6 : isTown ? 8 : people >= 15_000 ? 10 : 11
      const kind = isTown ? 'locality' : 'neighbourhood'
      return [{ name, lon: Number(lon), lat: Number(lat), kind, minZoom } as const]
    })
}

/** @param file the gazetteer of PyPI `safesignal-geo`; only its rows under the ODbL */
export function gazetteerIn(file: string, box: Box): readonly Place[] {
  const [names = [], ...rows] = parseCsv(readFileSync(file, 'utf8'))
  return rows.flatMap((cells): Place[] => {
    const cell = (column: string): string => cells[names.indexOf(column)] ?? ''
    const at = { lon: Number(cell('lng')), lat: Number(cell('lat')) }
    const name = cell('canonical_name')
    if (!cell('license').startsWith('ODbL') || !isIn(box, [at.lon, at.lat])) return []
    // a name given to a junction of two roads, or a number, names no place
    if (name === '' || name.length > 40 || /[/\d]/.test(name)) return []
    const weight = Number(cell('popularity'))
    switch (cell('type')) {
      case 'settlement': {
        const minZoom = weight >= 150 ? 8 : weight >= 95 ? 10 : weight >= 50 ? 11 : 12
        return [{ name, ...at, kind: weight >= 130 ? 'locality' : 'neighbourhood', minZoom }]
      }
      case 'airport':
      case 'port':
        return [{ name, ...at, kind: 'neighbourhood', minZoom: 12 }]
      case 'road':
        return [{ name, ...at, kind: 'road', minZoom: 13 }]
      default:
        return []
    }
  })
}

/** The same name within some 4 km is the same place: the one that is shown first stays. */
export function distinct(places: readonly Place[]): readonly Place[] {
  const kept = new Map<string, Place[]>()
  for (const place of places.toSorted((a, b) => a.minZoom - b.minZoom)) {
    const name = place.name
      .normalize('NFD')
      .replaceAll(/\P{Letter}/gu, '')
      .toLowerCase()
    const same = kept.get(name) ?? []
    const isNear = ({ lon, lat }: Place): boolean =>
      Math.hypot(lon - place.lon, lat - place.lat) < 0.04
    if (!same.some(isNear)) kept.set(name, [...same, place])
  }
  return [...kept.values()].flat()
}

export const placeFeature = ({ name, lon, lat, kind, minZoom }: Place): MapFeature => ({
  type: 'Feature',
  properties: { name, kind, min_zoom: minZoom },
  geometry: { type: 'Point', coordinates: [lon, lat] },
})
