import { createXXHash128 } from 'hash-wasm'

/**
 * Tells versions of the same bytes apart, at some 7 GB/s: three to five times as fast as a
 * cryptographic hash, which is not needed here: no client gains by two bodies with one digest.
 */
export type Digest = (bytes: Uint8Array) => string

/** Loads WebAssembly once, then is synchronous. */
export async function createDigest(): Promise<Digest> {
  const hasher = await createXXHash128()
  return (bytes) => hasher.init().update(bytes).digest('hex')
}
