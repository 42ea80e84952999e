import type { KeccakSlots } from './slots.ts'
import { nodeBytes, nodePrefix2, tileLeaves } from './tree.ts'

const pairBytes = 2 * nodeBytes
const messageBytes = 1 + pairBytes

/**
 * @returns a function that gives the root of up to 256 leaves of version 2, which are side by side: the one
 * that `merkleRoot` gives. It throws RangeError where there is no leaf, or a part of one.
 */
export function tileRootOf2(keccakSlots: KeccakSlots): (leaves: Uint8Array) => Uint8Array {
  const { bytes, slotBytes, end, hash } = keccakSlots({
    count: tileLeaves / 2,
    messageBytes,
  })
  for (let slot = 0; slot < tileLeaves / 2; slot++) {
    bytes[slot * slotBytes] = nodePrefix2
    end(slot, messageBytes)
  }
  return (leaves) => {
    if (leaves.length === 0 || leaves.length % nodeBytes > 0)
      throw new RangeError(`${leaves.length} bytes are not leaves`)
    let level = leaves
    while (level.length > nodeBytes) {
      const pairs = Math.floor(level.length / pairBytes)
      for (let slot = 0; slot < pairs; slot++)
        bytes.set(level.subarray(slot * pairBytes, (slot + 1) * pairBytes), slot * slotBytes + 1)
      // an odd node at the end goes up as it is; it may be in what `hash` writes over
      const alone = Uint8Array.from(level.subarray(pairs * pairBytes))
      const above = hash(pairs)
      level = alone.length === 0 ? above : Buffer.concat([above, alone])
    }
    return Uint8Array.from(level)
  }
}
