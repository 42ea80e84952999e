/**
 * An image of a bucket: all its entries in a few messages, so that a process need not ask for each. Pieces
 * of packed records (`runtime/nats/buckets/packed-entries.ts`), each compressed, in messages that follow one another, and
 * after them the head, which says what they are. What was written to the bucket after `upTo` is read
 * from the bucket; an entry may be newer than that.
 */
import { crc32 } from 'node:zlib'
import { asVersion1 } from './formats.ts'

export type ImageHead = {
  /** When the bucket's stream was made, as the server says it: another one has other revisions. */
  readonly made: string
  /** Every entry up to this revision is in the image, unless a later one replaced it. */
  readonly upTo: number
  /** The newest entries, revision and time in ms: a bucket that lost its end has others there. */
  readonly newest: readonly (readonly [revision: number, timeMs: number])[]
  /** The airproof whose rules say which entries are fine. */
  readonly airproof: string
  /** Of the texts in the records (`runtime/nats/buckets/entry-shapes.ts`). */
  readonly shapes: readonly (readonly string[])[]
  /** Where the pieces are: 0 or 1. */
  readonly place: number
  /** CRC-32 of each piece. */
  readonly pieces: readonly number[]
}

/** Without ajv, which no process of many loads for anything else at its start. */
function isHead(value: unknown): value is ImageHead {
  const { made, upTo, newest, airproof, shapes, place, pieces }: Record<string, unknown> =
    Object(value)
  return (
    typeof made === 'string' &&
    isWhole(upTo) &&
    isListOf(newest, (pair) => isListOf(pair, isWhole) && pair.length === 2) &&
    typeof airproof === 'string' &&
    isListOf(shapes, (parts) => isListOf(parts, (part) => typeof part === 'string')) &&
    (place === 0 || place === 1) &&
    isListOf(pieces, isWhole) &&
    pieces.length > 0
  )
}

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isListOf = (
  value: unknown,
  isItem: (item: unknown) => boolean,
): value is readonly unknown[] => Array.isArray(value) && value.every(isItem)

export function encodeImageHead(head: ImageHead): string {
  const text = JSON.stringify(head)
  return JSON.stringify({ v: 1, checksum: crc32(text), head: text })
}

/** @returns undefined: it is damaged @throws NewerFormat */
export function decodeImageHead(data: Uint8Array): ImageHead | undefined {
  const { checksum, head: text }: Record<string, unknown> = Object(
    asVersion1('image', valueOf(new TextDecoder().decode(data))),
  )
  if (typeof text !== 'string' || crc32(text) !== checksum) return undefined
  const head = valueOf(text)
  return isHead(head) ? head : undefined
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
