/** Numbers in a buffer of words of 32 bytes that is used again: without a copy, and without BigInt. */

export const wordBytes = 32

/**
 * At the end of a word whose other bytes are zero.
 * @throws RangeError where it is not a whole number from 0 to `most`
 */
export function putUnsigned(
  view: DataView,
  index: number,
  value: number,
  most = Number.MAX_SAFE_INTEGER,
): void {
  if (value < 0) throw new RangeError(`a leaf cannot hold ${value} here: it is negative`)
  if (value > most) throw new RangeError(`a leaf cannot hold ${value} here: it is above ${most}`)
  putInteger(view, (index + 1) * wordBytes - 8, value)
}

/** @throws RangeError where it is not a whole number */
export function putSigned(view: DataView, index: number, value: number): void {
  // two's complement over the whole word; the buffer still holds the former reading's sign
  const sign = value < 0 ? -1 : 0
  const at = index * wordBytes
  view.setInt32(at, sign)
  view.setInt32(at + 4, sign)
  view.setInt32(at + 8, sign)
  view.setInt32(at + 12, sign)
  view.setInt32(at + 16, sign)
  view.setInt32(at + 20, sign)
  putInteger(view, at + 24, value)
}

/** 64 bits, big-endian, two's complement. @throws RangeError where it is not a whole number */
export function putInteger(view: DataView, at: number, value: number): void {
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`a leaf cannot hold ${value}: it is not a whole number below 2^53`)
  }
  view.setInt32(at, Math.floor(value / 2 ** 32))
  view.setUint32(at + 4, value >>> 0)
}
