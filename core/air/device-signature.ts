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
