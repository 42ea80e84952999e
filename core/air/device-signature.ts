/** The algorithms with which a device may sign; the byte of each is hashed into `Reading.device`. */
export const signatureAlgorithms = { ed25519: 1, p256: 2 } as const
export type SignatureAlgorithm = keyof typeof signatureAlgorithms

export const isSignatureAlgorithm = (name: unknown): name is SignatureAlgorithm =>
  typeof name === 'string' && Object.hasOwn(signatureAlgorithms, name)

/** A device's signature of one reading, with all that is needed to check it. base64 has its padding. */
export type DeviceSignature = {
  readonly algorithm: SignatureAlgorithm
  /** base64: 32 bytes for Ed25519, the 33 of the compressed point for P-256. */
  readonly publicKey: string
  /** base64, 64 bytes. */
  readonly signature: string
  /** What was signed, exactly. */
  readonly text: string
}

export const publicKeyBytes = { ed25519: 32, p256: 33 } as const satisfies Record<
  SignatureAlgorithm,
  number
>
export const signatureBytes = 64

/** @returns undefined unless `text` is the one base64 text of `length` bytes */
export function bytesOfBase64(text: unknown, length: number): Uint8Array | undefined {
  if (typeof text !== 'string' || text.length !== 4 * Math.ceil(length / 3)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined
}

const order = {
  ed25519: 2n ** 252n + 27742317777372353535851937790883648493n,
  p256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
} as const
/** −s signs the same text as s with P-256: one of the two is taken, so that a signature has one spelling. */
const largestS = { ed25519: order.ed25519 - 1n, p256: order.p256 / 2n } as const

const littleEndian = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
const bigEndian = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

/** @param signature 64 bytes @returns whether its second half is the smallest that says the same */
export function hasLowS(algorithm: SignatureAlgorithm, signature: Uint8Array): boolean {
  const half = signature.subarray(signatureBytes / 2)
  const s = algorithm === 'p256' ? bigEndian(half) : littleEndian(half)
  return s <= largestS[algorithm]
}
