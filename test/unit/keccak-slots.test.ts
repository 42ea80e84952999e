import { beforeAll, expect, test } from 'vitest'
import type { Keccak } from '../../core/proof/leaf.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { keccakSlots } from '../../runtime/hashes/keccak-slots.ts'

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

test('no bytes have the hash that Ethereum knows', () => {
  const slots = keccakSlots({ count: 1, messageBytes: 0 })
  slots.end(0, 0)
  expect(hex(slots.hash(1))).toBe(
    'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  )
})

test.each([1, 2, 3, 4])('messages of %i blocks have the hashes of another library', (blocks) => {
  // every length there is, and twice, so that what is left of a longer one would show
  const count = 136
  const slots = keccakSlots({ count, messageBytes: (blocks - 1) * 136 })
  for (const seed of [1, 2]) {
    const messages = Array.from({ length: count }, (_, slot) => {
      const length = (blocks - 1) * 136 + (seed === 1 ? slot : count - 1 - slot)
      return Uint8Array.from({ length }, (_byte, i) => (i * 31 + length * 7 + seed) % 256)
    })
    messages.forEach((message, slot) => {
      slots.bytes.set(message, slot * slots.slotBytes)
      slots.end(slot, message.length)
    })
    const hashes = hex(slots.hash(count))
    expect(hashes).toBe(messages.map((message) => hex(keccak(message))).join(''))
    // fewer, and an odd number
    expect(hex(slots.hash(3))).toBe(hashes.slice(0, 3 * 64))
  }
})

test('a message of another number of blocks, and more hashes than slots, are refused', () => {
  const slots = keccakSlots({ count: 2, messageBytes: 140 })
  expect(() => slots.end(0, 135)).toThrow('135 bytes are not 2 blocks')
  expect(() => slots.end(0, 272)).toThrow('272 bytes are not 2 blocks')
  expect(() => slots.hash(0)).toThrow(RangeError)
  expect(() => slots.hash(3)).toThrow('3 of 2 slots')
})
