/** The published leaves of a batch, looked up by their bytes. */
import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import type { LeafFields } from '../../core/proof/leaf.ts'
import { tileLeaves } from '../../core/proof/tiles.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { type BlobTop, tileOf } from '../../schemas/anchoring/batch-blob.ts'

/** What the leaf is made of. */
export type AuditedRow = LeafFields

export type OpenBlob = {
  /** Of a leaf among all leaves of the batch. */
  readonly placeOf: (leaf: Uint8Array) => Promise<number | undefined>
}

/** That its parts cannot be read is the blob's fault, which is found elsewhere: no row fits. */
export async function openBlob(blobs: BatchBlobs, index: number): Promise<OpenBlob> {
  const top = await readable(blobs.top(index))
  const tiles = new Map<number, Map<string, number>>()
  return {
    placeOf: async (leaf) => {
      const number = top && tileOf(top, leaf)
      if (number === undefined) return undefined
      let places = tiles.get(number)
      if (places === undefined) {
        const leaves = (await readable(blobs.tile(index, number))) ?? []
        places = new Map(leaves.map((one, at) => [keyOf(one), at]))
        tiles.set(number, places)
      }
      const at = places.get(keyOf(leaf))
      return at === undefined ? undefined : number * tileLeaves + at
    },
  }
}

export const keyOf = (leaf: Uint8Array): string => Buffer.from(leaf).toString('latin1')

async function readable<T extends BlobTop | Uint8Array[]>(
  reading: Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The batch that has the number; undefined: those there are leave it out. */
export function placeOf(
  headers: readonly BatchHeader[],
  seq: number,
): BatchHeader | 'before' | 'not_anchored' | undefined {
  const [partition, n] = [partitionOfSeq(seq), nOfSeq(seq)]
  const lastOf = (header: BatchHeader | undefined): number => header?.nLast[partition] ?? 0
  if (n > lastOf(headers.at(-1))) return 'not_anchored'
  if (n > 0 && n < (headers[0]?.nFirst[partition] ?? 0)) return 'before'
  let low = 0
  let high = headers.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (lastOf(headers[middle]) < n) low = middle + 1
    else high = middle
  }
  const found = headers[low]
  const isHeld = found && n >= (found.nFirst[partition] ?? Infinity) && n <= lastOf(found)
  return isHeld ? found : undefined
}
