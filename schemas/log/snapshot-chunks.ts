/**
 * One long body cut into messages, and put together again. A chunk is a prefix of 36 bytes and a
 * piece of the body; numbers are little-endian:
 *
 *     0 mark (u32) · 4 partition (u32) · 8 READINGS sequence (f64) · 16 checksum of all but the number (u32)
 *     20 number from 0 (u32) · 24 length of the body (f64) · 32 how many chunks (u32)
 */
import { assertKnown } from '../formats.ts'

/** No chunk is longer, its prefix included: NATS takes 1 MiB per message by default. */
export const largestChunk = 512 * 1024

/**
 * `APS1`, `APS2`: the last byte is the version of the body. Any other layout of it takes another one,
 * so that an airproof that does not know it refuses it instead of misreading it.
 */
const mark = 0x53_50_41
const markOf = (version: number): number => mark + (0x30 + version) * 2 ** 24
const mostVersions = 9
const prefixBytes = 36
const pieceBytes = largestChunk - prefixBytes

/** What a chunk says of itself. */
export type ChunkPrefix = {
  readonly version: number
  readonly partition: number
  readonly readingsSeq: number
  /**
   * Of version (not in version 1), partition, sequence and body: two snapshots at one sequence may
   * differ in positions.
   */
  readonly checksum: number
  /** From 0. */
  readonly number: number
  readonly bodyBytes: number
  readonly count: number
}

export type Body = Pick<ChunkPrefix, 'version' | 'partition' | 'readingsSeq'> & {
  readonly bytes: Uint8Array
}

/** @param body not empty; starts its buffer */
export function cutBody(body: Body): Uint8Array[] {
  const { version, partition, readingsSeq, bytes } = body
  const count = Math.ceil(bytes.length / pieceBytes)
  const checksum = checksumOf(body)
  return Array.from({ length: count }, (_, number) => {
    const piece = bytes.subarray(number * pieceBytes, (number + 1) * pieceBytes)
    const chunk = new Uint8Array(prefixBytes + piece.length)
    const view = new DataView(chunk.buffer)
    view.setUint32(0, markOf(version), true)
    view.setUint32(4, partition, true)
    view.setFloat64(8, readingsSeq, true)
    view.setUint32(16, checksum, true)
    view.setUint32(20, number, true)
    view.setFloat64(24, bytes.length, true)
    view.setUint32(32, count, true)
    chunk.set(piece, prefixBytes)
    return chunk
  })
}

/** @returns undefined if it is not a chunk @throws NewerFormat */
export function readPrefix(chunk: Uint8Array): ChunkPrefix | undefined {
  if (chunk.length <= prefixBytes) return undefined
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  const head = view.getUint32(0, true)
  const version = Math.floor(head / 2 ** 24) - 0x30
  if (head % 2 ** 24 !== mark || version < 1 || version > mostVersions) return undefined
  assertKnown('snapshot', version)
  return {
    version,
    partition: view.getUint32(4, true),
    readingsSeq: view.getFloat64(8, true),
    checksum: view.getUint32(16, true),
    number: view.getUint32(20, true),
    bodyBytes: view.getFloat64(24, true),
    count: view.getUint32(32, true),
  }
}

/** @param chunks in any order @returns undefined unless they are exactly one whole body @throws NewerFormat */
export function joinChunks(chunks: readonly Uint8Array[]): Body | undefined {
  const first = chunks[0] && readPrefix(chunks[0])
  if (first === undefined || first.count !== chunks.length) return undefined
  // a torn prefix must not make us allocate more memory than there is
  const held = chunks.reduce((sum, chunk) => sum + chunk.length - prefixBytes, 0)
  if (held !== first.bodyBytes) return undefined
  const bytes = new Uint8Array(held)
  for (const chunk of chunks) {
    const prefix = readPrefix(chunk)
    if (prefix === undefined || !sameBody(prefix, first) || prefix.number >= first.count)
      return undefined
    const piece = chunk.subarray(prefixBytes)
    const at = prefix.number * pieceBytes
    if (at + piece.length > held) return undefined
    bytes.set(piece, at)
  }
  const { version, partition, readingsSeq } = first
  const body = { version, partition, readingsSeq, bytes }
  return checksumOf(body) === first.checksum ? body : undefined
}

const sameBody = (a: ChunkPrefix, b: ChunkPrefix): boolean =>
  a.version === b.version &&
  a.partition === b.partition &&
  a.readingsSeq === b.readingsSeq &&
  a.checksum === b.checksum &&
  a.bodyBytes === b.bodyBytes &&
  a.count === b.count

/**
 * FNV-1a over words instead of bytes, as fast as memory: it tells torn or mixed chunks, which is
 * all that is asked of it.
 */
function checksumOf({ version, partition, readingsSeq, bytes }: Body): number {
  const numbers = version === 1 ? [partition, readingsSeq] : [version, partition, readingsSeq]
  const names = new Uint32Array(Float64Array.from(numbers).buffer)
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2)
  let hash = mixed(mixed(0x811c9dc5, names), words)
  for (let i = words.length * 4; i < bytes.length; i++) {
    hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193)
  }
  return hash >>> 0
}

function mixed(seed: number, words: Uint32Array): number {
  let hash = seed
  for (let i = 0; i < words.length; i++) {
    hash = Math.imul(hash ^ (words[i] ?? 0), 0x01000193)
    // a word's high bits would never reach the low bits of the hash by multiplication alone
    hash ^= hash >>> 15
  }
  return hash
}
