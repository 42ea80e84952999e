/** Checks a whole archive: each run, that the runs go on from one another, and that nothing else is there. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { VerifyOptions } from '../../anchor/verifier/airproof-verify.js'
import type { Keccak } from '../../core/proof/leaf.ts'
import { codeOf } from '../../runtime/exit.ts'
import { refuse } from '../exports/check-run.ts'
import { type Catalogue, type CatalogueRun, filesOf } from './catalogue.ts'
import { type CheckedRun, checkArchiveRun, checkBytes } from './check-archive-run.ts'
import { noEnd, parseRunManifest, type RunManifest } from './run-manifest.ts'

type Tools = {
  readonly folder: string
  readonly keccak: Keccak
  readonly pins: VerifyOptions
  readonly onRun?: (run: CheckedRun & { readonly run: number }) => void
}

/** @throws Refusal */
export async function checkArchive(catalogue: Catalogue, tools: Tools): Promise<void> {
  const { folder, onRun } = tools
  checkOrder(catalogue)
  await refuseUnlisted(folder, catalogue)
  for (const table of catalogue.tables) await checkBytes(folder, table)
  for (const listed of catalogue.runs) {
    const manifest = await readRun(folder, listed)
    // not an argument of `onRun?.()`: it would not be made without a listener
    const checked = await checkArchiveRun(manifest, tools)
    onRun?.({ run: listed.run, ...checked })
  }
}

/** That no run is left out: each begins where the one before ended, number by number. */
export function checkOrder({ runs, end }: Catalogue): void {
  let former = noEnd
  for (const [at, { run, before, after }] of runs.entries()) {
    if (run !== at + 1) refuse(`run ${at + 1} is not in the catalogue`)
    if (JSON.stringify(before) !== JSON.stringify(former))
      refuse(`run ${run} does not go on from where run ${at} ended`)
    former = after
  }
  if (JSON.stringify(end) !== JSON.stringify(former))
    refuse('the catalogue does not end where its last run does')
}

/** The manifest of a run that the catalogue lists, with the same files. @throws Refusal */
export async function readRun(folder: string, listed: CatalogueRun): Promise<RunManifest> {
  const path = listed.manifest
  const bytes = await readFile(join(folder, path)).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return refuse(`${path} is missing`)
    throw error
  })
  const isSame = createHash('sha256').update(bytes).digest('hex') === listed.sha256
  if (!isSame) refuse(`${path} is another file than the catalogue lists: a byte of it was changed`)
  const manifest = parseRunManifest(bytes.toString())
  if (manifest === undefined) return refuse(`${path} is not the manifest of a run`)
  const names = ['run', 'readings', 'files', 'hashes', 'before', 'after'] as const
  const other = names.find(
    (name) => JSON.stringify(manifest[name]) !== JSON.stringify(listed[name]),
  )
  if (other !== undefined) refuse(`${path} and the catalogue differ in ${other}`)
  return manifest
}

/** A reader of all files in a folder would believe one that no run vouches for. */
export async function refuseUnlisted(folder: string, catalogue: Catalogue): Promise<void> {
  const listed = new Set(filesOf(catalogue).map(({ path }) => path))
  for (const tree of ['readings', 'hashes', 'statistics', 'runs']) {
    const names = await readdir(join(folder, tree), { recursive: true, withFileTypes: true }).catch(
      (): never[] => [],
    )
    for (const entry of names) {
      if (entry.isDirectory()) continue
      const within = entry.parentPath.slice(join(folder, tree).length).replaceAll('\\', '/')
      const path = `${tree}${within}/${entry.name}`
      if (!listed.has(path)) refuse(`${path} is in the folder, and the catalogue does not list it`)
    }
  }
}
