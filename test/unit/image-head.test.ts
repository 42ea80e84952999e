/** The head of an image is taken as it was written, or not at all. */
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { decodeImageHead, encodeImageHead, type ImageHead } from '../../schemas/bucket-image.ts'

const head: ImageHead = {
  made: '2026-01-01T00:00:00Z',
  upTo: 9,
  newest: [[9, 1_767_225_600_000]],
  airproof: '0.2.0',
  shapes: [
    ['{"a":"', '"}'],
    ['[', ']'],
  ],
  place: 1,
  pieces: [1, 4_294_967_295],
}
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test('a head is read as it was written', () => {
  expect(decodeImageHead(bytesOf(encodeImageHead(head)))).toEqual(head)
})

test.each([
  ...Object.keys(head).map((name) => ({ [name]: undefined })),
  { made: 5 },
  { upTo: -1 },
  { newest: [[9]] },
  { newest: [[9, 'later']] },
  { airproof: null },
  { shapes: [[5]] },
  { shapes: ['{}'] },
  { place: 2 },
  { pieces: [] },
  { pieces: [0.5] },
])('a head with %o is damaged, although its checksum is right', (fault) => {
  const text = JSON.stringify({ ...head, ...fault })
  const written = JSON.stringify({ v: 1, checksum: crc32(text), head: text })
  expect(decodeImageHead(bytesOf(written))).toBeUndefined()
})
