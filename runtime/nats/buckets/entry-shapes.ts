/**
 * JSON texts of the same fields differ only in their values, so what is between the values is kept once for all of
 * them: a shape. A text of a shape is its values, one after the other, each ended by a 0, which no JSON text
 * contains; a value that is the entry's own key is a 1. Texts of other kinds stay as they are. What
 * `expand` returns is the text that was packed, byte by byte.
 */

/** What is between the values, byte by byte as Latin-1: one more than there are values. */
export type TextShape = readonly string[]

type Shape = {
  /** One more than there are values. */
  readonly parts: readonly Buffer[]
  /** The text with nothing in place of each value. */
  readonly skeleton: string
}

export type PackedText = {
  /** 0: as it is. */
  readonly shape: number
  /** Valid until the next call. */
  readonly bytes: Uint8Array
}

/** A bucket has a few; each text of another shape is compared with all. */
const mostShapes = 64
const [quote, backslash, colon] = [0x22, 0x5c, 0x3a]
const end = 0
const ownKey = 1

export class EntryShapes {
  readonly #shapes: Shape[]
  /** Of the text before. */
  #last = 0
  #scratch = Buffer.alloc(4_096)

  /** @param shapes those of the texts that were packed elsewhere */
  constructor(shapes: readonly TextShape[] = []) {
    this.#shapes = shapes.map((parts) =>
      withSkeleton(parts.map((part) => Buffer.from(part, 'latin1'))),
    )
  }

  get list(): readonly TextShape[] {
    return this.#shapes.map(({ parts }) => parts.map((part) => part.toString('latin1')))
  }

  /** @param name the key, as ASCII */
  pack(text: Uint8Array, name: string): PackedText {
    this.#room(text.length + 1)
    for (let i = 0; i < this.#shapes.length; i++) {
      const at = (this.#last + i) % this.#shapes.length
      const length = this.#values(text, name, this.#shapes[at])
      if (length !== -1) return this.#packed(at, length)
    }
    if (this.#shapes.length < mostShapes) {
      const shape = shapeOf(text)
      const length = this.#values(text, name, shape)
      if (length !== -1) return this.#packed(this.#shapes.push(shape) - 1, length)
    }
    return { shape: 0, bytes: text }
  }

  /** The text of packed bytes. */
  expand({ shape, bytes }: PackedText, name: string): Uint8Array {
    const { parts } = this.#shapes[shape - 1] ?? {}
    if (parts === undefined) return bytes
    const made: Uint8Array[] = []
    let from = 0
    for (const part of parts) {
      made.push(part)
      const until = bytes.indexOf(end, from)
      if (until === -1) break
      const isOwnKey = until === from + 1 && bytes[from] === ownKey
      made.push(isOwnKey ? Buffer.from(name, 'latin1') : bytes.subarray(from, until))
      from = until + 1
    }
    return Buffer.concat(made)
  }

  get size(): number {
    return this.#shapes.length
  }

  skeletonOf(shape: number): string | undefined {
    return this.#shapes[shape - 1]?.skeleton
  }

  /** Puts the values into the scratch. @returns their length; −1: the text is not of that shape */
  #values(text: Uint8Array, name: string, shape: Shape | undefined): number {
    if (shape === undefined) return -1
    const { parts } = shape
    const values = this.#scratch
    let [at, to] = [0, 0]
    for (const [number, part] of parts.entries()) {
      for (let i = 0; i < part.length; i++) if (text[at + i] !== part[i]) return -1
      at += part.length
      if (number === parts.length - 1) break
      const isText = part[part.length - 1] === quote
      const from = to
      for (; at < text.length; at++) {
        const byte = text[at] ?? 0
        if (isText ? byte === quote : !isOfNumber(byte)) break
        if (byte === backslash || byte < 0x20) return -1
        values[to++] = byte
      }
      if (isSame(values, from, to, name)) {
        values[from] = ownKey
        to = from + 1
      }
      values[to++] = end
    }
    return at === text.length ? to : -1
  }

  #packed(at: number, length: number): PackedText {
    this.#last = at
    return { shape: at + 1, bytes: this.#scratch.subarray(0, length) }
  }

  /** Values are shorter than their text, but for the end of each: a number has at least a comma. */
  #room(length: number): void {
    if (this.#scratch.length < length * 2) this.#scratch = Buffer.alloc(length * 2)
  }
}

const isOfNumber = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) ||
  byte === 0x2d ||
  byte === 0x2e ||
  byte === 0x2b ||
  (byte | 0x20) === 0x65

function isSame(bytes: Uint8Array, from: number, to: number, name: string): boolean {
  if (to - from !== name.length) return false
  for (let i = 0; i < name.length; i++) if (bytes[from + i] !== name.charCodeAt(i)) return false
  return true
}

/** Of any text: one that is not JSON does not match it. */
function shapeOf(text: Uint8Array): Shape {
  const parts: Buffer[] = []
  let part: number[] = []
  for (let at = 0; at < text.length; ) {
    const byte = text[at] ?? 0
    if (byte === quote) {
      let until = at + 1
      while (until < text.length && text[until] !== quote) until++
      part.push(quote)
      if (text[until + 1] === colon) part.push(...text.subarray(at + 1, until))
      else {
        parts.push(Buffer.from(part))
        part = []
      }
      part.push(quote)
      at = until + 1
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      parts.push(Buffer.from(part))
      part = []
      while (isOfNumber(text[at] ?? 0)) at++
    } else {
      part.push(byte)
      at++
    }
  }
  parts.push(Buffer.from(part))
  return withSkeleton(parts)
}

const withSkeleton = (parts: readonly Buffer[]): Shape => ({
  parts,
  skeleton: Buffer.concat(parts).toString(),
})
