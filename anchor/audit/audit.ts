/**
 * The audit: everything that was ever anchored, replayed from the contract's events and held
 * against what is published and what is in the database. It reads, and believes nothing but the
 * chain.
 */

import { zeroHash } from '../../core/hex.ts'
import { type BatchEnd, endOf } from '../../core/proof/batch.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import type { ContractVersion } from '../../schemas/anchoring/contract-code.ts'
import { abandonedOf, checkAbandoned } from './abandoned.ts'
import { checkBlob, checkHeader, hashOf } from './batch.ts'
import { checkStory } from './chain.ts'
import { type Coverage, coverageOf } from './coverage.ts'
import { type Expired, heldBy } from './expired.ts'
import { collectFindings, type Finding, type Findings } from './findings.ts'
import type { AuditedRow } from './leaves.ts'
import { countedOf, type Part, partsOf, startOfPart } from './parts.ts'
import { pendingRows, type Unanchored } from './pending.ts'
import { checkRows, type RowReport } from './rows.ts'
import type { Story } from './story.ts'

export type AuditOptions = {
  readonly story: Story
  /** As published; undefined: it is not. */
  readonly headerOf: (index: number) => BatchHeader | undefined
  readonly blobs: BatchBlobs
  readonly isBlock: (hash: string) => Promise<boolean>
  readonly keccak: Keccak
  /** Headers, leaves and rows are looked at from this batch on; the events all are. */
  readonly from: number
  /** Which rows; `isAll`: there are no others, so a row that is not among them is missing. */
  readonly rows?: RowSource
  /** What the operator let go; undefined: nothing, by the record. */
  readonly expired?: Expired
  /** What rows that are not anchored yet are held against. */
  readonly unanchored: Unanchored
  /** A reading that arrived this long before the finalized block should be anchored in it. */
  readonly graceMs: number
  /** Since when an anchor process has run, by its own report; undefined: none runs. */
  readonly anchorSinceMs: number | undefined
  /** The contract was named by the auditor, not taken from the operator's record. */
  readonly isPinned: boolean
  /** Contracts of which the auditor knows that their writer's key was stolen. */
  readonly thefts: ReadonlySet<string>
  readonly onBatch?: (index: number) => void
}

/** A check of what is not anchored, against what it is made from. */
export type DeepCheck = {
  /** Of what `coverageOf` calls not checked. */
  readonly covers: readonly string[]
  /** After all rows were read. @returns in words, what differs and is no finding */
  readonly run: (findings: Findings) => Promise<readonly string[]>
}

export type RowSource = {
  readonly deep?: DeepCheck
  /** In words, to follow "read from". */
  readonly from: string
  readonly isAll: boolean
  /** What is older the store may have dropped, because its retention says so. */
  readonly keptFromMs?: number
  /** Pages of rows, given the batches that are looked at. */
  readonly read: (headers: readonly BatchHeader[]) => AsyncIterable<readonly AuditedRow[]>
}

export type AuditReport = {
  readonly ok: boolean
  readonly chain_id: number
  /** The newest one, which counts for the newest batches. */
  readonly contract: string
  readonly contract_named: boolean
  /** The finalized block that it holds for. */
  readonly block: number
  readonly block_hash: string
  /** That count. */
  readonly anchors: number
  /** In the order that they were made. */
  readonly contracts: readonly AuditedContract[]
  readonly from_batch: number
  readonly heartbeats: number
  readonly readings: number
  readonly leaves: number
  /** null: rows were not audited. */
  readonly rows: (RowReport & Rows) | null
  /** What a report without findings covers. */
  readonly covers: Coverage
  readonly findings: readonly Finding[]
  readonly findings_total: number
}

type Rows = {
  readonly all: boolean
  readonly from: string
  /** In words, what `--deep` found to differ and did not count as wrong. */
  readonly excused: readonly string[]
}

export type AuditedContract = {
  readonly contract: string
  readonly version: ContractVersion
  /** How many of its anchors count, the first one of them of batch `first_batch`. */
  readonly first_batch: number
  readonly anchors: number
  /** Anchors after the batch from which a later contract goes on: they do not count. */
  readonly abandoned: number
  /** How many of these hold the readings of our batch of that index, which is anchored again in a later one, or will be. */
  readonly abandoned_ours: number
  /** Readings of the others: a thief's, or taken away. */
  readonly abandoned_readings: number
  /** A later contract goes on from it, and this account may still anchor in it; null: none, or it is in use. */
  readonly still_open_to: string | null
  /** The auditor named it as one whose writer's key was stolen. */
  readonly theft_named: boolean
}

export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { story, keccak, from, isPinned, headerOf, thefts } = options
  const findings = collectFindings()
  const parts = partsOf(story.contracts)
  checkStory(parts, story.finalized, { findings, keccak, headerOf })
  const dueMs = story.finalizedMs - options.graceMs
  const { anchorSinceMs } = options
  checkAbandoned(parts, { findings, headerOf, thefts, dueMs, anchorSinceMs })
  const looked = parts.flatMap(({ counted }) => counted.filter(({ index }) => index >= from))
  const { headers, leaves, gone } = await checkBatches(parts, options, findings)
  // the events of another contract prove no row
  const isOurs = parts.every(({ story }) => story.isOurCode)
  const rows = isOurs ? await checkAllRows({ parts, headers }, options, findings) : null
  tellUnchecked(gone, rows, findings)
  // another finding says more
  if (findings.total() === 0 && countedOf(parts) === 0)
    findings.add(
      'not_yet',
      undefined,
      'nothing is anchored yet, so nothing was held against the chain',
    )
  return {
    ok: findings.total() === 0,
    ...newestOf(parts),
    contract_named: isPinned,
    block: story.finalized.number,
    block_hash: story.finalized.hash,
    anchors: countedOf(parts),
    contracts: parts.map((part) => contractOf(part, parts, options)),
    from_batch: from,
    heartbeats: looked.filter(({ count }) => count === 0).length,
    readings: readingsOf(looked),
    leaves,
    rows,
    covers: coverageOf(rows, { headers, compared: options.rows?.deep?.covers ?? [] }),
    findings: findings.list(),
    findings_total: findings.total(),
  }
}

