/** A PMTiles file that the operator already has, for example an extract of the Protomaps basemap. */

import { open, stat } from 'node:fs/promises'
import { PMTiles, type RangeResponse, type Source, TileType } from 'pmtiles'
import type { Box } from '../../core/map-box.ts'
import { codeOf, MustAct, WrongUsage } from '../../runtime/exit.ts'

export type GivenArchive = {
  readonly box: Box
  readonly zooms: readonly [number, number]
  readonly bytes: number
  /** '' if the file names none. */
  readonly attribution: string
}

/** Checks that the pages can draw it. @throws WrongUsage, MustAct */
export async function checkArchive(file: string): Promise<GivenArchive> {
  const found = await stat(file).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT')
      throw new WrongUsage(`--from: there is no file ${file}`, { cause })
    throw cause
  })
  await using handle = await open(file)
  const source: Source = {
    getKey: () => file,
    getBytes: async (offset, length): Promise<RangeResponse> => {
      const bytes = Buffer.alloc(Math.min(length, Math.max(0, found.size - offset)))
      await handle.read(bytes, 0, bytes.length, offset)
      return { data: new Uint8Array(bytes).buffer }
    },
  }
  const archive = new PMTiles(source)
  const header = await archive.getHeader().catch((cause: unknown) => {
    throw new MustAct(`${file} is not a PMTiles file of version 3, or is damaged`, { cause })
  })
  if (header.tileType !== TileType.Mvt)
    throw new MustAct(`${file} holds pictures: the pages draw vector tiles (MVT) only`)
  const metadata: unknown = await archive.getMetadata()
  return {
    box: [header.minLon, header.minLat, header.maxLon, header.maxLat],
    zooms: [header.minZoom, header.maxZoom],
    bytes: found.size,
    attribution: attributionOf(metadata),
  }
}

const attributionOf = (metadata: unknown): string =>
  typeof metadata === 'object' &&
  metadata !== null &&
  'attribution' in metadata &&
  typeof metadata.attribution === 'string'
    ? metadata.attribution
    : ''
