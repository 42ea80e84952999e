/** Checks a run of the archive: its files are those of its manifest, and their rows those of its batches. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { Verification, VerifyOptions } from '../../anchor/verifier/airproof-verify.js'
import type { BatchHeader } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { codeOf } from '../../runtime/exit.ts'
import { createSignedFault } from '../../runtime/signed-reading.ts'
import { checkHeaders, refuse, verifyEnd } from '../exports/check-run.ts'
import type { ExportRun } from '../exports/export-manifest.ts'
import { dayEnd, dayStart, hashesFile, readingsFile } from './archive-layout.ts'
import type { ListedFile } from './catalogue.ts'
import { hashColumns } from './hash-columns.ts'
import { createLeafTable } from './leaf-table.ts'
import { readTable } from './parquet-table.ts'
import { type ArchivedRow, readingColumns, readRow } from './reading-columns.ts'
import type { ArchiveEnd, RunFile, RunManifest } from './run-manifest.ts'

export type CheckedRun = {
  readonly readings: number
  readonly batches: number
  /** Signed by their devices, each signature checked; those whose signature is not here. */
  readonly signed: number
  readonly unsigned: number
  readonly keys: ReadonlySet<string>
  readonly runs: readonly Verification[]
}

type Tools = { readonly folder: string; readonly keccak: Keccak; readonly pins: VerifyOptions }

/** @throws Refusal with the reason as a sentence */
export async function checkArchiveRun(manifest: RunManifest, tools: Tools): Promise<CheckedRun> {
  const { keccak, folder, pins } = tools
  const headers = checkBatches(manifest, keccak)
  checkPaths(manifest)
  const table = createLeafTable(headers, keccak)
  const signedFault = createSignedFault(keccak)
  const keys = new Set<string>()
  let [signed, unsigned] = [0, 0]
  for (const file of manifest.files) {
    await checkBytes(folder, file)
    const hashes = manifest.hashes.find(({ day }) => day === file.day)
    if (hashes !== undefined) await checkBytes(folder, hashes)
    const [fromMs, toMs] = [dayStart(file.day), dayEnd(file.day)]
    let row = 0
    const leaves: Uint8Array[] = []
    for await (const { reading, batch, signature } of rowsOf(folder, file)) {
      row++
      const refuseRow = (why: string): never =>
        refuse(`row ${row} of ${file.path} (${reading.sensor}) ${why}`)
      if (reading.timeMs < fromMs || reading.timeMs >= toMs) refuseRow('is of another day')
      const put = table.put(reading, signature)
      if ('why' in put) return refuseRow(put.why)
      if (put.batch !== batch) refuseRow(`is in batch ${put.batch}, and says ${batch}`)
      if (hashes !== undefined) leaves.push(put.leaf)
      if (reading.leafVersion !== 2 || reading.device === undefined) continue
      if (signature === undefined) unsigned++
      else {
        const fault = await signedFault(reading, signature)
        if (fault !== undefined) refuseRow(`is not signed as it says: ${fault}`)
        signed++
        keys.add(signature.publicKey)
      }
    }
    if (hashes !== undefined) await checkHashes(folder, hashes, leaves)
  }
  const fault = table.fault()
  if (fault !== undefined) refuse(fault)
  const runs: Verification[] = []
  for (const run of manifest.runs) {
    const last = run.headers.at(-1)?.index ?? 0
    runs.push(await verifyEnd(run, table.lastReading(last), { keccak, pins }))
  }
  const batches = headers.filter(({ count }) => count > 0).length
  return { readings: manifest.readings, batches, signed, unsigned, keys, runs }
}

/**
 * That the headers go on from one another and from `before` to `after`, number by number: no reading
 * that was accepted in between is in another batch.
 */
