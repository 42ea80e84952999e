/** A device that signs its readings, as docs/sensors.md says: written apart from the code that checks it. */
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'

export type Algorithm = 'ed25519' | 'p256'
export type Signer = {
  readonly algorithm: Algorithm
  /** base64, as the registry has it. */
  readonly publicKey: string
  readonly privateKey: KeyObject
  readonly sign: (text: string) => Buffer
}

const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** The signature of the same text with the other s. */
export function otherS(signature: Uint8Array): Buffer {
  const s = n - BigInt(`0x${Buffer.from(signature.subarray(32)).toString('hex')}`)
  return Buffer.concat([
    signature.subarray(0, 32),
    Buffer.from(s.toString(16).padStart(64, '0'), 'hex'),
  ])
}

const isHigh = (signature: Uint8Array): boolean =>
  BigInt(`0x${Buffer.from(signature.subarray(32)).toString('hex')}`) > n / 2n

/** @param seed Ed25519: the same seed gives the same key */
export function createSigner(algorithm: Algorithm, seed?: string): Signer {
  const { privateKey, publicKey } = keysOf(algorithm, seed)
  return {
    algorithm,
    publicKey: Buffer.from(publicKey).toString('base64'),
    privateKey,
    sign: (text) => {
      if (algorithm === 'ed25519') return sign(null, Buffer.from(text), privateKey)
      const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
      const signature = sign('sha256', Buffer.from(text), key)
      return isHigh(signature) ? otherS(signature) : signature
    },
  }
}

function keysOf(
  algorithm: Algorithm,
  seed: string | undefined,
): { readonly privateKey: KeyObject; readonly publicKey: Uint8Array } {
  if (algorithm === 'p256') {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    const isOdd = (Buffer.from(y, 'base64url').at(-1) ?? 0) & 1
    return {
      privateKey,
      publicKey: Buffer.concat([Buffer.of(2 + isOdd), Buffer.from(x, 'base64url')]),
    }
  }
  const privateKey =
    seed === undefined
      ? generateKeyPairSync('ed25519').privateKey
      : createPrivateKey({
          key: Buffer.concat([
            Buffer.from('302e020100300506032b657004220420', 'hex'),
            createHash('sha256').update(seed).digest(),
          ]),
          format: 'der',
          type: 'pkcs8',
        })
  const { x = '' } = privateKey.export({ format: 'jwk' })
  return { privateKey, publicKey: Buffer.from(x, 'base64url') }
}

/** Values as their texts, already in the order of their names. */
export type Texts = readonly (readonly [name: string, text: string])[]

export const textOf = (sensor: string, timeMs: number, values: Texts): string =>
  `airproof.device.v1\n${sensor}\n${timeMs}\n${values.map(([name, text]) => `${name}=${text}`).join('\n')}`

/** The body of a signed reading, its numbers as their texts are. */
export function signedBody(
  signer: Pick<Signer, 'sign'>,
  { sensor, timeMs, values }: { sensor: string; timeMs: number; values: Texts },
): string {
  const sig = signer.sign(textOf(sensor, timeMs, values)).toString('base64')
  const fields = values.map(([name, text]) => `"${name}":${text}`).join(',')
  return `{"timestamp":"${new Date(timeMs).toISOString()}",${fields},"sig":"${sig}"}`
}
