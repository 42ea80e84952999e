import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { hasLowS } from '../../core/air/device-signature.ts'
import { openKey, readPublicKey } from '../../runtime/device-key.ts'
import { createSigner, otherS } from '../support/device-signer.ts'

const ed25519 = generateKeyPairSync('ed25519')
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })

test('a public key is read as PEM and as base64 of DER, of the bare key, and of a point with or without its 4', () => {
  const { x = '' } = ed25519.publicKey.export({ format: 'jwk' })
  const bare = Buffer.from(x, 'base64url').toString('base64')
  const known = { algorithm: 'ed25519', publicKey: bare }
  const der = ed25519.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  const pem = ed25519.publicKey.export({ format: 'pem', type: 'spki' }).toString()
  for (const text of [bare, `${bare}\n`, der, pem]) expect(readPublicKey(text)).toEqual(known)

  const jwk = p256.publicKey.export({ format: 'jwk' })
  const [px, py] = [jwk.x ?? '', jwk.y ?? ''].map((text) => Buffer.from(text, 'base64url'))
  const point = Buffer.concat([px!, py!])
  const short = Buffer.concat([Buffer.of(2 + (py!.at(-1)! & 1)), px!])
  const ofP256 = { algorithm: 'p256', publicKey: short.toString('base64') }
  const pemOfP256 = p256.publicKey.export({ format: 'pem', type: 'spki' }).toString()
  const forms = [short, point, Buffer.concat([Buffer.of(4), point])]
  for (const text of [pemOfP256, ...forms.map((bytes) => bytes.toString('base64'))])
    expect(readPublicKey(text)).toEqual(ofP256)
})

test('what is not a public key of a device is refused in words, a private key above all', () => {
  const pem = { format: 'pem', type: 'pkcs8' } as const
  expect(readPublicKey(ed25519.privateKey.export(pem).toString())).toMatch(
    /must not leave the device/,
  )
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
  const ofRsa = rsa.export({ format: 'pem', type: 'spki' }).toString()
  expect(readPublicKey(ofRsa)).toMatch(/neither Ed25519 nor P-256/)
  for (const text of [
    '',
    'none',
    'AAAA',
    '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
  ])
    expect(readPublicKey(text)).toMatch(/^a public key is PEM, or base64/)
})

test('no device has a key that is not a point of the curve, or of small order: many texts fit one signature of it', () => {
  const none = (bytes: Uint8Array, algorithm: 'ed25519' | 'p256') => {
    const publicKey = Buffer.from(bytes).toString('base64')
    expect(openKey({ algorithm, publicKey })).toBeUndefined()
    expect(readPublicKey(publicKey)).toBe(`no device can have this key of ${algorithm}`)
  }
  const small = [
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000000',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    // 1 again, above p
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    // the sign of x does not matter
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ]
  for (const hex of small) none(Buffer.from(hex, 'hex'), 'ed25519')
  // y = 2 is on no point, as RFC 8032's own decoding finds
  none(Buffer.concat([Buffer.of(2), Buffer.alloc(31)]), 'ed25519')
  none(Buffer.concat([Buffer.of(2), Buffer.alloc(32, 0xff)]), 'p256')
  none(Buffer.concat([Buffer.of(4), Buffer.alloc(32, 1)]), 'p256')
  // of 200 keys that were made at random none is refused
  for (let i = 0; i < 200; i++) {
    const { publicKey } = createSigner('ed25519', String(i))
    expect(openKey({ algorithm: 'ed25519', publicKey })).toBeDefined()
  }
})

test('of s and n − s one is low, with P-256; with Ed25519 s is below the order of the group', () => {
  const signature = createSigner('p256').sign('text')
  expect(hasLowS('p256', signature)).toBe(true)
  expect(hasLowS('p256', otherS(signature))).toBe(false)
  const half = (s: string): Buffer => Buffer.concat([Buffer.alloc(32), Buffer.from(s, 'hex')])
  const middle = '7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a'
  expect(hasLowS('p256', half(`${middle}8`))).toBe(true)
  expect(hasLowS('p256', half(`${middle}9`))).toBe(false)
  const order = `d3f55c1a631258d69cf7a2def9de14${'00'.repeat(15)}10`
  expect(hasLowS('ed25519', half(`ec${order}`))).toBe(true)
  expect(hasLowS('ed25519', half(`ed${order}`))).toBe(false)
})