const readingsOf = (anchors: readonly { readonly count: number }[]): number =>
  anchors.reduce((sum, { count }) => sum + count, 0)

function newestOf(parts: readonly Part[]) {
  const newest = parts.at(-1)
  if (newest === undefined) throw new RangeError('an audit of no contract')
  const { chainId, contract } = newest.story.deployment
  return { chain_id: chainId, contract }
}

function contractOf(
  part: Part,
  parts: readonly Part[],
  { headerOf, thefts }: AuditOptions,
): AuditedContract {
  const { story, version, after, counted, abandoned } = part
  const { contract } = story.deployment
  const { foreign } = abandonedOf(part, parts, headerOf)
  return {
    contract,
    version,
    first_batch: after + 1,
    anchors: counted.length,
    abandoned: abandoned.length,
    abandoned_ours: abandoned.length - foreign.length,
    abandoned_readings: readingsOf(foreign),
    still_open_to: part === parts.at(-1) ? null : (story.writer ?? null),
    theft_named: thefts.has(contract),
  }
}

type Checked = {
  readonly headers: readonly BatchHeader[]
  readonly leaves: number
  /** Batches whose leaves were let go and could not be looked at. */
  readonly gone: number
}

function tellUnchecked(gone: number, rows: AuditReport['rows'], findings: Findings): void {
  const readings = rows?.not_checked ?? 0
  if (gone + readings === 0) return
  const parts = [
    ...(readings > 0 ? [`${readings} anchored readings`] : []),
    ...(gone > 0 ? [`the leaves of ${gone} batches`] : []),
  ]
  findings.add(
    'not_checked',
    undefined,
    `${parts.join(' and ')} are expired by the operator’s record, and no archive is at hand that shows them: name it with --archive-dir or AIRPROOF_ARCHIVE_DIR`,
  )
}

async function checkBatches(
  parts: readonly Part[],
  options: AuditOptions,
  findings: Findings,
): Promise<Checked> {
  const { headerOf, blobs, isBlock, keccak, from, onBatch } = options
  const tools = { findings, keccak }
  const headers: BatchHeader[] = []
  const expiredTo = options.expired?.blobsBeforeBatch ?? 0
  let [leaves, gone] = [0, 0]
  for (const part of parts) {
    let end: BatchEnd | undefined
    for (const [at, anchor] of part.counted.entries()) {
      if (anchor.index < from) continue
      onBatch?.(anchor.index)
      end ??= endBefore(part, at, options)
      const header = headerOf(anchor.index)
      const isHeader = checkHeader(header, anchor, end, tools)
      if (isHeader) headers.push(header)
      end = isHeader ? endOf(header, keccak) : undefined
      if (isHeader && header.beacon !== zeroHash && !(await isBlock(header.beacon)))
        findings.add(
          'beacon',
          header.index,
          `batch ${header.index}: ${header.beacon} is not a block`,
        )
      const counted = { ...anchor, version: part.version }
      const isExpired = anchor.index < expiredTo
      const own = isHeader ? header : undefined
      const read = await checkBlob(blobs, counted, own, { ...tools, isExpired })
      if (read === undefined) gone++
      else leaves += read
    }
  }
  return { headers, leaves, gone }
}

/** Where the batch before a place ended, as far as the chain vouches for it. */
function endBefore(
  part: Part,
  at: number,
  { headerOf, keccak }: AuditOptions,
): BatchEnd | undefined {
  const former = part.counted[at - 1]
  if (former === undefined) return startOfPart(part, keccak)
  const header = headerOf(former.index)
  const isKnown = header && hashOf(header, keccak) === former.headerHash
  return isKnown ? endOf(header, keccak) : undefined
}

async function checkAllRows(
  { parts, headers }: { readonly parts: readonly Part[]; readonly headers: readonly BatchHeader[] },
  { rows, story, blobs, keccak, unanchored, graceMs, anchorSinceMs, expired }: AuditOptions,
  findings: Findings,
): Promise<AuditReport['rows']> {
  if (rows === undefined) return null
  const { isAll, from, keptFromMs = -Infinity } = rows
  const pending = pendingRows({ findings, keccak, blobs })
  const blobsBeforeBatch = expired?.blobsBeforeBatch ?? 0
  const tools = { headers, blobs, keccak, findings, pending, isAll, blobsBeforeBatch }
  const check = checkRows(tools)
  for await (const page of rows.read(headers)) await check.add(page)
  if (isAll) {
    const held = expired && (await heldBy(expired, headers, findings))
    check.findMissing(keptFromMs, expired && { rawBeforeMs: expired.rawBeforeMs, held })
  }
  // after the rows: the log has whatever the store had
  const { last = 0, index = 0 } = parts.flatMap(({ counted }) => counted).at(-1) ?? {}
  const excused = (await rows.deep?.run(findings)) ?? []
  const dueMs = story.finalizedMs - graceMs
  await pending.check(unanchored, { last, index, dueMs, anchorSinceMs })
  const report = check.report()
  const anchored = readingsOf(headers)
  // a sample finds no missing rows, but none at all would say nothing of any
  if (!isAll && report.looked_at === 0 && anchored > 0)
    findings.add(
      'missing',
      undefined,
      `${from} gives no row, and ${anchored} readings are anchored in the batches looked at`,
    )
  return { all: isAll, from, excused, ...report }
}
