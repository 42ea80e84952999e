/** Keeps a verified copy of an archive, run by run: what was verified once is not fetched again. */
import type { VerifyOptions } from '../../anchor/verifier/airproof-verify.js'
import type { Keccak } from '../../core/proof/leaf.ts'
import { catalogueFile, descriptionFiles } from '../../operate/archive/archive-layout.ts'
import {
  type Catalogue,
  type CatalogueRun,
  catalogueText,
  parseCatalogue,
} from '../../operate/archive/catalogue.ts'
import { checkOrder, readRun, refuseUnlisted } from '../../operate/archive/check-archive.ts'
import { checkArchiveRun } from '../../operate/archive/check-archive-run.ts'
import { putText } from '../../operate/archive/put-file.ts'
import { readCatalogue } from '../../operate/archive/read-catalogue.ts'
import { Refusal, refuse } from '../../operate/exports/check-run.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import { fetchFile, fetchText, type Source } from './fetch-file.ts'

type Options = {
  readonly source: Source
  readonly folder: string
  readonly keccak: Keccak
  readonly pins: VerifyOptions
  readonly onRun: (run: CatalogueRun, fetched: number) => void
}

export type Mirrored = {
  readonly catalogue: Catalogue
  readonly runs: number
  readonly bytes: number
}

/** How often a table may change while it is fetched. */
const mostChanges = 3

/** @throws Refusal, MustAct, TryAgain */
export async function mirrorArchive(options: Options): Promise<Mirrored> {
  const { source, folder, keccak, pins, onRun } = options
  let { catalogue, text } = await fetchCatalogue(source)
  const known = await readCatalogue(folder)
  checkSame(known, catalogue)
  let [runs, bytes] = [0, 0]
  for (const run of catalogue.runs.slice(known?.runs.length ?? 0)) {
    const { manifest: path } = run
    let fetched = await fetchFile(source, folder, { path, sha256: run.sha256, bytes: run.bytes })
    const manifest = await readRun(folder, run)
    for (const file of [...run.files, ...run.hashes])
      fetched += await fetchFile(source, folder, file)
    await checkArchiveRun(manifest, { folder, keccak, pins })
    // a copy that is stopped here goes on after this run
    await putText(folder, catalogueFile, catalogueText(upTo(catalogue, run, known)))
    runs++
    bytes += fetched
    onRun(run, fetched)
  }
  for (let change = 0; ; change++) {
    try {
      for (const table of catalogue.tables) bytes += await fetchFile(source, folder, table)
      break
    } catch (error) {
      // the archive went on meanwhile, and its tables were written again
      const later = await fetchCatalogue(source)
      if (later.text === text || change === mostChanges) throw error
      checkSame(catalogue, later.catalogue)
      if (later.catalogue.runs.length > catalogue.runs.length)
        throw new TryAgain('the archive went on while it was copied: call again', { cause: error })
      ;({ catalogue, text } = later)
    }
  }
  for (const name of descriptionFiles) await putText(folder, name, await fetchText(source, name))
  await putText(folder, catalogueFile, text)
  await refuseUnlisted(folder, catalogue)
  return { catalogue, runs, bytes }
}

async function fetchCatalogue(source: Source) {
  const text = await fetchText(source, catalogueFile)
  const catalogue = parseCatalogue(text)
  if (catalogue === undefined)
    throw new MustAct(`${source.base}${catalogueFile} is not the catalogue of an archive`)
  checkOrder(catalogue)
  return { catalogue, text }
}

/** An archive only grows: a run that was verified here is never another one later. */
function checkSame(known: Catalogue | undefined, now: Catalogue): void {
  for (const [at, run] of known?.runs.entries() ?? [])
    if (now.runs[at]?.sha256 !== run.sha256)
      refuse(
        now.runs[at] === undefined
          ? `run ${run.run}, which is in your copy, is not in the archive any more`
          : `run ${run.run} of the archive is not the one that is in your copy`,
      )
}

/** What is verified so far; until when it is complete is known at the end. */
function upTo(catalogue: Catalogue, last: CatalogueRun, known: Catalogue | undefined): Catalogue {
  const runs = catalogue.runs.filter(({ run }) => run <= last.run)
  const complete_until = known?.complete_until ?? null
  return { ...catalogue, runs, end: last.after, complete_until, tables: known?.tables ?? [] }
}

export const isRefusal = (error: unknown): error is Error =>
  error instanceof Refusal || error instanceof RangeError
