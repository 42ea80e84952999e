import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { crc32 } from '../../core/crc32.ts'
import {
  beginningOf,
  decodeLogCursor,
  encodeLogCursor,
  type LogCursor,
} from '../../schemas/log/log-cursor.ts'

const count = fc.oneof(fc.nat(), fc.maxSafeNat())
const cursors: fc.Arbitrary<LogCursor> = fc
  .record({
    version: fc.constant(1 as const),
    network: fc.stringMatching(/^[0-9a-f]{12}$/),
    position: count,
    n: fc.array(count, { minLength: 16, maxLength: 16 }),
    events: fc.option(count, { nil: undefined }),
  })
  .map(({ events, ...cursor }) => (events === undefined ? cursor : { ...cursor, events }))

const network = '0123456789ab'

describe('a cursor of the log', () => {
  test('is read as it was written, whatever its numbers', () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        expect(decodeLogCursor(encodeLogCursor(cursor))).toEqual(cursor)
      }),
    )
  })

  test('has a text that fits into an address and a header as it is, 106 characters for a big city', () => {
    const cursor = { ...beginningOf(network), position: 90_000_000, n: Array(16).fill(200_000_000) }
    const text = encodeLogCursor(cursor)
    expect(text).toMatch(/^[\w-]+$/)
    expect(text).toHaveLength(106)
  })

  test('keeps its text for good, as it is in files of an archive and in clients', () => {
    const n = Array.from({ length: 16 }, (_, partition) => partition * 1_000)
    expect(encodeLogCursor({ version: 1, network, position: 4_711, n })).toBe(
      'AQEjRWeJq-ckAOgH0A-4F6AfiCfwLtg2wD6oRpBO-FXgXchlsG2YdSb9xdo',
    )
  })

  test('is refused with one character changed, left out or added', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const text = encodeLogCursor({ ...beginningOf(network), position: 300, n: Array(16).fill(77) })
    for (let i = 0; i < text.length; i++) {
      const [before, after] = [text.slice(0, i), text.slice(i + 1)]
      expect(decodeLogCursor(before + after)).toBeUndefined()
      for (const other of alphabet.replace(text[i] ?? '', '')) {
        expect(decodeLogCursor(before + other + text.slice(i))).toBeUndefined()
        expect(decodeLogCursor(before + other + after)).toBeUndefined()
      }
    }
  })

  test('is refused if it is any other text', () => {
    const text = encodeLogCursor(beginningOf(network))
    for (const other of [
      '',
      ' ',
      '123',
      '123-4',
      'start',
      `${text}=`,
      `${text} `,
      ` ${text}`,
      '💥',
    ])
      expect(decodeLogCursor(other)).toBeUndefined()
    expect(decodeLogCursor('A'.repeat(1_000_000))).toBeUndefined()
    fc.assert(fc.property(fc.string(), (any) => decodeLogCursor(any) === undefined))
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const any = Buffer.from([1, ...bytes]).toString('base64url')
        return decodeLogCursor(any) === undefined
      }),
    )
  })

  test('is not written with a number that it cannot hold', () => {
    for (const position of [-1, 0.5, Number.NaN, 2 ** 53])
      expect(() => encodeLogCursor({ ...beginningOf(network), position })).toThrow(RangeError)
    expect(() => encodeLogCursor({ ...beginningOf(network), n: [1] })).toThrow(RangeError)
    expect(() => encodeLogCursor(beginningOf('lagos'))).toThrow(RangeError)
  })

  /** A text with the right checksum, of a writer of another kind. */
  const textOf = (bytes: readonly number[]): string => {
    const content = Buffer.from(bytes)
    const check = Buffer.alloc(4)
    check.writeUInt32BE(crc32(content))
    return Buffer.concat([content, check]).toString('base64url')
  }
  const head = [1, 1, 2, 3, 4, 5, 6]
  const numbers = Array<number>(17).fill(0)

  test.each<[string, readonly number[]]>([
    ['of another version', [2, ...head.slice(1), ...numbers]],
    ['of fewer partitions', [...head, ...numbers.slice(1)]],
    ['of more numbers', [...head, ...numbers, 0, 0]],
    ['with a number of two forms', [...head, 0x80, 0x00, ...numbers.slice(1)]],
    ['with a number that is cut off', [...head, ...numbers, 0x81]],
    [
      'with a number above 2^53',
      [...head, ...Array<number>(8).fill(0xff), 0x7f, ...numbers.slice(1)],
    ],
  ])('%s is refused, though its checksum is right', (_what, bytes) => {
    expect(decodeLogCursor(textOf([...head, ...numbers]))).toBeDefined()
    expect(decodeLogCursor(textOf(bytes))).toBeUndefined()
  })
})
