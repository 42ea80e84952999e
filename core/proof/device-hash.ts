import { type DeviceSignature, signatureAlgorithms } from '../air/device-signature.ts'
import { type Hex, toHex } from '../hex.ts'
import type { Keccak } from './leaf.ts'

/** The leaf's word on what its device signed: keccak256(algorithm ‖ public key ‖ signature). */
export function deviceHash(
  { algorithm, publicKey, signature }: Omit<DeviceSignature, 'text'>,
  keccak: Keccak,
): Hex {
  const parts = [publicKey, signature].map((text) => Buffer.from(text, 'base64'))
  return toHex(keccak(Buffer.concat([Buffer.of(signatureAlgorithms[algorithm]), ...parts])))
}
