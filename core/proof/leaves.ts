/** Leaves of version 2, many at a time: the bytes that `leafEncoder` gives one by one. */
import {
  type Keccak,
  type LeafFields2,
  packedBytesAtMost,
  packValues,
  type Words,
  words2,
  wordsOf2,
} from './leaf.ts'
import type { KeccakSlots, Slots } from './slots.ts'
import { nodeBytes } from './tree.ts'

/** As many as a tile has. */
export const leavesAtOnce = 256

/** Thirteen values fit one block of Keccak; a reading with more is hashed by itself. */
const fewValuesBytes = 130

/**
 * @returns a function that gives the leaves of up to `leavesAtOnce` readings, side by side, valid until
 * its next call. It throws RangeError for a reading that must never be anchored, as `leafEncoder` does.
 */
export function leavesEncoder(
  keccak: Keccak,
  slots: KeccakSlots,
): (readings: readonly LeafFields2[]) => Uint8Array {
  const values = slots({ count: leavesAtOnce, messageBytes: fewValuesBytes })
  const words = slots({ count: leavesAtOnce, messageBytes: words2.bytes })
  const inner = slots({ count: leavesAtOnce, messageBytes: nodeBytes })
  const { begin, put } = wordsOf2(keccak)
  const places = Array.from({ length: leavesAtOnce }, (_, slot) => {
    words.end(slot, words2.bytes)
    inner.end(slot, nodeBytes)
    const place = placeOf(words, slot)
    begin(place)
    return place
  })
  const packed = new Uint8Array(packedBytesAtMost)
  const view = new DataView(packed.buffer)
  return (readings) => {
    const many = new Map<number, Uint8Array>()
    readings.forEach((reading, slot) => {
      const place = places[slot]
      if (place === undefined) throw new RangeError(`more than ${leavesAtOnce} readings at once`)
      put(place, reading)
      const bytes = packed.subarray(0, packValues(view, 0, reading.values))
      if (bytes.length > fewValuesBytes) many.set(slot, Uint8Array.from(keccak(bytes)))
      else {
        values.bytes.set(bytes, slot * values.slotBytes)
        values.end(slot, bytes.length)
      }
    })
    if (readings.length === 0) return new Uint8Array(0)
    putHashes(values.hash(readings.length), words, words2.valuesAt)
    for (const [slot, hash] of many) places[slot]?.bytes.set(hash, words2.valuesAt)
    putHashes(words.hash(readings.length), inner, 0)
    return inner.hash(readings.length)
  }
}

const placeOf = ({ bytes, slotBytes }: Slots, slot: number): Words => {
  const place = bytes.subarray(slot * slotBytes, slot * slotBytes + words2.bytes)
  return { bytes: place, view: new DataView(place.buffer, place.byteOffset, place.length) }
}

/** Each hash into the slot of its number. */
function putHashes(hashes: Uint8Array, { bytes, slotBytes }: Slots, at: number): void {
  for (let slot = 0; slot * nodeBytes < hashes.length; slot++)
    bytes.set(hashes.subarray(slot * nodeBytes, (slot + 1) * nodeBytes), slot * slotBytes + at)
}
