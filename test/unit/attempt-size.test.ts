import fc from 'fast-check'
import { expect, test } from 'vitest'
import { describeAnswer } from '../../notifier/send/describe-answer.ts'
import { sendLimits } from '../../notifier/send/send.ts'

const { keptBytes } = sendLimits
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
const answer = { status: 200, headers: [], body: new Uint8Array(0), isTruncated: true }

test('an answer takes at most 17 KiB in its attempt, whatever the receiver sends', () => {
  const header = fc.tuple(fc.string({ maxLength: 60 }), fc.string({ maxLength: 9_000 }))
  const body = fc.oneof(
    fc.uint8Array({ maxLength: keptBytes }),
    // each has six bytes as JSON
    fc.constantFrom(0, 1, 0x1f, 0x22, 0x61).map((byte) => new Uint8Array(keptBytes).fill(byte)),
    fc.string({ unit: 'grapheme', maxLength: 2_000 }).map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(fc.array(header, { maxLength: 300 }), body, (headers, sent) => {
      const kept = describeAnswer({ ...answer, headers, body: sent })
      expect(bytesOf(kept)).toBeLessThanOrEqual(17 * 1_024)
      expect(Buffer.from(kept.body, kept.body_encoding).length).toBeLessThanOrEqual(keptBytes)
    }),
  )
})

test('a body of which most must be escaped is kept as base64, and nothing of it is lost', () => {
  const body = new Uint8Array(keptBytes).fill(1)
  const kept = describeAnswer({ ...answer, body })
  expect(kept.body_encoding).toBe('base64')
  expect(Buffer.from(kept.body, 'base64').equals(body)).toBe(true)
  expect(describeAnswer({ ...answer, body: Buffer.from('{"ok":true}') })).toMatchObject({
    body: '{"ok":true}',
    body_encoding: 'utf8',
  })
})

test('headers are kept in their order, and of those that are too many it says how many', () => {
  const few: [string, string][] = [
    ['content-type', 'text/plain'],
    ['x-request', 'abc'],
  ]
  expect(describeAnswer({ ...answer, headers: few }).headers).toEqual(few)
  const long: [string, string] = ['x-long', 'a'.repeat(4_025)]
  expect(describeAnswer({ ...answer, headers: [...few, long, ...few, ...few] }).headers).toEqual([
    ...few,
    long,
    ['…', '4 more'],
  ])
})
