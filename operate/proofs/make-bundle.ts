/** The proof bundle of a reading, made when it is requested; the anchor process stores its parts. */

import type { DeviceSignature } from '../../core/air/device-signature.ts'
import type { Reading } from '../../core/air/reading.ts'
import { bundleText, type ChainProof } from '../../core/proof/bundle.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { hourMs } from '../../core/time.ts'
import { createCache } from '../../runtime/cache.ts'
import type { Anchored } from '../../schemas/anchoring/batch-record.ts'
import type { BatchIndex } from './batch-index.ts'
import type { Verdict } from './prove-reading.ts'

type Options = {
  readonly index: Pick<BatchIndex, 'anchored'>
  /** What bucket `proofs` holds of a batch. */
  readonly chainProofOf: (index: number) => Promise<ChainProof | undefined>
  readonly keccak: Keccak
  readonly nowMs: () => number
}

/**
 * @returns the bundle's text; undefined where the batch is not final. A final batch stays provable
 * while no process reads the chain: the bundle has everything that a check needs.
 */
export type MakeBundle = (
  reading: Reading,
  verdict: Verdict,
  signatureOf: SignatureOf,
) => Promise<string | undefined>

/** What a device signed, as the store has it: asked only of readings that are signed. */
export type SignatureOf = (reading: Reading) => Promise<DeviceSignature | undefined>

export function createMakeBundle({ index, chainProofOf, keccak, nowMs }: Options): MakeBundle {
  const keep = createCache({ forMs: hourMs, most: 64, nowMs })
  const read = ({ index: batch, blockHash }: Anchored): Promise<ChainProof> =>
    keep({ what: 'chain proof', batch, blockHash }, async () => {
      const chain = await chainProofOf(batch)
      if (chain === undefined || chain.blockHash !== blockHash)
        throw new Error(`bucket proofs does not hold what belongs to batch ${batch}`)
      return chain
    })
  return async (reading, verdict, signatureOf) => {
    if (!('proof' in verdict)) return undefined
    const { header, path } = verdict.proof
    const anchored = index.anchored(header.index)
    if (anchored?.status !== 'final') return undefined
    const signature = reading.device === undefined ? undefined : await signatureOf(reading)
    if (reading.device !== undefined && signature === undefined)
      throw new Error(`the store has no signature of reading ${reading.seq}, which is signed`)
    const parts = { reading, path, header, chain: await read(anchored) }
    return bundleText(signature === undefined ? parts : { ...parts, signature }, keccak)
  }
}
