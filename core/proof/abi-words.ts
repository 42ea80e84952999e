import { type Hex, hashBytes } from '../hex.ts'
import { wordBytes } from './words.ts'

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
