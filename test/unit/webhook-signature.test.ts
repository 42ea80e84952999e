import { readFileSync } from 'node:fs'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { deliveryId } from '../../notifier/sources/payload.ts'
import { MustAct, WrongUsage } from '../../runtime/exit.ts'
import { newSecretKey, secretBox } from '../../runtime/secrets/seal-secret.ts'
import {
  serviceSignature,
  signatureHeaders,
  standardSignature,
} from '../../runtime/webhook-signature.ts'

type Vector = {
  secret: string
  id: string
  timestamp: number
  body: string
  standard: string
  service: string
}
const vector = JSON.parse(readFileSync('test/fixtures/webhook-vectors.json', 'utf8')) as Vector
const body = Buffer.from(vector.body)

test('both signatures match the published vector', () => {
  const signed = { id: vector.id, timestampSeconds: vector.timestamp, body }
  expect(standardSignature(vector.secret, signed)).toBe(vector.standard)
  expect(serviceSignature(vector.secret, body)).toBe(vector.service)
})

const now = Math.floor(Date.now() / 1_000)
const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

test('during a rotation a receiver with either secret accepts', () => {
  const signed = { id: 'msg_1', timestampSeconds: now, body }
  const headers = signatureHeaders({ secret: vector.secret, next: other }, signed)
  for (const secret of [vector.secret, other])
    expect(new StandardWebhook(secret).verify(vector.body, headers)).toEqual(
      JSON.parse(vector.body),
    )
  expect(headers['X-Service-Signature']).toBe(serviceSignature(vector.secret, body))
  expect(headers['X-Service-Signature-Next']).toBe(serviceSignature(other, body))
})

test('without a rotation there is one signature of each kind, under the configured name', () => {
  const signed = { id: 'msg_1', timestampSeconds: now, body }
  const headers = signatureHeaders({ secret: other }, signed, 'X-Airproof-Signature')
  expect(Object.keys(headers)).toEqual([
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'X-Airproof-Signature',
  ])
  expect(headers['webhook-signature']).not.toContain(' ')
  const changed = `${vector.body} `
  expect(() => new StandardWebhook(other).verify(changed, headers)).toThrow(/signature/i)
})

test('a delivery has one id, and another kind or webhook has another', () => {
  const id = deliveryId({ id: '17-0' }, 'aqi.high', 'wh_0000001')
  expect(id).toMatch(/^msg_[a-z2-7]{52}$/)
  expect(deliveryId({ id: '17-0' }, 'aqi.high', 'wh_0000001')).toBe(id)
  const others = [
    deliveryId({ id: '17-1' }, 'aqi.high', 'wh_0000001'),
    deliveryId({ id: '17-0' }, 'aqi.critical', 'wh_0000001'),
    deliveryId({ id: '17-0' }, 'aqi.high', 'wh_0000002'),
  ]
  expect(new Set([id, ...others]).size).toBe(4)
})

test('a sealed secret opens with its key, for its webhook, unchanged, and not otherwise', () => {
  const box = secretBox(newSecretKey())
  const sealed = box.seal(vector.secret, 'wh_1')
  expect(sealed).not.toContain(vector.secret.slice(6))
  expect(box.open(sealed, 'wh_1')).toBe(vector.secret)
  expect(box.seal(vector.secret, 'wh_1')).not.toBe(sealed)
  expect(() => box.open(sealed, 'wh_2')).toThrow(MustAct)
  expect(() => secretBox(newSecretKey()).open(sealed, 'wh_1')).toThrow(/AIRPROOF_SECRET_FILE/)
  const flipped = `${sealed.slice(0, -2)}${sealed.at(-2) === 'A' ? 'B' : 'A'}${sealed.at(-1)}`
  expect(() => box.open(flipped, 'wh_1')).toThrow(MustAct)
  expect(() => box.open('v1.', 'wh_1')).toThrow(MustAct)
})

test.each(['', 'short', 'g'.repeat(64), Buffer.alloc(31).toString('base64')])(
  'a key %j is refused in words',
  (key) => expect(() => secretBox(key)).toThrow(WrongUsage),
)

test('a key may be written in hex or in base 64', () => {
  const bytes = Buffer.alloc(32, 9)
  const sealed = secretBox(bytes.toString('hex')).seal('s', 'a')
  expect(secretBox(bytes.toString('base64')).open(sealed, 'a')).toBe('s')
})
