/** Signatures of devices in a READINGS message: a list of their own, so that other readings pay nothing. */
import { type DeviceSignature, signatureAlgorithms } from '../../core/air/device-signature.ts'
import { type Hex, isHash } from '../../core/hex.ts'

const text = { type: 'string' } as const

/** A row names a reading by its place in the message's list. */
export const signedItems = [
  { type: 'integer', description: 'place in the list' },
  { ...text, description: 'device: keccak256(algorithm ‖ public key ‖ signature), 0x and hex' },
  { enum: Object.keys(signatureAlgorithms), description: 'algorithm' },
  { ...text, description: 'public key, base64' },
  { ...text, description: 'signature, base64' },
  { ...text, description: 'what was signed' },
] as const

export type SignedRow = readonly [
  place: number,
  device: string,
  algorithm: DeviceSignature['algorithm'],
  publicKey: string,
  signature: string,
  text: string,
]

export type Signed = { readonly device?: Hex; readonly signed?: DeviceSignature }

export function signedRows(readings: readonly Signed[]): SignedRow[] {
  const rows: SignedRow[] = []
  for (let place = 0; place < readings.length; place++) {
    const { device, signed } = readings[place]!
    if (device === undefined || signed === undefined) continue
    const { algorithm, publicKey, signature } = signed
    rows.push([place, device, algorithm, publicKey, signature, signed.text])
  }
  return rows
}

/** @throws SyntaxError a row is not that of a reading of the list */
export function addSignatures<Reading extends Signed>(
  readings: readonly Reading[],
  rows: readonly SignedRow[],
): readonly Reading[] {
  if (rows.length === 0) return readings
  const added = [...readings]
  for (const [place, device, algorithm, publicKey, signature, signedText] of rows) {
    const reading = added[place]
    if (reading === undefined || reading.signed !== undefined || !isHash(device))
      throw new SyntaxError(`signature ${device} is not that of a reading of the message`)
    added[place] = {
      ...reading,
      device,
      signed: { algorithm, publicKey, signature, text: signedText },
    }
  }
  return added
}
