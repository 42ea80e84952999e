import { quantityNames } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import { fewestValues, valueOf } from '../../core/air/values.ts'
import { toHex } from '../../core/hex.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { isDemonstrationChain } from '../../core/proof/demonstration-chain.ts'
import { leafValues } from '../../core/proof/leaf.ts'
import { proofUrl } from '../../core/proof/proof-path.ts'
import { secondMs } from '../../core/time.ts'
import type { BatchIndex } from '../../operate/proofs/batch-index.ts'
import type { ReadingProof, Verdict } from '../../operate/proofs/prove-reading.ts'
import type { Anchored } from '../../schemas/anchoring/batch-record.ts'
import { jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import {
  type ExpectedBy,
  needTime,
  type ProofSources,
  type ProvenReading,
  provenReading,
} from './proven-reading.ts'

type Options = ProofSources & {
  readonly index: BatchIndex
  readonly expectedBy: ExpectedBy
  /** The API's own address, from its settings. */
  readonly publicUrl: string
  /** An explorer's address, below which `/tx/<hash>` is; undefined: there is none. */
  readonly explorerUrl: string | undefined
  readonly nowMs: () => number
}

/** GET /v1/readings/{sensor_id}/verify: everything is looked up and computed for this request. */
export const verifyReading = (options: Options): Route => ({
  path: '/v1/readings/:sensor_id/verify',
  params: ['timestamp'],
  types: [jsonType],
  answer: async ({ names, params, asker }) => {
    const wanted = { asker, name: names['sensor_id'] ?? '', timeMs: needTime(params) }
    return jsonAnswer(bodyOf(await provenReading(options, wanted), options), { isOnce: true })
  },
})

function bodyOf(proven: ProvenReading, options: Options) {
  const { reading, verdict } = proven
  const { index, nowMs } = options
  const proof = 'proof' in verdict ? verdict.proof : undefined
  const anchored = proof && index.anchored(proof.header.index)
  const block = anchored?.status === 'sent' ? undefined : anchored
  const checkedMs = index.checked()?.checkedMs
  const ledger = block && ledgerOf(block, linkToTx(block.tx, proven, options), options)
  return {
    status: verdict.status,
    sensor_id: reading.sensor,
    timestamp: formatIsoMs(reading.timeMs),
    reason: 'why' in verdict ? verdict.why : null,
    reading_hash: verdict.hash,
    merkle_root: proof?.header.root ?? null,
    ledger_tx: ledger?.explorer_url ?? null,
    verified_at: verdict.status === 'verified' ? formatIsoMs(nowMs()) : null,
    anchored_at: timeOf(block),
    expected_by: isWaiting(verdict) ? formatIsoMs(options.expectedBy(verdict)) : null,
    chain_checked_at: checkedMs === undefined ? null : formatIsoMs(checkedMs),
    merkle_proof: proof === undefined ? null : merkleProof(proof),
    ledger: ledger ?? null,
    batch: proof === undefined ? null : batchOf(proof),
    reading: canonical(reading),
    proof_url:
      verdict.status === 'verified' ? proofUrl(options.publicUrl, reading, verdict.hash) : null,
  }
}

const timeOf = (block: Anchored | undefined): string | null =>
  typeof block?.blockTimeS === 'number' ? formatIsoMs(block.blockTimeS * secondMs) : null

const isWaiting = ({ status }: Verdict): boolean => status === 'pending' || status === 'anchoring'

const merkleProof = ({ header, path, leafIndex }: ReadingProof) => ({
  root: header.root,
  path: path.map(toHex),
  leaf_index: leafIndex,
  leaf_count: header.count,
})

const batchOf = ({ header }: ReadingProof) => ({
  index: header.index,
  first: header.first,
  last: header.last,
  sealed_at: formatIsoMs(header.sealedMs),
})

/** The transaction's page at the explorer; without an explorer, our own page of the reading. */
const linkToTx = (
  tx: string,
  { reading, verdict }: ProvenReading,
  { explorerUrl, publicUrl }: Options,
): string =>
  explorerUrl === undefined
    ? proofUrl(publicUrl, reading, verdict.hash)
    : `${explorerUrl.replace(/\/+$/, '')}/tx/${tx}`

function ledgerOf(block: Anchored, link: string, { index }: Options) {
  const deployment = index.deploymentOf(block.index)
  const checked = index.checked()
  return {
    tx_hash: block.tx,
    explorer_url: link,
    chain_id: deployment?.chainId ?? null,
    demonstration: deployment === undefined ? null : isDemonstrationChain(deployment.chainId),
    contract: deployment?.contract ?? null,
    block_number: block.block,
    block_hash: block.blockHash,
    finalized:
      checked === undefined ? null : { block_number: checked.number, block_hash: checked.hash },
  }
}

/** What the leaf is made of: whole numbers, in hundredths where they were measured. */
export const canonical = (reading: Reading) => ({
  sensor_id: reading.sensor,
  time_ms: reading.timeMs,
  seq: reading.seq,
  ...leafValues(reading),
  aqi: reading.aqi,
  ...(reading.leafVersion === 2 && moreOfLeaf2(reading)),
})

const moreOfLeaf2 = ({ leafVersion, area, flags, values, device }: Reading) => ({
  leaf_version: leafVersion,
  area,
  flags,
  device: device ?? null,
  ...Object.fromEntries(
    quantityNames.slice(fewestValues).flatMap((name) => {
      const value = valueOf(values, name)
      return value === null ? [] : [[name, value]]
    }),
  ),
})
