/**
 * What the map draws of GeoJSON with OpenStreetMap's tags, as `osmium export` and Overpass write
 * it: waters, roads of three classes, names of places. The rest is left out.
 */
import type { Box } from '../../core/map-box.ts'
import { clipRing, isIn, type MapFeature, type MapFeatures } from './shapes.ts'

/** Of `highway`, worst traffic first; links belong to their road. */
const roadKinds: Readonly<Record<string, { readonly kind: string; readonly minZoom: number }>> = {
  motorway: { kind: 'highway', minZoom: 8 },
  trunk: { kind: 'highway', minZoom: 8 },
  primary: { kind: 'major_road', minZoom: 10 },
  secondary: { kind: 'major_road', minZoom: 11 },
  tertiary: { kind: 'minor_road', minZoom: 12 },
  residential: { kind: 'minor_road', minZoom: 13 },
  unclassified: { kind: 'minor_road', minZoom: 13 },
  living_street: { kind: 'minor_road', minZoom: 13 },
}

const placeZooms: Readonly<Record<string, number>> = {
  city: 6,
  town: 8,
  suburb: 11,
  village: 11,
  quarter: 12,
  neighbourhood: 12,
  hamlet: 13,
  island: 12,
}

type Tags = Readonly<Record<string, unknown>>

/** Adds it to its layer, if the map draws such a thing and some of it is in the box. */
export function addOsmFeature(feature: unknown, box: Box, into: MapFeatures): void {
  const { properties, geometry } = recordOf(feature)
  const tags = tagsOf(recordOf(properties))
  const { type, coordinates } = recordOf(geometry)
  const name = textOf(tags['name'])
  const kindOfPlace = textOf(tags['place'])
  const placeZoom = placeZooms[kindOfPlace]
  if (type === 'Point') {
    const at = positionOf(coordinates)
    if (at === undefined || name === '' || placeZoom === undefined || !isIn(box, at)) return
    const kind = placeZoom <= 8 ? 'locality' : 'neighbourhood'
    into.places.push(made({ type, coordinates: at }, { name, kind, min_zoom: placeZoom }))
    return
  }
  const road = roadKinds[textOf(tags['highway']).replace(/_link$/, '')]
  if (road !== undefined) {
    const lines = type === 'LineString' ? [linesOf(coordinates)] : []
    for (const line of lines)
      if (line.length > 1 && line.some((at) => isIn(box, at)))
        into.roads.push(
          made(
            { type: 'LineString', coordinates: line },
            { kind: road.kind, min_zoom: road.minZoom, ...(name === '' ? {} : { name }) },
          ),
        )
    return
  }
  const isWater = tags['natural'] === 'water' || tags['waterway'] === 'riverbank'
  if (!isWater) return
  const polygons = type === 'Polygon' ? [coordinates] : type === 'MultiPolygon' ? coordinates : []
  for (const polygon of Array.isArray(polygons) ? polygons : []) {
    const rings = (Array.isArray(polygon) ? polygon : [])
      .map((ring) => clipRing(linesOf(ring), box))
      .filter((ring) => ring.length > 3)
    if (rings.length > 0)
      into.water.push(made({ type: 'Polygon', coordinates: rings }, { kind: 'water', level: 2 }))
  }
}

const made = (
  geometry: MapFeature['geometry'],
  properties: MapFeature['properties'],
): MapFeature => ({ type: 'Feature', properties, geometry })

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  // its fields are read as unknown
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** Overpass writes them one level deeper. */
const tagsOf = (properties: Tags): Tags =>
  typeof properties['tags'] === 'object' ? recordOf(properties['tags']) : properties

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function positionOf(value: unknown): number[] | undefined {
  if (!Array.isArray(value)) return undefined
  const [lon, lat]: unknown[] = value
  const isPlace = typeof lon === 'number' && typeof lat === 'number'
  return isPlace && Number.isFinite(lon) && Number.isFinite(lat) ? [lon, lat] : undefined
}

const linesOf = (value: unknown): number[][] =>
  (Array.isArray(value) ? value : []).flatMap((item) => {
    const at = positionOf(item)
    return at === undefined ? [] : [at]
  })
