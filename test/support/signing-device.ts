/** A device that signs what it measures, as a sensor's firmware does. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { DeviceSignature, SignatureAlgorithm } from '../../core/air/device-signature.ts'
import { signatureAlgorithms } from '../../core/air/device-signature.ts'
import { type Hex, toHex } from '../../core/hex.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'

const keccak = await createKeccak()
const orderOfP256 = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

export type SigningDevice = {
  readonly sign: (text: string) => DeviceSignature
  /** P-256 only: the other signature of the same text, which is refused. */
  readonly signHigh: (text: string) => DeviceSignature
}

const asNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

/** −s signs the same text as s. */
function withS(signature: Buffer, isWanted: (s: bigint) => boolean): Buffer {
  const s = asNumber(signature.subarray(32))
  if (isWanted(s)) return signature
  const other = (orderOfP256 - s).toString(16).padStart(64, '0')
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(other, 'hex')])
}

const isLow = (s: bigint): boolean => s <= orderOfP256 / 2n

export function signingDevice(algorithm: SignatureAlgorithm): SigningDevice {
  const { privateKey, publicKey } =
    algorithm === 'ed25519'
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signed = (text: string, isWanted: (s: bigint) => boolean): DeviceSignature => {
    const bytes = Buffer.from(text)
    const signature =
      algorithm === 'ed25519'
        ? sign(null, bytes, privateKey)
        : withS(sign('sha256', bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' }), isWanted)
    return {
      algorithm,
      publicKey: rawKey(publicKey).toString('base64'),
      signature: signature.toString('base64'),
      text,
    }
  }
  return {
    sign: (text) => signed(text, isLow),
    signHigh: (text) => signed(text, (s) => !isLow(s)),
  }
}

function rawKey(key: KeyObject): Buffer {
  const { x = '', y = '', crv } = key.export({ format: 'jwk' })
  const bytes = Buffer.from(String(x), 'base64url')
  if (crv === 'Ed25519') return bytes
  const isOdd = (Buffer.from(String(y), 'base64url').at(-1) ?? 0) % 2 === 1
  return Buffer.concat([Buffer.of(isOdd ? 3 : 2), bytes])
}

/** The word of the leaf that holds the signature. */
export const deviceWord = ({ algorithm, publicKey, signature }: DeviceSignature): Hex => {
  const parts = [publicKey, signature].map((text) => Buffer.from(text, 'base64'))
  return toHex(keccak(Buffer.concat([Buffer.of(signatureAlgorithms[algorithm]), ...parts])))
}
