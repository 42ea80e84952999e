import type { BatchIndex } from '../../operate/proofs/batch-index.ts'
import type { OnChain, OnChainOf } from '../live/reading-json.ts'

const pending: OnChain = { verified: false, tx_hash: null, status: 'pending' }
const mismatch: OnChain = { verified: false, tx_hash: null, status: 'mismatch' }

/**
 * What a list says of each reading: how the batch of its number stands, from memory, at the time of
 * asking. That the row itself still hashes into that batch is what /verify finds out.
 */
export const onChainOf =
  (index: BatchIndex, nowMs: () => number): OnChainOf =>
  ({ seq }) => {
    const standing = index.standingOf(seq, nowMs())
    switch (standing.status) {
      case 'pending':
        return pending
      case 'broken':
        return mismatch
      case 'anchoring': {
        const anchored = index.anchored(standing.index)
        // before it is in a block, another transaction may still take its place
        const tx = anchored === undefined || anchored.block === null ? null : anchored.tx
        return { verified: false, tx_hash: tx, status: 'anchoring' }
      }
      case 'anchored':
        return { verified: true, tx_hash: standing.anchored.tx, status: 'verified' }
    }
  }
