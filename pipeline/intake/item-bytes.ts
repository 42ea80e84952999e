/**
 * The items of a raw message as they were sent, byte for byte: parsed and written again, 1e400
 * would be null, and 1.0 would be 1.
 */

const code = (character: string): number => character.charCodeAt(0)
const quote = code('"')
const backslash = code('\\')
const comma = code(',')
const openers = new Set([code('['), code('{')])
const closers = new Set([code(']'), code('}')])
const blanks = new Set([code(' '), code('\t'), code('\n'), code('\r')])

/**
 * @param data JSON that can be parsed
 * @returns the bytes of each item where `data` is an array, else `data` as the only item
 */
export function itemsOf(data: Uint8Array): readonly Uint8Array[] {
  let at = skipBlanks(data, hasByteOrderMark(data) ? 3 : 0)
  if (data[at] !== code('[')) return [data]
  const items: Uint8Array[] = []
  let start = ++at
  let depth = 0
  for (; at < data.length; at++) {
    const byte = data[at] ?? 0
    if (byte === quote) at = endOfText(data, at)
    else if (openers.has(byte)) depth++
    else if (closers.has(byte) && depth > 0) depth--
    else if (depth === 0 && (byte === comma || closers.has(byte))) {
      items.push(trimmed(data, start, at))
      if (byte !== comma) break
      start = at + 1
    }
  }
  return items
}

const hasByteOrderMark = (data: Uint8Array): boolean =>
  data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf

function skipBlanks(data: Uint8Array, from: number): number {
  let at = from
  while (blanks.has(data[at] ?? 0)) at++
  return at
}

/** The place of the quote that ends the text begun at `from`. */
function endOfText(data: Uint8Array, from: number): number {
  let at = from + 1
  while (at < data.length && data[at] !== quote) at += data[at] === backslash ? 2 : 1
  return at
}

function trimmed(data: Uint8Array, from: number, to: number): Uint8Array {
  const start = skipBlanks(data, from)
  let end = to
  while (end > start && blanks.has(data[end - 1] ?? 0)) end--
  return data.subarray(start, end)
}
