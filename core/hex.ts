/** Bytes as text: `0x` and two lower-case digits per byte, as chains write them. */
export type Hex = `0x${string}`

/** 32 zero bytes: the root of a heartbeat, or an unknown beacon. */
export const zeroHash: Hex = `0x${'0'.repeat(64)}`

export const toHex = (bytes: Uint8Array): Hex =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`

/** Of hex that a node or viem spells in either case: chains compare bytes, we compare text. */
export const lowerHex = (text: string): Hex => `0x${text.slice(2).toLowerCase()}`

const hash = /^0x[0-9a-f]{64}$/

/** Upper case is refused: a hash has one spelling, so that `===` compares hashes. */
export const isHash = (text: string): text is Hex => hash.test(text)

/** @returns 32 bytes @throws RangeError if `text` is not a hash */
export function hashBytes(text: string): Uint8Array {
  if (!isHash(text)) throw new RangeError(`not 32 bytes in lower-case hex: ${text}`)
  return Buffer.from(text.slice(2), 'hex')
}
