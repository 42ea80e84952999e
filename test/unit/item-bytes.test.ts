import { array, assert, constantFrom, json, property, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { itemsOf } from '../../pipeline/intake/item-bytes.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const split = (text: string): string[] => itemsOf(encode(text)).map(decode)

test('each item of an array is what stood there, byte for byte', () => {
  const blanks = constantFrom('', ' ', '\n\t', '\r\n  ')
  const items = array(tuple(blanks, json({ maxDepth: 3 }), blanks), { minLength: 1, maxLength: 6 })
  assert(
    property(items, blanks, (parts, around) => {
      const text = parts.map((part) => part.join('')).join(',')
      expect(split(`${around}[${text}]${around}`)).toEqual(parts.map(([, item]) => item))
    }),
  )
})

test('what parsing would lose is kept', () => {
  expect(split('[1e400, 1.0, {"a":1,"a":2}, "\\u0041"]')).toEqual([
    '1e400',
    '1.0',
    '{"a":1,"a":2}',
    '"\\u0041"',
  ])
})

test('brackets, commas and quotes inside of texts part nothing', () => {
  expect(split('["],[", "\\"],", {"]":"}"}]')).toEqual(['"],["', '"\\"],"', '{"]":"}"}'])
})

test('what is not an array is one item, whole', () => {
  expect(split(' {"a":[1,2]} ')).toEqual([' {"a":[1,2]} '])
})

test('an array behind a byte order mark is an array', () => {
  expect(split('\uFEFF[1,2]')).toEqual(['1', '2'])
})

test('sixty thousand brackets are taken apart without recursion', () => {
  const inner = '['.repeat(60_000) + ']'.repeat(60_000)
  expect(split(`[${inner},1]`)).toEqual([inner, '1'])
})
