/** The stand-alone verifier, as it is published: loaded beside the pages, never part of them. */

import type { LeafValues } from '../../../../core/proof/leaf.ts'

export type Check = { readonly name: string; readonly ok: boolean; readonly why: string }

export type Verification = {
  readonly ok: boolean
  /** In order, up to the first that failed. */
  readonly checks: readonly Check[]
  /** What nobody asked for: neither yes nor no. */
  readonly notAsked: readonly { readonly name: string; readonly why: string }[]
  /** The operator runs the chain, so it proves nothing about time. */
  readonly demonstration: boolean
  /** In words, what is left to trust. */
  readonly trusts: readonly string[]
  readonly reading:
    | (LeafValues & {
        readonly sensor_id: string
        readonly timestamp: string
        readonly seq: number
        readonly aqi: number | null
      })
    | null
  readonly block: {
    readonly chainId: number
    readonly contract: string
    readonly number: number
    readonly hash: string
    readonly time: string
    readonly txHash: string
  } | null
}

type Verifier = {
  readonly verifyFile: (
    bytes: Uint8Array,
    options: { readonly trustedBlockHash?: string },
  ) => Promise<Verification>
}

export const verifierPath = '/airproof-verify.js'

/** @param blockHash from a source the reader trusts; '' for none */
export async function verify(bytes: Uint8Array, blockHash: string): Promise<Verification> {
  const { verifyFile }: Verifier = await import(/* @vite-ignore */ verifierPath)
  return verifyFile(bytes, blockHash === '' ? {} : { trustedBlockHash: blockHash })
}
