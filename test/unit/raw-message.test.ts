import type { Msg } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { type RawMessage, rawsAtHand } from '../../pipeline/intake/raw-message.ts'
import { readDelivered } from '../../pipeline/intake/raw-pull.ts'

const data = new Uint8Array([1])
const delivered = (reply: string | undefined) =>
  readDelivered({ subject: 'air.raw.3.NGR-LOS-IKJ-001', reply, data } as Msg)
const raw: RawMessage = {
  seq: 4_294_967_297,
  arrivedMs: 1_763_712_000_123,
  sensor: 'NGR-LOS-IKJ-001',
  isAgain: false,
  data,
}
const tail = '1.4294967297.17.1763712000123456789.42'

test.each([
  ['of a server alone', `$JS.ACK.RAW_3.abc.${tail}`],
  ['with domain and account', `$JS.ACK.hub.ACC.RAW_3.abc.${tail}`],
  ['with domain, account and a random end', `$JS.ACK.hub.ACC.RAW_3.abc.${tail}.x7`],
])('what JetStream says of a message is read by position, %s', (_name, reply) => {
  expect(delivered(reply)).toEqual({ raw, delivery: 17, pending: 42 })
})

test('what the operator sent again is known by its subject, which no sensor may publish to', () => {
  const reply = `$JS.ACK.RAW_3.abc.${tail}`
  const again = readDelivered({ subject: 'air.again.3.NGR-LOS-IKJ-001', reply, data } as Msg)
  expect(again?.raw).toEqual({ ...raw, isAgain: true })
})

test.each([undefined, '', '_INBOX.abc', '$JS.ACK.RAW_3.abc.1.2'])(
  'a message that no stream delivered (%s) is none',
  (reply) => {
    expect(delivered(reply)).toBeUndefined()
  },
)

test('raw messages at hand are found by sequence, over gaps', () => {
  const raws = [3, 4, 9, 12].map((seq) => ({ ...raw, seq }))
  const find = rawsAtHand(raws)
  expect([2, 3, 4, 5, 9, 12, 13].map((seq) => find(seq)?.seq)).toEqual([
    undefined,
    3,
    4,
    undefined,
    9,
    12,
    undefined,
  ])
})
