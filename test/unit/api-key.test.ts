import { crc32 } from 'node:zlib'
import { array, assert, constantFrom, integer, property, uint8Array } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { apiKeyPrefix, checkKey, keyRandomBytes, makeKey } from '../../core/access/api-key.ts'

const enoughBytes = uint8Array({ minLength: keyRandomBytes, maxLength: keyRandomBytes, max: 247 })
const prefix = constantFrom(apiKeyPrefix, 'aqs_')
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const zeros = new Uint8Array(keyRandomBytes)

test('a key is its prefix, thirty characters and six check characters', () => {
  assert(
    property(prefix, enoughBytes, (mine, bytes) => {
      const key = makeKey(mine, bytes)
      expect(key).toMatch(new RegExp(`^${mine}[0-9A-Za-z]{36}$`))
      expect(checkKey(mine, key)).toBe('ok')
    }),
  )
})

test('the check characters are the CRC-32 of everything before them', () => {
  const key = makeKey(apiKeyPrefix, zeros)
  let check = 0
  for (const character of key.slice(-6)) check = check * 62 + base62.indexOf(character)
  expect(check).toBe(crc32(key.slice(0, -6)))
})

test('one wrong character is a mistyped key', () => {
  const position = integer({ min: apiKeyPrefix.length, max: apiKeyPrefix.length + 35 })
  const letter = constantFrom(...base62.split(''))
  assert(
    property(enoughBytes, position, letter, (bytes, at, wrong) => {
      const key = makeKey(apiKeyPrefix, bytes)
      const typed = key.slice(0, at) + wrong + key.slice(at + 1)
      expect(checkKey(apiKeyPrefix, typed)).toBe(typed === key ? 'ok' : 'mistyped')
    }),
  )
})

test('two neighbours swapped are a mistyped key', () => {
  assert(
    property(enoughBytes, integer({ min: 4, max: 38 }), (bytes, at) => {
      const key = makeKey(apiKeyPrefix, bytes)
      const typed = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2)
      expect(checkKey(apiKeyPrefix, typed)).toBe(typed === key ? 'ok' : 'mistyped')
    }),
  )
})

describe('not a key', () => {
  const key = makeKey(apiKeyPrefix, zeros)
  test.each([
    { what: 'empty', text: '' },
    { what: 'only the prefix', text: apiKeyPrefix },
    { what: 'one character short', text: key.slice(0, -1) },
    { what: 'one character long', text: `${key}0` },
    { what: 'of another prefix', text: key.replace('aqk_', 'aqs_') },
    { what: 'with a space', text: `${key.slice(0, -1)} ` },
    { what: 'with a letter of another alphabet', text: key.replace('0', 'é') },
    { what: 'with half a surrogate pair', text: key.replace('0', '\ud800') },
  ])('$what', ({ text }) => {
    expect(checkKey(apiKeyPrefix, text)).toBe('malformed')
  })
})

test('every byte that would favour a character is skipped', () => {
  const unfair = array(integer({ min: 248, max: 255 }), { maxLength: 20 })
  assert(
    property(enoughBytes, unfair, integer({ min: 0, max: 20 }), (bytes, skipped, at) => {
      const mixed = Uint8Array.from([...bytes.subarray(0, at), ...skipped, ...bytes.subarray(at)])
      expect(makeKey(apiKeyPrefix, mixed)).toBe(makeKey(apiKeyPrefix, bytes))
    }),
  )
})

test('every character comes from as many bytes as any other', () => {
  const counts = new Map<string, number>()
  for (let byte = 0; byte < 248; byte++) {
    const character = makeKey(
      apiKeyPrefix,
      zeros.map(() => byte),
    ).charAt(apiKeyPrefix.length)
    counts.set(character, (counts.get(character) ?? 0) + 1)
  }
  expect(counts.size).toBe(62)
  expect(new Set(counts.values())).toEqual(new Set([4]))
})

test('a key cannot be made from too few usable bytes', () => {
  expect(() => makeKey(apiKeyPrefix, new Uint8Array(29))).toThrow(RangeError)
  expect(() =>
    makeKey(
      apiKeyPrefix,
      zeros.map(() => 255),
    ),
  ).toThrow(RangeError)
  expect(checkKey(apiKeyPrefix, makeKey(apiKeyPrefix, new Uint8Array(30)))).toBe('ok')
})