function checkBatches(
  { before, after, runs, readings }: RunManifest,
  keccak: Keccak,
): readonly BatchHeader[] {
  let end: ArchiveEnd = before
  for (const run of runs) {
    checkHeaders(run, keccak)
    checkWhole(run)
    for (const { index, last, nFirst, nLast } of run.headers) {
      if (index <= end.batch) refuse(`batch ${index} comes after batch ${end.batch}`)
      if (nFirst.some((n, partition) => n !== (end.n[partition] ?? 0) + 1))
        refuse(`the numbers of batch ${index} do not go on from those of batch ${end.batch}`)
      end = { batch: index, position: last, n: nLast }
    }
  }
  if (
    JSON.stringify(end) !==
    JSON.stringify({ batch: after.batch, position: after.position, n: after.n })
  )
    refuse(`the run ends with batch ${end.batch}, and the manifest says otherwise`)
  const headers = runs.flatMap((run) => run.headers)
  const count = headers.reduce((sum, header) => sum + header.count, 0)
  if (count !== readings)
    refuse(`its batches hold ${count} readings, and the manifest counts ${readings}`)
  return headers
}

/** That every batch with readings is here, and whole. */
function checkWhole({ headers, proofs }: ExportRun): void {
  const wanted = headers.filter(({ count }) => count > 0)
  const areWhole =
    proofs.length === wanted.length &&
    wanted.every(({ index, count }, at) => {
      const proof = proofs[at]
      const [[first, last] = [], ...more] = proof?.places ?? []
      const isWhole = first === 0 && last === count - 1 && more.length === 0
      return (
        proof?.index === index && proof.rows === count && isWhole && proof.siblings.length === 0
      )
    })
  if (!areWhole) refuse('a batch of the run is not whole')
}

/** One file a day, in the order of the days, each under its own name. */
function checkPaths({ run, files, hashes }: RunManifest): void {
  const kinds = [
    [files, readingsFile],
    [hashes, hashesFile],
  ] as const
  for (const [listed, nameOf] of kinds)
    for (const [at, { path, day }] of listed.entries()) {
      if (path !== nameOf(dayStart(day), run)) refuse(`${path} is not where run ${run} puts it`)
      const former = listed[at - 1]
      if (former !== undefined && former.day >= day) refuse(`${path} is not in the order of days`)
    }
  const stray = hashes.find(({ day, rows }) =>
    files.every((file) => file.day !== day || file.rows !== rows),
  )
  if (stray !== undefined) refuse(`${stray.path} belongs to no file of readings`)
}

async function checkHashes(
  folder: string,
  { path, rows }: RunFile,
  leaves: readonly Uint8Array[],
): Promise<void> {
  let row = 0
  for await (const { count, cell } of readTable(join(folder, path), {
    columns: hashColumns,
    rows,
    name: path,
  }))
    for (let i = 0; i < count; i++, row++) {
      const [hash, leaf] = [cell(1, i), leaves[row]]
      if (!(hash instanceof Uint8Array) || leaf === undefined || Buffer.compare(hash, leaf) !== 0)
        refuse(`row ${row + 1} of ${path} is not the hash of its reading`)
    }
}

/** @throws Refusal */
export async function* rowsOf(
  folder: string,
  { path, rows }: RunFile,
): AsyncGenerator<ArchivedRow> {
  let row = 0
  const table = readTable(join(folder, path), { columns: readingColumns, rows, name: path })
  for await (const part of table)
    for (let i = 0; i < part.count; i++) yield readRow(part, i, `row ${++row} of ${path}`)
}

/** @throws Refusal */
export async function checkBytes(
  folder: string,
  { path, sha256, bytes }: Omit<ListedFile, 'rows'>,
): Promise<void> {
  const digest = createHash('sha256')
  let size = 0
  try {
    for await (const chunk of createReadStream(join(folder, path)) as AsyncIterable<Buffer>) {
      digest.update(chunk)
      size += chunk.length
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    refuse(`${path} is missing`)
  }
  if (size !== bytes || digest.digest('hex') !== sha256)
    refuse(`${path} is another file than the manifest was made for: a byte of it was changed`)
}
