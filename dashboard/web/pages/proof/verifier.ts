/** The stand-alone verifier, as published: loaded beside the pages, never part of them. */
import type { Verification, verifyFile } from '../../../../anchor/verifier/airproof-verify.js'

type Verifier = { readonly verifyFile: typeof verifyFile }

export const verifierPath = '/airproof-verify.js'

/** @param blockHash from a source the reader trusts; '' for none */
export async function verify(bytes: Uint8Array, blockHash: string): Promise<Verification> {
  const verifier: Verifier = await import(/* @vite-ignore */ verifierPath)
  return verifier.verifyFile(bytes, blockHash === '' ? {} : { trustedBlockHash: blockHash })
}
