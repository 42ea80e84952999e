/** Bucket `proofs`, key = batch index: the chain's part of a batch's proof bundles. */

import type { ChainProof } from '../../core/proof/bundle.ts'
import { checkOf } from '../check.ts'

const whole = { type: 'integer', minimum: 0 } as const
const hash = { type: 'string', pattern: '^0x[0-9a-f]{64}$' } as const
const bytes = { type: 'string', pattern: '^0x([0-9a-f]{2})+$' } as const
const nodes = { type: 'array', items: bytes, minItems: 1, maxItems: 16 } as const
const object = { type: 'object', additionalProperties: false } as const

export const chainProofSchema = {
  $id: 'airproof/chain-proof',
  title: 'Where a batch was anchored, and the way there from a block’s hash',
  ...object,
  required: ['chainId', 'contract', 'txHash', 'txIndex', 'blockHash', 'blockNumber', 'blockTimeS'],
  properties: {
    chainId: whole,
    contract: { type: 'string', pattern: '^0x[0-9a-f]{40}$' },
    txHash: hash,
    txIndex: whole,
    blockHash: hash,
    blockNumber: whole,
    blockTimeS: { ...whole, description: 's since the epoch, as the block says' },
    tries: {
      ...object,
      description: 'absent where the block’s tries could not be rebuilt',
      required: ['blockHeader', 'transaction', 'receipt'],
      properties: { blockHeader: bytes, transaction: nodes, receipt: nodes },
    },
  },
} as const

const isRight = checkOf<ChainProof>(chainProofSchema)

export const parseChainProof = (value: unknown): ChainProof | undefined =>
  isRight(value) ? value : undefined
