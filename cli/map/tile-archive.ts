/** Writes a PMTiles file, version 3 (its specification is public domain), with vector tiles in it. */

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { zxyToTileId } from 'pmtiles'
import type { Box } from '../../core/map-box.ts'

export type Tile = {
  readonly z: number
  readonly x: number
  readonly y: number
  readonly body: Uint8Array
}

type Options = {
  readonly box: Box
  readonly minZoom: number
  readonly maxZoom: number
  /** Name, attribution, layers. */
  readonly metadata: Readonly<Record<string, unknown>>
}

type Entry = { readonly id: number; offset: number; length: number; run: number }

/** Root and header are within the first 16 KiB, which readers fetch first. */
const longestRoot = 16_384 - 127
const gzipped = 2
const vectorTiles = 1

/** @param tiles not compressed; equal ones are stored once */
export function tileArchive(tiles: readonly Tile[], options: Options): Buffer {
  const { entries, contents, data } = gather(tiles)
  const { root, leaves } = directories(entries)
  const metadata = gzipSync(JSON.stringify(options.metadata))
  const header = Buffer.alloc(127)
  header.write('PMTiles', 0, 'latin1')
  header.writeUInt8(3, 7)
  const metadataAt = 127 + root.length
  const leavesAt = metadataAt + metadata.length
  const dataAt = leavesAt + leaves.length
  const numbers = [
    127,
    root.length,
    metadataAt,
    metadata.length,
    leavesAt,
    leaves.length,
    dataAt,
    data.length,
    tiles.length,
    entries.length,
    contents,
  ]
  for (const [at, number] of numbers.entries()) header.writeBigUInt64LE(BigInt(number), 8 + at * 8)
  header.writeUInt8(1, 96)
  header.writeUInt8(gzipped, 97)
  header.writeUInt8(gzipped, 98)
  header.writeUInt8(vectorTiles, 99)
  header.writeUInt8(options.minZoom, 100)
  header.writeUInt8(options.maxZoom, 101)
  const [west, south, east, north] = options.box
  const middle = [(west + east) / 2, (south + north) / 2]
  for (const [at, degrees] of [west, south, east, north].entries())
    header.writeInt32LE(Math.round(degrees * 1e7), 102 + at * 4)
  header.writeUInt8(options.minZoom, 118)
  for (const [at, degrees] of middle.entries())
    header.writeInt32LE(Math.round(degrees * 1e7), 119 + at * 4)
  return Buffer.concat([header, root, metadata, leaves, data])
}

function gather(tiles: readonly Tile[]) {
  const ordered = tiles
    .map(({ z, x, y, body }) => ({ id: zxyToTileId(z, x, y), body }))
    .toSorted((a, b) => a.id - b.id)
  const places = new Map<string, { readonly offset: number; readonly length: number }>()
  const parts: Buffer[] = []
  const entries: Entry[] = []
  let end = 0
  for (const { id, body } of ordered) {
    const hash = createHash('sha256').update(body).digest('base64url')
    let place = places.get(hash)
    if (place === undefined) {
      const packed = gzipSync(body, { level: 9 })
      place = { offset: end, length: packed.length }
      places.set(hash, place)
      parts.push(packed)
      end += packed.length
    }
    const last = entries.at(-1)
    if (last !== undefined && last.id + last.run === id && last.offset === place.offset) last.run++
    else entries.push({ id, ...place, run: 1 })
  }
  return { entries, contents: places.size, data: Buffer.concat(parts) }
}

/** One directory, or where it would be too long, a root that points to leaves. */
function directories(entries: readonly Entry[]): {
  readonly root: Buffer
  readonly leaves: Buffer
} {
  const whole = directory(entries)
  if (whole.length <= longestRoot) return { root: whole, leaves: Buffer.alloc(0) }
  for (let size = 2_048; ; size *= 2) {
    const roots: Entry[] = []
    const leaves: Buffer[] = []
    let offset = 0
    for (let at = 0; at < entries.length; at += size) {
      const part = entries.slice(at, at + size)
      const leaf = directory(part)
      // a run of 0 says: this is a leaf
      roots.push({ id: part[0]?.id ?? 0, offset, length: leaf.length, run: 0 })
      leaves.push(leaf)
      offset += leaf.length
    }
    const root = directory(roots)
    if (root.length <= longestRoot) return { root, leaves: Buffer.concat(leaves) }
  }
}

function directory(entries: readonly Entry[]): Buffer {
  const bytes: number[] = []
  varint(bytes, entries.length)
  let lastId = 0
  for (const { id } of entries) {
    varint(bytes, id - lastId)
    lastId = id
  }
  for (const { run } of entries) varint(bytes, run)
  for (const { length } of entries) varint(bytes, length)
  for (const [at, { offset }] of entries.entries()) {
    const before = entries[at - 1]
    // 0: directly after the one before
    const follows = before !== undefined && offset === before.offset + before.length
    varint(bytes, follows ? 0 : offset + 1)
  }
  return gzipSync(Buffer.from(bytes), { level: 9 })
}

function varint(bytes: number[], value: number): void {
  let rest = value
  while (rest > 0x7f) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
}
