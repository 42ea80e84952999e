/**
 * The manifest of an export: what makes its rows checkable without us, all in one go. Rows of batches
 * that lie near one another share one run: headers without a gap, each naming the head of the one
 * before, and the proof that the last head was anchored.
 */

import { type Hex, hashBytes, toHex } from '../../core/hex.ts'
import type { ChainProof } from '../../core/proof/bundle.ts'
import type { ChainRecord } from '../../core/proof/chain-record.ts'
import { type BatchHeader, headerToWire } from '../../core/proof/header.ts'
import type { MultiProof } from '../../core/proof/multi-proof.ts'
import { MustAct } from '../../runtime/exit.ts'
import { checkOf } from '../../schemas/check.ts'
import type { Correction } from '../../schemas/corrections.ts'
import {
  type ExportVersion,
  export1,
  export2,
  exportVersions,
  manifestSchemas,
  type RowFormat,
} from './manifest-schema.ts'

export type BatchProof = MultiProof & {
  readonly index: number
  /** How many of its readings are in the export. */
  readonly rows: number
}

/** Batches of one contract, so all of one version: no head leads from one contract to the next. */
export type ExportRun = {
  /** Of version 2, and always there: what the head before the first header is the hash of. */
  readonly before?: ChainRecord
  readonly headers: readonly BatchHeader[]
  readonly proofs: readonly BatchProof[]
  /** Of the last header. */
  readonly chain: ChainProof
}

/** Which readings of the period are in an export: those that every field lets through. */
export type ExportFilter = {
  readonly sensors?: readonly string[]
  readonly areas?: readonly string[]
  readonly quality?: 'good' | 'suspect'
}

export type ExportManifest = {
  /** Absent: 1, in which there is nothing of version 2. */
  readonly version?: 2
  readonly rows: {
    /** Beside the manifest. */
    readonly file: string
    readonly format: RowFormat
    /** Of the file's bytes, hex. */
    readonly sha256: string
    readonly count: number
    /** Accepted, and in no batch that is final. */
    readonly notAnchored: number
    readonly from: string
    readonly to: string
    /** Only in version 2. Absent: every reading of the period. */
    readonly filter?: ExportFilter
    /** Only in version 2: whose values are in the rows, beside the raw ones. */
    readonly corrections?: readonly Correction[]
  }
  readonly runs: readonly ExportRun[]
}

/** As the schema has it; hashes as core has them. */
type Wire = {
  readonly format: string
  readonly rows: Omit<ExportManifest['rows'], 'notAnchored'> & { readonly not_anchored: number }
  readonly runs: readonly WireRun[]
}
export type WireRun = {
  /** Only in version 2. */
  readonly version?: ExportVersion
  /** Only of version 2, and always there. */
  readonly before?: WireRecord
  readonly headers: readonly WireHeader[]
  readonly proofs: readonly {
    readonly index: number
    readonly rows: number
    readonly places: readonly (readonly [number, number])[]
    readonly siblings: readonly Hex[]
  }[]
  readonly anchor: {
    readonly chain_id: number
    readonly contract: Hex
    readonly tx_hash: Hex
    readonly tx_index: number
    readonly block_hash: Hex
    readonly block_number: number
    readonly block_time_s: number
  }
  readonly block_header?: Hex
  readonly transaction_proof?: readonly Hex[]
  readonly receipt_proof?: readonly Hex[]
}
type WireHeader = ReturnType<typeof headerToWire>
type WireRecord = ReturnType<typeof recordToWire>

const checks = manifestSchemas.map((schema) => checkOf<Wire>(schema))

/**
 * @returns undefined if the text is not the manifest of an export
 * @throws MustAct if it is one of a version that is not known here
 */
export function parseManifest(json: string): ExportManifest | undefined {
  const value = jsonOf(json)
  if (!isWire(value)) {
    refuseOther(value)
    return undefined
  }
  const { not_anchored: notAnchored, ...rows } = value.rows
  return {
    ...(value.format === export2.format && { version: 2 }),
    rows: { ...rows, notAnchored },
    runs: value.runs.map(runOf),
  }
}

const isWire = (value: unknown): value is Wire => checks.some((check) => check(value))

