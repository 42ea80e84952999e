/**
 * Checks an export in one go: every row's leaf is made from its values, all leaves of a batch lead to
 * its root, the headers lead from head to head, and the last head of each run was anchored, which
 * the standalone verifier checks.
 */
import type { Verification, VerifyOptions } from '../../anchor/verifier/airproof-verify.js'
import { toHex } from '../../core/hex.ts'
import { type BatchHeader, batchVersionOf } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { foldMultiProof } from '../../core/proof/multi-proof.ts'
import { nodeHash, rankOf } from '../../core/proof/tree.ts'
import {
  checkHeaders,
  isNumberedBy,
  type LastReading,
  Refusal,
  refuse,
  verifyEnd,
} from '../../operate/exports/check-run.ts'
import type {
  BatchProof,
  ExportFilter,
  ExportManifest,
  ExportRun,
} from '../../operate/exports/export-manifest.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { type Groups, groupRows, type Leaf } from './group-rows.ts'
import type { ExportedRow } from './row-line.ts'

export type ExportCheck =
  | { readonly ok: false; readonly why: string }
  | {
      readonly ok: true
      readonly rows: number
      readonly notAnchored: number
      /** Absent: it claims to have every reading of its period. */
      readonly filter?: ExportFilter
      /** The models of corrected values, each of which follows from what is proven. */
      readonly corrections?: readonly Pick<Correction, 'name' | 'version' | 'hash'>[]
      /** Anchored, with a leaf of version 2. */
      readonly ofLeaf2: number
      /** Rows signed by their devices, and how many keys they used; each signature was checked. */
      readonly signed: number
      readonly keys: number
      /** How much of each batch is here. */
      readonly parts: readonly BatchPart[]
      readonly batches: number
      /** Batches all of whose readings are in the export. */
      readonly wholeBatches: number
      readonly runs: readonly Verification[]
    }

/** So many of the readings that the batch counts. */
export type BatchPart = { readonly index: number; readonly rows: number; readonly count: number }

/** @param rows a sentence: why the line of that number is not a row */
export async function checkExport(
  manifest: ExportManifest,
  rows: AsyncIterable<ExportedRow | string>,
  { keccak, ...pins }: VerifyOptions & { readonly keccak: Keccak },
): Promise<ExportCheck> {
  try {
    const { groups, keys, ...counted } = await groupRows(rows, manifest, keccak)
    const { count, notAnchored } = counted
    const { filter, corrections } = manifest.rows
    if (count !== manifest.rows.count)
      refuse(`${count} rows, and the manifest counts ${manifest.rows.count}`)
    if (notAnchored !== manifest.rows.notAnchored)
      refuse(
        `${notAnchored} rows are in no batch, and the manifest counts ${manifest.rows.notAnchored}`,
      )
    const proven = new Set<number>()
    const runs: Verification[] = []
    for (const run of manifest.runs)
      runs.push(await checkRun(run, { groups, proven, keccak, pins }))
    const unproven = [...groups.keys()].find((index) => !proven.has(index))
    if (unproven !== undefined) refuse(`there is no proof of the rows of batch ${unproven}`)
    // the pins are held against runs: without one nothing was asked of any chain
    if (manifest.runs.length === 0) refuse('nothing in it is anchored, so nothing is proven')
    const parts = manifest.runs.flatMap(({ headers, proofs }) =>
      proofs.map(({ index, rows: held }): BatchPart => {
        const { count: whole = 0 } = headers.find((header) => header.index === index) ?? {}
        return { index, rows: held, count: whole }
      }),
    )
    return {
      ok: true,
      rows: count,
      notAnchored,
      ...(filter && { filter }),
      ...(corrections && {
        corrections: corrections.map(({ name, version, hash }) => ({ name, version, hash })),
      }),
      ofLeaf2: counted.ofLeaf2,
      signed: counted.signed,
      keys: keys.size,
      parts,
      batches: proven.size,
      wholeBatches: parts.filter((part) => part.rows === part.count).length,
      runs,
    }
  } catch (error) {
    if (error instanceof Refusal || error instanceof RangeError)
      return { ok: false, why: error.message }
    throw error
  }
}

type RunTools = {
  readonly groups: Groups
  readonly proven: Set<number>
  readonly keccak: Keccak
  readonly pins: VerifyOptions
}

async function checkRun(run: ExportRun, tools: RunTools): Promise<Verification> {
  const { headers, proofs } = run
  const { keccak, groups, proven, pins } = tools
  checkHeaders(run, keccak)
  let last: LastReading | undefined
  for (const proof of proofs) {
    const header = headers.find(({ index }) => index === proof.index)
    if (header === undefined) return refuse(`there is no header of batch ${proof.index}`)
    if (proven.has(proof.index)) refuse(`batch ${proof.index} is proven twice`)
    const { leaves, folded } = foldBatch(proof, groups.get(proof.index) ?? [], header, keccak)
    proven.add(proof.index)
    const [first] = leaves
    if (header === headers.at(-1) && first !== undefined) {
      const { hash: _, ...of } = first
      last = { ...of, path: folded.path }
    }
  }
  return await verifyEnd(run, last, { keccak, pins })
}

/** That the rows of a batch are numbered by it, are in the places of its tree, and lead to its root. */
function foldBatch(proof: BatchProof, group: readonly Leaf[], header: BatchHeader, keccak: Keccak) {
  const { index } = proof
  const version = batchVersionOf(header)
  if (proof.rows !== group.length)
    refuse(`${group.length} rows of batch ${index}, and the manifest counts ${proof.rows}`)
  const other = group.find(({ reading: { leafVersion = 1 } }) => leafVersion !== version)
  if (other !== undefined) {
    const { seq, leafVersion = 1 } = other.reading
    refuse(
      `${seq} has a leaf of version ${leafVersion}, and batch ${index} is of version ${version}`,
    )
  }
  const stray = group.find(
    ({ reading: { seq, timeMs } }) =>
      !isNumberedBy(header, seq) || timeMs < header.timeMinMs || timeMs > header.timeMaxMs,
  )
  if (stray !== undefined) refuse(`batch ${index} does not number ${stray.reading.seq}`)
  const leaves =
    version === 2
      ? group.toSorted((a, b) => a.reading.seq - b.reading.seq)
      : group.toSorted((a, b) => Buffer.compare(a.hash, b.hash))
  if (version === 2 && !areRanks(proof.places, leaves, header))
    refuse(`the places of the rows of batch ${index} are not those of their numbers`)
  const hashes = leaves.map(({ hash }) => hash)
  const folded = foldMultiProof(hashes, proof, header.count, nodeHash(keccak, version))
  if (toHex(folded.root) !== header.root)
    refuse(`the rows of batch ${index} do not lead to its root: one was changed`)
  return { leaves, folded }
}

/** Whether each leaf is in the place of its number. @param leaves in the order of their numbers */
function areRanks(
  places: BatchProof['places'],
  leaves: readonly Leaf[],
  header: BatchHeader,
): boolean {
  const ranks = leaves.map(({ reading }) => rankOf(header, reading.seq)).values()
  for (const [first, last] of places)
    for (let place = first; place <= last; place++) if (ranks.next().value !== place) return false
  return ranks.next().done === true
}
