import { crc32 as crc32OfZlib } from 'node:zlib'
import { assert, property, uint8Array } from 'fast-check'
import { expect, test } from 'vitest'
import { crc32 } from '../../core/crc32.ts'

test('the check value of the CRC-32 catalogue', () => {
  expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926)
})

test('any bytes have the same checksum as with zlib', () => {
  assert(
    property(uint8Array({ maxLength: 300 }), (bytes) => {
      expect(crc32(bytes)).toBe(crc32OfZlib(bytes))
    }),
  )
})