export function manifestText(manifest: ExportManifest): string {
  const { version = 1, runs } = manifest
  const { notAnchored, ...rows } = manifest.rows
  const wire: Wire = {
    format: (version === 2 ? export2 : export1).format,
    rows: { ...rows, not_anchored: notAnchored },
    runs: runs.map(version === 2 ? runToWire2 : runToWire),
  }
  return `${JSON.stringify(wire)}\n`
}

function refuseOther(value: unknown): void {
  if (typeof value !== 'object' || value === null || !('format' in value)) return
  const { format } = value
  if (typeof format !== 'string' || !/^airproof\.export\.v\d{1,9}$/.test(format)) return
  const known: readonly string[] = exportVersions.map((version) => version.format)
  if (known.includes(format)) return
  throw new MustAct(
    `the export is of format ${format}, and this version of airproof reads ${known.join(', ')}: check it with the version that wrote it, or a newer one`,
  )
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What the headers of a run are, and so their leaves. */
export const versionOf = ({ headers: [header] }: ExportRun): ExportVersion => header?.version ?? 1

const recordToWire = ({ prevHead, index, root, headerHash, last, n }: ChainRecord) => ({
  prev_head: prevHead,
  index,
  root,
  header_hash: headerHash,
  last,
  n,
})

const recordOf = ({ prev_head, index, root, header_hash, last, n }: WireRecord): ChainRecord => ({
  prevHead: prev_head,
  index,
  root,
  headerHash: header_hash,
  last,
  n,
})

/** What only a run of an export of version 2 has. */
const ofVersion2 = (run: ExportRun): Pick<WireRun, 'version' | 'before'> => ({
  version: versionOf(run),
  ...(versionOf(run) === 2 && run.before && { before: recordToWire(run.before) }),
})

/** As an export of version 2 has it. */
export const runToWire2 = (run: ExportRun): WireRun => ({ ...ofVersion2(run), ...runToWire(run) })

const runToWire = ({ headers, proofs, chain }: ExportRun): WireRun => ({
  headers: headers.map(headerToWire),
  proofs: proofs.map(({ index, rows, places, siblings }) => ({
    index,
    rows,
    places,
    siblings: siblings.map(toHex),
  })),
  anchor: {
    chain_id: chain.chainId,
    contract: chain.contract,
    tx_hash: chain.txHash,
    tx_index: chain.txIndex,
    block_hash: chain.blockHash,
    block_number: chain.blockNumber,
    block_time_s: chain.blockTimeS,
  },
  ...(chain.tries === undefined
    ? {}
    : {
        block_header: chain.tries.blockHeader,
        transaction_proof: chain.tries.transaction,
        receipt_proof: chain.tries.receipt,
      }),
})

export function runOf({ version, before, headers, proofs, anchor, ...tries }: WireRun): ExportRun {
  const { block_header, transaction_proof, receipt_proof } = tries
  const isProof = block_header && transaction_proof && receipt_proof
  return {
    ...(before && { before: recordOf(before) }),
    headers: headers.map((header) => headerOf(header, version)),
    proofs: proofs.map(({ siblings, ...proof }) => ({
      ...proof,
      siblings: siblings.map(hashBytes),
    })),
    chain: {
      chainId: anchor.chain_id,
      contract: anchor.contract,
      txHash: anchor.tx_hash,
      txIndex: anchor.tx_index,
      blockHash: anchor.block_hash,
      blockNumber: anchor.block_number,
      blockTimeS: anchor.block_time_s,
      ...(isProof
        ? {
            tries: {
              blockHeader: block_header,
              transaction: transaction_proof,
              receipt: receipt_proof,
            },
          }
        : {}),
    },
  }
}

const headerOf = (wire: WireHeader, version: ExportVersion = 1): BatchHeader => ({
  ...(version === 2 && { version }),
  index: wire.index,
  prevHead: wire.prev_head,
  root: wire.root,
  first: wire.first,
  last: wire.last,
  count: wire.count,
  timeMinMs: wire.time_min_ms,
  timeMaxMs: wire.time_max_ms,
  sealedMs: wire.sealed_ms,
  beacon: wire.beacon,
  nFirst: wire.n_first,
  nLast: wire.n_last,
})
