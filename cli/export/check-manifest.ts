/**
 * Checks an export in one go: every row's leaf is made from its values, all leaves of a batch lead to
 * its root, the headers lead from head to head, and the last head of each run was anchored, which
 * the standalone verifier checks.
 */
import {
  type Verification,
  type VerifyOptions,
  verifyBundle,
} from '../../anchor/verifier/airproof-verify.js'
import { toHex } from '../../core/hex.ts'
import { endOf } from '../../core/proof/batch.ts'
import { chainFault, headerFault } from '../../core/proof/batch-faults.ts'
import { bundleText } from '../../core/proof/bundle.ts'
import { type Keccak, type LeafFields, leafEncoder } from '../../core/proof/leaf.ts'
import { foldMultiProof } from '../../core/proof/multi-proof.ts'
import { nodeHash } from '../../core/proof/tree.ts'
import type { BatchProof, ExportManifest, ExportRun } from './export-manifest.ts'
import { isNumberedBy } from './leaf-book.ts'
import type { ExportedRow } from './row-line.ts'

export type ExportCheck =
  | { readonly ok: false; readonly why: string }
  | {
      readonly ok: true
      readonly rows: number
      readonly notAnchored: number
      /** How much of each batch is here. */
      readonly parts: readonly BatchPart[]
      readonly batches: number
      /** Batches all of whose readings are in the export. */
      readonly wholeBatches: number
      readonly runs: readonly Verification[]
    }

/** So many of the readings that the batch counts. */
export type BatchPart = { readonly index: number; readonly rows: number; readonly count: number }

class Refusal extends Error {}
const refuse = (why: string): never => {
  throw new Refusal(why)
}

/** @param rows undefined: the line of that number is none */
export async function checkExport(
  manifest: ExportManifest,
  rows: AsyncIterable<ExportedRow | undefined>,
  { keccak, ...pins }: VerifyOptions & { readonly keccak: Keccak },
): Promise<ExportCheck> {
  try {
    const { groups, notAnchored, count } = await groupRows(rows, keccak)
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

type Leaf = { readonly hash: Uint8Array; readonly reading: LeafFields }
type Groups = ReadonlyMap<number, readonly Leaf[]>

async function groupRows(rows: AsyncIterable<ExportedRow | undefined>, keccak: Keccak) {
  const leafOf = leafEncoder(keccak)
  const groups = new Map<number, Leaf[]>()
  let [count, notAnchored] = [0, 0]
  for await (const row of rows) {
    count++
    if (row === undefined) return refuse(`row ${count} cannot be read`)
    const leaf = { hash: leafOf(row.reading), reading: row.reading }
    if (toHex(leaf.hash) !== row.hash)
      refuse(`row ${count} (${row.reading.sensor}) was changed: its values have another hash`)
    if (row.batch === null) notAnchored++
    else {
      const group = groups.get(row.batch)
      if (group === undefined) groups.set(row.batch, [leaf])
      else group.push(leaf)
    }
  }
  return { groups, notAnchored, count }
}

type RunTools = {
  readonly groups: Groups
  readonly proven: Set<number>
  readonly keccak: Keccak
  readonly pins: VerifyOptions
}

async function checkRun(run: ExportRun, tools: RunTools): Promise<Verification> {
  const { headers, proofs, chain } = run
  const { keccak, groups, proven, pins } = tools
  headers.forEach((header, at) => {
    const former = headers[at - 1]
    const fault = headerFault(header) ?? (former && chainFault(endOf(former, keccak), header))
    if (fault !== undefined) refuse(`the header of batch ${header.index} is at fault: ${fault}`)
  })
  let bundle: string | undefined
  for (const proof of proofs) {
    const header = headers.find(({ index }) => index === proof.index)
    if (header === undefined) return refuse(`there is no header of batch ${proof.index}`)
    if (proven.has(proof.index)) refuse(`batch ${proof.index} is proven twice`)
    const { leaves, folded } = foldBatch(proof, groups.get(proof.index) ?? [], header.count, keccak)
    if (toHex(folded.root) !== header.root)
      refuse(`the rows of batch ${proof.index} do not lead to its root: one was changed`)
    const stray = leaves.find(
      ({ reading: { seq, timeMs } }) =>
        !isNumberedBy(header, seq) || timeMs < header.timeMinMs || timeMs > header.timeMaxMs,
    )
    if (stray !== undefined) refuse(`batch ${proof.index} does not number ${stray.reading.seq}`)
    const numbers = new Set(leaves.map(({ reading: { seq } }) => seq))
    if (numbers.size < leaves.length) refuse(`two rows of batch ${proof.index} have one number`)
    proven.add(proof.index)
    const [first] = leaves
    if (header === headers.at(-1) && first !== undefined)
      bundle = bundleText({ reading: first.reading, path: folded.path, header, chain }, keccak)
  }
  if (bundle === undefined) return refuse('a run of batches ends without a row that is proven')
  const verification = await verifyBundle(bundle, pins)
  const failed = verification.checks.find(({ ok }) => !ok)
  if (failed !== undefined) refuse(`batch ${headers.at(-1)?.index}: ${failed.name}: ${failed.why}`)
  return verification
}

function foldBatch(proof: BatchProof, group: readonly Leaf[], count: number, keccak: Keccak) {
  if (proof.rows !== group.length)
    refuse(`${group.length} rows of batch ${proof.index}, and the manifest counts ${proof.rows}`)
  const leaves = group.toSorted((a, b) => Buffer.compare(a.hash, b.hash))
  const hashes = leaves.map(({ hash }) => hash)
  return { leaves, folded: foldMultiProof(hashes, proof, count, nodeHash(keccak, 1)) }
}
