/**
 * The ground of the map: one PMTiles file, of which the browser fetches the parts it shows by
 * ranges. It is the operator's (`airproof map build`), or the one of Lagos that we ship, if
 * the network may be there.
 */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from 'koa'
import { PMTiles, TileType } from 'pmtiles'
import { type Box, overlap } from '../../core/map-box.ts'
import { MustAct } from '../../runtime/exit.ts'
import { byteRange } from '../../runtime/http/byte-range.ts'
import type { MapSettings } from '../config.ts'
import { Refusal } from './refusal.ts'
import type { DashboardRoute } from './route.ts'

/** What the pages need to draw it, in `/config.json`. */
export type MapConfig = {
  /** PMTiles; or `{z}/{x}/{y}` of vector tiles or, with `isPicture`, of pictures. */
  readonly url: string
  readonly isPicture: boolean
  /** West, south, east, north; nothing is fetched outside of it. */
  readonly box?: Box
  readonly maxZoom: number
  /** HTML as the file has it, of which pages show text and https links; or the operator's text. */
  readonly attribution: string
}

/** The ground that we ship. */
const shippedBox: Box = [2.7, 6.2, 4.4, 7]
/** What the map shows where nothing says where the network is. */
const lagos: Box = [3, 6.3, 3.9, 6.8]
const shipped = fileURLToPath(new URL('../map/lagos.pmtiles', import.meta.url))
const path = '/map/city.pmtiles'
/** What others may have at most, where their tiles do not say. */
const usualMaxZoom = 15

export type CityMap = {
  readonly config: MapConfig | undefined
  /** What pages show until there are sensors. */
  readonly box: Box
  readonly routes: readonly DashboardRoute[]
}

/**
 * @param box where the network is; undefined: not said
 * @throws MustAct where the file is not one that pages can draw
 */
export async function openCityMap(
  settings: MapSettings,
  networkBox: Box | undefined,
  dataFolder: string,
): Promise<CityMap> {
  const { tiles, file: named, attribution } = settings
  if (tiles !== undefined) {
    const isPicture = !/\.(?:pmtiles|mvt|pbf)$/.test(new URL(tiles).pathname)
    const maxZoom = isPicture ? 19 : usualMaxZoom
    return {
      config: { url: tiles, isPicture, maxZoom, attribution: attribution ?? '' },
      box: networkBox ?? lagos,
      routes: [],
    }
  }
  const noGround = { config: undefined, box: networkBox ?? lagos, routes: [] }
  if (named === 'none') return noGround
  const own = join(dataFolder, 'map.pmtiles')
  const file = named ?? (existsSync(own) ? own : shipped)
  // another city has no ground until it has a file of its own
  const isElsewhere = networkBox !== undefined && !overlap(networkBox, shippedBox)
  if (file === shipped && isElsewhere) return noGround
  const { size, mtimeMs } = await stat(file).catch((cause: unknown) => {
    throw new MustAct(`AIRPROOF_MAP: ${file} cannot be read`, { cause })
  })
  const version = createHash('sha256').update(`${size} ${mtimeMs}`).digest('base64url').slice(0, 12)
  const { box, maxZoom, credit } = await headOf(file)
  return {
    config: {
      url: `${path}?v=${version}`,
      isPicture: false,
      box,
      maxZoom,
      attribution: attribution ?? credit,
    },
    box: networkBox ?? (file === shipped ? lagos : box),
    routes: [serve(file, { size, tag: `"${version}"` })],
  }
}

async function headOf(file: string) {
  await using handle = await open(file)
  const archive = new PMTiles({
    getKey: () => file,
    getBytes: async (offset, length) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset)
      return { data: new Uint8Array(buffer.subarray(0, bytesRead)).buffer }
    },
  })
  try {
    const { tileType, minLon, minLat, maxLon, maxLat, maxZoom } = await archive.getHeader()
    if (tileType !== TileType.Mvt) throw new Error('its tiles are pictures')
    const about: unknown = await archive.getMetadata()
    const has = typeof about === 'object' && about !== null && 'attribution' in about
    const credit = has && typeof about.attribution === 'string' ? about.attribution : ''
    return { box: [minLon, minLat, maxLon, maxLat] as const, maxZoom, credit }
  } catch (cause) {
    throw new MustAct(
      `${file} is not a PMTiles file (version 3) with vector tiles: make it with airproof map build`,
      { cause },
    )
  }
}

type File = { readonly size: number; readonly tag: string }

const serve = (file: string, { size, tag }: File): DashboardRoute => ({
  method: 'GET',
  path,
  needs: 'none',
  handle: (ctx) => {
    ctx.set({ etag: tag, 'accept-ranges': 'bytes', 'cache-control': 'public, max-age=86400' })
    ctx.type = 'application/vnd.pmtiles'
    if (ctx.get('if-none-match') === tag) {
      ctx.status = 304
      return
    }
    const isSame = ctx.get('if-range') === '' || ctx.get('if-range') === tag
    const range = byteRange(isSame ? ctx.get('range') : undefined, size)
    if (range === 'outside')
      throw new Refusal(416, 'outside', `the file has ${size} bytes`, {
        headers: { 'content-range': `bytes */${size}` },
      })
    send(ctx, file, range === 'whole' ? { start: 0, end: size - 1 } : range)
    if (range === 'whole') return
    ctx.status = 206
    ctx.set('content-range', `bytes ${range.start}-${range.end}/${size}`)
  },
})

function send(ctx: Context, file: string, range: { start: number; end: number }): void {
  ctx.status = 200
  ctx.body = createReadStream(file, range)
  // after the body, which would remove it
  ctx.length = range.end - range.start + 1
}
