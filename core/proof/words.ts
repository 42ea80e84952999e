/**
 * Words of 32 bytes, as contracts read them. `put…` writes into a buffer that is used again for each
 * leaf: without a copy, and without BigInt.
 */
import { type Hex, hashBytes } from '../hex.ts'

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

/** A `bytes32`, or an unsigned integer of at most 64 bits; of 53 bits where it is a number. */
export type Word = Hex | number | bigint

/**
 * `abi.encode` of static values: a word of 32 bytes each, numbers at its end.
 * @throws RangeError where a number is negative, not whole or not below 2^53, or a bigint has not 64 bits
 */
export function encodeWords(words: readonly Word[]): Uint8Array {
  const bytes = new Uint8Array(words.length * wordBytes)
  const view = new DataView(bytes.buffer)
  words.forEach((word, index) => {
    if (typeof word === 'string') bytes.set(hashBytes(word), index * wordBytes)
    else putNumber(view, index * wordBytes, word)
  })
  return bytes
}

function putNumber(view: DataView, at: number, value: number | bigint): void {
  if (typeof value === 'bigint') {
    if (value !== BigInt.asUintN(64, value))
      throw new RangeError(`not a whole number from 0 to 2^64 - 1: ${value}`)
    view.setBigUint64(at + wordBytes - 8, value)
    return
  }
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`not a whole number from 0 to 2^53 - 1: ${value}`)
  }
  view.setUint32(at + wordBytes - 8, Math.floor(value / 2 ** 32))
  view.setUint32(at + wordBytes - 4, value >>> 0)
}

/**
 * The words of an array: its length, then its numbers. Where it lies among the static words is
 * the caller's to say, in bytes from the start of the encoding.
 */
export const arrayWords = (values: readonly number[]): number[] => [values.length, ...values]

export const bytesOfWords = (count: number): number => count * wordBytes

/** @param address 20 bytes in hex of either case @throws RangeError */
export function addressWord(address: string): Hex {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new RangeError(`not an address: ${address}`)
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}
