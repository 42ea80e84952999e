/** One anchored batch: what was published of it, against what was anchored. */

import { toHex, zeroHash } from '../../core/hex.ts'
import type { BatchEnd } from '../../core/proof/batch.ts'
import { chainFault, headerFault } from '../../core/proof/batch-faults.ts'
import { type BatchHeader, encodeHeader, headerHash } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { merkleRoot, nodeHash, tileLeaves } from '../../core/proof/tree.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { isSameHeader } from '../../schemas/anchoring/batch-blob.ts'
import type { ContractVersion } from '../../schemas/anchoring/contract-code.ts'
import type { Anchored } from '../contract/registry.ts'
import type { Findings } from './findings.ts'

/** An anchor that counts, with the version of its contract and so of its batch. */
export type Counted = Anchored & { readonly version: ContractVersion }

type Tools = { readonly findings: Findings; readonly keccak: Keccak }

/** @param end where the batch before ended; undefined: that is not known */
export function checkHeader(
  header: BatchHeader | undefined,
  anchor: Anchored,
  end: BatchEnd | undefined,
  { findings, keccak }: Tools,
): header is BatchHeader {
  const { index } = anchor
  if (header === undefined) {
    findings.add('header', index, `batch ${index}: its header was not published`)
    return false
  }
  const isAnchored =
    hashOf(header, keccak) === anchor.headerHash &&
    header.prevHead === anchor.prevHead &&
    isSameContent(header, anchor)
  if (!isAnchored) {
    findings.add('header', index, `batch ${index}: its header is not the one that was anchored`)
    return false
  }
  const fault = headerFault(header) ?? (end && chainFault(end, header))
  if (fault !== undefined)
    findings.add('claims', index, `batch ${index}: ${claimFaults[fault]} (${fault})`)
  return true
}

/** Whether an anchor is of a batch's readings, whichever contract it is in. */
export const isSameContent = (header: BatchHeader | undefined, anchor: Anchored): boolean =>
  header !== undefined &&
  header.index === anchor.index &&
  header.root === anchor.root &&
  header.first === anchor.first &&
  header.last === anchor.last &&
  header.count === anchor.count &&
  hasNumbers(header, anchor)

/** A contract of version 2 has the numbers itself. */
const hasNumbers = ({ nFirst, nLast }: BatchHeader, { before, n }: Anchored): boolean =>
  before === undefined ||
  n === undefined ||
  (n.every((number, partition) => number === nLast[partition]) &&
    before.every((number, partition) => number + 1 === nFirst[partition]))

const claimFaults: Readonly<
  Record<NonNullable<ReturnType<typeof headerFault | typeof chainFault>>, string>
> = {
  version: 'it is not of the version of the contract that it is anchored in',
  partitions: 'its two lists of partitions differ in length',
  numbers: 'the numbers of a partition run backwards',
  count: 'its numbers do not add up to its count: a reading was left out, or added',
  root: 'it has readings without a root, or a root without readings',
  range: 'its range runs backwards',
  times: 'its earliest reading is after its latest',
  index: 'its index does not follow the batch before',
  prevHead: 'it does not follow the head of the batch before',
  first: 'it does not begin where the batch before ended',
  nFirst: 'its numbers do not go on where the batch before ended: a reading was left out',
}

/** A header with a number that cannot be hashed is not a header either. */
export function hashOf(header: BatchHeader, keccak: Keccak): string {
  try {
    return headerHash(header, keccak)
  } catch {
    return ''
  }
}

/** Tiles asked for at once: 8 KiB each. */
const tilesAtOnce = 32

/**
 * Every leaf, every tile, the root, and the header that was sealed first, which a batch that was sealed
 * again differs from in its prevHead; of version 1 also that leaves are in the order of their hashes, and
 * none is there twice. Of version 2 they are in the order of their numbers, which the rows show.
 * @param header as it was anchored; undefined: it was not published
 * @param isExpired its leaves may have been let go
 * @returns how many leaves were read; undefined: it has some, and they are gone
 */
export async function checkBlob(
  blobs: BatchBlobs,
  { index, headerHash: anchored, root, count, version }: Counted,
  header: BatchHeader | undefined,
  { findings, keccak, isExpired }: Tools & { readonly isExpired: boolean },
): Promise<number | undefined> {
  const report = (words: string): void => findings.add('blob', index, `batch ${index}: ${words}`)
  const hash = nodeHash(keccak, version)
  const orderOf = version === 1 ? hashOrder(report) : undefined
  try {
    const top = await blobs.top(index)
    if (top === undefined && isExpired) return count === 0 ? 0 : undefined
    if (top === undefined) {
      report('its leaves were not published')
      return 0
    }
    const isAgain =
      version === 2 &&
      header !== undefined &&
      isSameHeader(top.header, encodeHeader(header, keccak))
    if (!isAgain && toHex(keccak(top.header)) !== anchored)
      report('the header in its blob is another one')
    if (top.leaves !== count) report(`${top.leaves} leaves were published, and ${count} anchored`)
    let read = 0
    const roots: Uint8Array[] = []
    for await (const [tile, leaves] of tilesOf(blobs, index, top.roots.length)) {
      const expected = Math.min(tileLeaves, top.leaves - tile * tileLeaves)
      if (leaves?.length !== expected) {
        report(`tile ${tile} holds ${leaves?.length ?? 0} leaves instead of ${expected}`)
        return read
      }
      if (orderOf !== undefined) for (const leaf of leaves) orderOf(leaf)
      read += leaves.length
      roots.push(merkleRoot(leaves, hash))
      // the proofs that are handed out go through the tiles' roots as they were published
      if (Buffer.compare(roots[tile] ?? leaf0, top.roots[tile] ?? leaf0) !== 0)
        report(`the leaves of tile ${tile} do not give the root that was published of it`)
    }
    const computed = roots.length === 0 ? zeroHash : toHex(merkleRoot(roots, hash))
    if (computed !== root) report(`its leaves give the root ${computed}, and ${root} was anchored`)
    return read
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    report(`its blob cannot be read: ${error.message}`)
    return 0
  }
}

async function* tilesOf(blobs: BatchBlobs, index: number, tiles: number) {
  for (let at = 0; at < tiles; at += tilesAtOnce) {
    const some = Array.from({ length: Math.min(tilesAtOnce, tiles - at) }, (_, i) => at + i)
    const read = await Promise.all(some.map((tile) => blobs.tile(index, tile)))
    yield* some.map((tile, i) => [tile, read[i]] as const)
  }
}

function hashOrder(report: (words: string) => void) {
  let former: Uint8Array | undefined
  return (leaf: Uint8Array): void => {
    const order = former === undefined ? -1 : Buffer.compare(former, leaf)
    if (order === 0) report(`the leaf ${toHex(leaf)} is there twice`)
    if (order > 0) report(`the leaf ${toHex(leaf)} is out of order`)
    former = leaf
  }
}

const leaf0 = new Uint8Array(0)
