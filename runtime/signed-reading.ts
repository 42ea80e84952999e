/**
 * Whether a reading that is kept was signed as it says: what a verifier checks of a bundle, for many
 * readings. Which key a sensor has is for the registry to say, not for this.
 */
import type { KeyObject } from 'node:crypto'
import {
  bytesOfBase64,
  type DeviceSignature,
  hasLowS,
  signatureBytes,
} from '../core/air/device-signature.ts'
import { signedTextFault } from '../core/air/device-text.ts'
import type { Reading } from '../core/air/reading.ts'
import { BoundedMap } from '../core/bounded-map.ts'
import { deviceHash } from '../core/proof/device-hash.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import { isSignedBy, openKey } from './device-key.ts'

export type SignedReading = Pick<Reading, 'sensor' | 'timeMs' | 'values' | 'flags' | 'device'>

/**
 * @param signature what is kept of it; undefined: nothing
 * @returns why the reading is not signed as its `device` says, as a sentence; undefined: it is
 */
export type SignedFault = (
  reading: SignedReading,
  signature: DeviceSignature | undefined,
) => Promise<string | undefined>

/** A device has one key, rarely two. */
const rememberedKeys = 10_000

export function createSignedFault(keccak: Keccak): SignedFault {
  const opened = new BoundedMap<string, KeyObject | undefined>(rememberedKeys)
  const keyOf = (signature: DeviceSignature): KeyObject | undefined => {
    const name = `${signature.algorithm} ${signature.publicKey}`
    if (!opened.has(name)) opened.set(name, openKey(signature))
    return opened.get(name)
  }
  return async (reading, signature) => {
    if (signature === undefined) return 'what its device signed is not there'
    const { algorithm, text } = signature
    if (reading.device !== deviceHash(signature, keccak))
      return 'the signature is not the one whose hash is in its leaf'
    const bytes = bytesOfBase64(signature.signature, signatureBytes)
    if (bytes === undefined) return `the signature is not ${signatureBytes} bytes in base64`
    const key = keyOf(signature)
    if (key === undefined) return `no device can have its key of ${algorithm}`
    if (!hasLowS(algorithm, bytes)) return 'the s of its signature is above half of the order'
    if (!(await isSignedBy(signature, key, text, bytes))) return 'its key did not sign the text'
    return signedTextFault(text, reading)
  }
}
