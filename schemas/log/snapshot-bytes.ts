/** The bytes of a typed array, where they lie. */
export const bytesOf = (array: NodeJS.TypedArray): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength)

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Takes bytes apart from front to back. */
export type ByteReader = {
  /** Fills `into`, which need not be aligned as the bytes are. */
  readonly take: <Into extends NodeJS.TypedArray>(into: Into) => Into
  readonly text: (length: number) => string
}

const decoder = new TextDecoder()

export function readBytes(bytes: Uint8Array): ByteReader {
  let at = 0
  const next = (length: number): Uint8Array => bytes.subarray(at, (at += length))
  return {
    take: (into) => {
      bytesOf(into).set(next(into.byteLength))
      return into
    },
    text: (length) => decoder.decode(next(length)),
  }
}
