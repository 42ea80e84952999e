/** Public keys of devices: how they are read from what an operator has, and how they check a signature. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import {
  bytesOfBase64,
  publicKeyBytes,
  type SignatureAlgorithm,
} from '../core/air/device-signature.ts'
import { isEd25519Key } from '../core/air/ed25519-key.ts'

/** The bytes of DER in front of the key's own (RFC 8410; RFC 5480 with the compressed point). */
const derPrefix = {
  ed25519: Buffer.from('302a300506032b6570032100', 'hex'),
  p256: Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex'),
} as const

export type DeviceKey = {
  readonly algorithm: SignatureAlgorithm
  /** base64, as in `DeviceSignature`. */
  readonly publicKey: string
}

/** @returns undefined where no device can have this key */
export function openKey({ algorithm, publicKey }: DeviceKey): KeyObject | undefined {
  const bytes = bytesOfBase64(publicKey, publicKeyBytes[algorithm])
  if (bytes === undefined || (algorithm === 'ed25519' && !isEd25519Key(bytes))) return undefined
  try {
    return createPublicKey({
      key: Buffer.concat([derPrefix[algorithm], bytes]),
      format: 'der',
      type: 'spki',
    })
  } catch {
    return undefined
  }
}

/** Works in libuv's pool, not in the main loop. @param signature 64 bytes, r ‖ s with P-256 */
export const isSignedBy = (
  { algorithm }: DeviceKey,
  key: KeyObject,
  text: string,
  signature: Uint8Array,
): Promise<boolean> =>
  new Promise((resolve, reject) => {
    verify(
      algorithm === 'p256' ? 'sha256' : null,
      Buffer.from(text),
      { key, dsaEncoding: 'ieee-p1363' },
      signature,
      (error, isGood) => {
        if (error === null) resolve(isGood)
        else reject(error)
      },
    )
  })

/**
 * A public key as tools write it: PEM, or base64 of DER, of the bare key, or of the uncompressed point.
 * @returns the key, or what is wrong with it as a sentence
 */
export function readPublicKey(text: string): DeviceKey | string {
  const trimmed = text.trim()
  if (/PRIVATE KEY/.test(trimmed))
    return 'this is a private key, which must not leave the device: give its public key (`openssl pkey -pubout`)'
  const known = trimmed.startsWith('-----BEGIN')
    ? fromSpki(trimmed)
    : fromBytes(Buffer.from(trimmed.replaceAll(/\s/g, ''), 'base64'), trimmed)
  if (typeof known === 'string') return known
  if (openKey(known) === undefined) return `no device can have this key of ${known.algorithm}`
  return known
}

const notOurs =
  'a public key is PEM, or base64: 32 bytes for ed25519, or a point of P-256 of 33, 64 or 65'

function fromBytes(bytes: Buffer, text: string): DeviceKey | string {
  if (!/^[A-Za-z0-9+/\s]+=*$/.test(text)) return notOurs
  if (bytes.length === publicKeyBytes.ed25519) return keyOf('ed25519', bytes)
  if (bytes.length === publicKeyBytes.p256) return keyOf('p256', bytes)
  // secure elements leave out the byte 4 in front of the point
  if (bytes.length === 64) return keyOf('p256', compressed(bytes))
  if (bytes.length === 65 && bytes[0] === 4) return keyOf('p256', compressed(bytes.subarray(1)))
  return fromSpki({ key: bytes, format: 'der', type: 'spki' })
}

function fromSpki(key: Parameters<typeof createPublicKey>[0]): DeviceKey | string {
  try {
    return publicKeyOf(createPublicKey(key))
  } catch {
    return notOurs
  }
}

/** @param key a public key, or the private key of one @returns why it is none of ours, as a sentence */
export function publicKeyOf(key: KeyObject): DeviceKey | string {
  const isOurs = key.asymmetricKeyType === 'ed25519' || key.asymmetricKeyType === 'ec'
  const { crv, x = '', y = '' } = isOurs ? key.export({ format: 'jwk' }) : {}
  const [xBytes, yBytes] = [Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]
  if (crv === 'Ed25519') return keyOf('ed25519', xBytes)
  if (crv === 'P-256') return keyOf('p256', compressed(Buffer.concat([xBytes, yBytes])))
  return 'the key is of neither Ed25519 nor P-256: make one of these'
}

/** @param point x ‖ y */
const compressed = (point: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.of(2 + (point[63]! & 1)), point.subarray(0, 32)])

const keyOf = (algorithm: SignatureAlgorithm, bytes: Uint8Array): DeviceKey => ({
  algorithm,
  publicKey: Buffer.from(bytes).toString('base64'),
})
