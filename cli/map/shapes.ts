/** What a map is made of, and cutting it to a box. */
import type { Box } from '../../core/map-box.ts'

export type Position = number[]
type Geometry =
  | { readonly type: 'Point'; readonly coordinates: Position }
  | { readonly type: 'LineString'; readonly coordinates: Position[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: Position[][] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: Position[][][] }

/** The layers that the pages draw, named as in the Protomaps basemap. */
export const layers = ['earth', 'water', 'roads', 'places'] as const
export type Layer = (typeof layers)[number]
export type MapFeature = {
  readonly type: 'Feature'
  readonly properties: Record<string, string | number>
  readonly geometry: Geometry
}
export type MapFeatures = { readonly [Name in Layer]: MapFeature[] }

export const noFeatures = (): MapFeatures => ({ earth: [], water: [], roads: [], places: [] })

export const isIn = ([west, south, east, north]: Box, [lon = 0, lat = 0]: Position): boolean =>
  lon >= west && lon <= east && lat >= south && lat <= north

/** The part of a ring inside the box (Sutherland and Hodgman); empty where none is. */
export function clipRing(ring: readonly Position[], box: Box): Position[] {
  const [west, south, east, north] = box
  const sides = [
    { axis: 0, at: west, sign: 1 },
    { axis: 0, at: east, sign: -1 },
    { axis: 1, at: south, sign: 1 },
    { axis: 1, at: north, sign: -1 },
  ] as const
  let points = [...ring]
  for (const { axis, at, sign } of sides) {
    const isInside = (point: Position): boolean => sign * ((point[axis] ?? 0) - at) >= 0
    const cut = ([ax = 0, ay = 0]: Position, [bx = 0, by = 0]: Position): Position => {
      const part = axis === 0 ? (at - ax) / (bx - ax) : (at - ay) / (by - ay)
      return [ax + part * (bx - ax), ay + part * (by - ay)]
    }
    points = points.flatMap((point, index) => {
      const before = points.at(index - 1) ?? point
      if (isInside(point) === isInside(before)) return isInside(point) ? [point] : []
      return isInside(point) ? [cut(before, point), point] : [cut(before, point)]
    })
  }
  const [first] = points
  return first === undefined ? [] : [...points, first]
}
