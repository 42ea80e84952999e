/**
 * The audit: everything that was ever anchored, replayed from the contract's events and held
 * against what is published and what is in the database. It reads, and believes nothing but the
 * chain.
 */

import { zeroHash } from '../../core/hex.ts'
import { type BatchEnd, beforeFirst, endOf } from '../../core/proof/batch.ts'
import { type BatchHeader, headerHash } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import type { Deployment } from '../../schemas/anchoring/batch-record.ts'
import type { Anchored } from '../contract/registry.ts'
import { checkBlob, checkHeader } from './batch.ts'
import { checkStory, type Story } from './chain.ts'
import { type Coverage, coverageOf } from './coverage.ts'
import { collectFindings, type Finding, type Findings } from './findings.ts'
import type { AuditedRow } from './leaves.ts'
import { pendingRows, type Unanchored } from './pending.ts'
import { checkRows, type RowReport } from './rows.ts'

export type AuditOptions = {
  readonly story: Story
  readonly deployment: Deployment
  /** As published; undefined: it is not. */
  readonly headerOf: (index: number) => BatchHeader | undefined
  readonly blobs: BatchBlobs
  readonly isBlock: (hash: string) => Promise<boolean>
  readonly keccak: Keccak
  /** Headers, leaves and rows are looked at from this batch on; the events all are. */
  readonly from: number
  /** Which rows; `isAll`: there are no others, so a row that is not among them is missing. */
  readonly rows?: RowSource
  /** What rows that are not anchored yet are held against. */
  readonly unanchored: Unanchored
  /** A reading that arrived this long before the finalized block should be anchored in it. */
  readonly graceMs: number
  /** Since when an anchor process has run, by its own report; undefined: none runs. */
  readonly anchorSinceMs: number | undefined
  /** The contract was named by the auditor, not taken from the operator's record. */
  readonly isPinned: boolean
  readonly onBatch?: (index: number) => void
}

/** A check of what is not anchored, against what it is made from. */
export type DeepCheck = {
  /** Of what `coverageOf` calls not checked. */
  readonly covers: readonly string[]
  /** After all rows were read. */
  readonly run: (findings: Findings) => Promise<void>
}

export type RowSource = {
  readonly deep?: DeepCheck
  /** In words, to follow "read from". */
  readonly from: string
  readonly isAll: boolean
  /** Pages of rows, given the batches that are looked at. */
  readonly read: (headers: readonly BatchHeader[]) => AsyncIterable<readonly AuditedRow[]>
}

export type AuditReport = {
  readonly ok: boolean
  readonly chain_id: number
  readonly contract: string
  readonly contract_named: boolean
  /** The finalized block that it holds for. */
  readonly block: number
  readonly block_hash: string
  readonly anchors: number
  readonly from_batch: number
  readonly heartbeats: number
  readonly readings: number
  readonly leaves: number
  /** null: rows were not audited. */
  readonly rows: (RowReport & { readonly all: boolean; readonly from: string }) | null
  /** What a report without findings covers. */
  readonly covers: Coverage
  readonly findings: readonly Finding[]
  readonly findings_total: number
}

export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { story, deployment, keccak, from, isPinned } = options
  const findings = collectFindings()
  checkStory(story, deployment, { findings, keccak })
  const looked = story.anchors.filter(({ index }) => index >= from)
  const { headers, leaves } = await checkBatches(looked, options, findings)
  // the events of another contract prove no row
  const rows = story.isOurCode ? await checkAllRows(headers, options, findings) : null
  return {
    ok: findings.total() === 0,
    chain_id: deployment.chainId,
    contract: deployment.contract,
    contract_named: isPinned,
    block: story.finalized.number,
    block_hash: story.finalized.hash,
    anchors: story.anchors.length,
    from_batch: from,
    heartbeats: looked.filter(({ count }) => count === 0).length,
    readings: looked.reduce((sum, { count }) => sum + count, 0),
    leaves,
    rows,
    covers: coverageOf(rows, options.rows?.deep?.covers),
    findings: findings.list(),
    findings_total: findings.total(),
  }
}

async function checkBatches(
  looked: readonly Anchored[],
  options: AuditOptions,
  findings: Findings,
): Promise<{ readonly headers: readonly BatchHeader[]; readonly leaves: number }> {
  const { headerOf, blobs, isBlock, keccak, onBatch } = options
  const tools = { findings, keccak }
  const headers: BatchHeader[] = []
  let end: BatchEnd | undefined = endBefore(options)
  let leaves = 0
  for (const anchor of looked) {
    onBatch?.(anchor.index)
    const header = headerOf(anchor.index)
    const isHeader = checkHeader(header, anchor, end, tools)
    if (isHeader) headers.push(header)
    end = isHeader ? endOf(header, keccak) : undefined
    if (isHeader && header.beacon !== zeroHash && !(await isBlock(header.beacon)))
      findings.add('beacon', header.index, `batch ${header.index}: ${header.beacon} is not a block`)
    leaves += await checkBlob(blobs, anchor, tools)
  }
  return { headers, leaves }
}

async function checkAllRows(
  headers: readonly BatchHeader[],
  { rows, story, blobs, keccak, unanchored, graceMs, anchorSinceMs }: AuditOptions,
  findings: Findings,
): Promise<AuditReport['rows']> {
  if (rows === undefined) return null
  const { isAll, from } = rows
  const pending = pendingRows({ findings, keccak, blobs })
  const check = checkRows({ headers, blobs, keccak, findings, pending, isAll })
  for await (const page of rows.read(headers)) await check.add(page)
  if (isAll) check.findMissing()
  // after the rows: the log has whatever the store had
  const { last = 0, index = 0 } = story.anchors.at(-1) ?? {}
  await rows.deep?.run(findings)
  const dueMs = story.finalizedMs - graceMs
  await pending.check(unanchored, { last, index, dueMs, anchorSinceMs })
  return { all: isAll, from, ...check.report() }
}

/** Where the batch before the first one ended, as far as the chain vouches for it. */
function endBefore({
  from,
  story,
  deployment,
  headerOf,
  keccak,
}: AuditOptions): BatchEnd | undefined {
  if (from <= 1) return beforeFirst(deployment.chainId, deployment.contract, keccak)
  const anchor = story.anchors.find(({ index }) => index === from - 1)
  const header = headerOf(from - 1)
  const isKnown = anchor && header && headerHash(header, keccak) === anchor.headerHash
  return isKnown ? endOf(header, keccak) : undefined
}
