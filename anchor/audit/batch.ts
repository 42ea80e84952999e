/** One anchored batch: what was published of it, against what was anchored. */

import { toHex, zeroHash } from '../../core/hex.ts'
import type { BatchEnd } from '../../core/proof/batch.ts'
import { chainFault, headerFault } from '../../core/proof/batch-faults.ts'
import { type BatchHeader, headerHash } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { merkleTree } from '../../core/proof/merkle.ts'
import { tileLeaves } from '../../core/proof/tiles.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import type { Anchored } from '../contract/registry.ts'
import type { Findings } from './findings.ts'

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
    header.index === index &&
    header.prevHead === anchor.prevHead &&
    header.root === anchor.root &&
    header.first === anchor.first &&
    header.last === anchor.last &&
    header.count === anchor.count
  if (!isAnchored) {
    findings.add('header', index, `batch ${index}: its header is not the one that was anchored`)
    return false
  }
  const fault = headerFault(header) ?? (end && chainFault(end, header))
  if (fault !== undefined)
    findings.add('claims', index, `batch ${index}: ${claimFaults[fault]} (${fault})`)
  return true
}

const claimFaults: Readonly<
  Record<NonNullable<ReturnType<typeof headerFault | typeof chainFault>>, string>
> = {
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
function hashOf(header: BatchHeader, keccak: Keccak): string {
  try {
    return headerHash(header, keccak)
  } catch {
    return ''
  }
}

/** Every leaf, in order and once; every tile; the root. @returns how many leaves were read */
export async function checkBlob(
  blobs: BatchBlobs,
  { index, headerHash: anchored, root, count }: Anchored,
  { findings, keccak }: Tools,
): Promise<number> {
  const report = (words: string): void => findings.add('blob', index, `batch ${index}: ${words}`)
  try {
    const top = await blobs.top(index)
    if (top === undefined) {
      report('its leaves were not published')
      return 0
    }
    if (toHex(keccak(top.header)) !== anchored) report('the header in its blob is another one')
    if (top.leaves !== count) report(`${top.leaves} leaves were published, and ${count} anchored`)
    let former: Uint8Array | undefined
    let read = 0
    const roots: Uint8Array[] = []
    for (let tile = 0; tile < top.roots.length; tile++) {
      const leaves = await blobs.tile(index, tile)
      const expected = Math.min(tileLeaves, top.leaves - tile * tileLeaves)
      if (leaves?.length !== expected) {
        report(`tile ${tile} holds ${leaves?.length ?? 0} leaves instead of ${expected}`)
        return read
      }
      for (const leaf of leaves) {
        const order = former === undefined ? -1 : Buffer.compare(former, leaf)
        if (order === 0) report(`the leaf ${toHex(leaf)} is there twice`)
        if (order > 0) report(`the leaf ${toHex(leaf)} is out of order`)
        former = leaf
      }
      read += leaves.length
      roots.push(merkleTree(leaves, keccak).root)
      // the proofs that are handed out go through the tiles' roots as they were published
      if (Buffer.compare(roots[tile] ?? leaf0, top.roots[tile] ?? leaf0) !== 0)
        report(`the leaves of tile ${tile} do not give the root that was published of it`)
    }
    const computed = roots.length === 0 ? zeroHash : toHex(merkleTree(roots, keccak).root)
    if (computed !== root) report(`its leaves give the root ${computed}, and ${root} was anchored`)
    return read
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    report(`its blob cannot be read: ${error.message}`)
    return 0
  }
}

const leaf0 = new Uint8Array(0)
