/**
 * The files of an archive that grows while it is read: which there are by its catalogue as it is now,
 * and their rows. A file is held against its hash when it is first read, and again when it was written.
 */
import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { AsyncBuffer } from 'hyparquet'
import { codeOf } from '../../runtime/exit.ts'
import { refuse } from '../exports/check-run.ts'
import { catalogueFile, dayStart, runOfPath } from './archive-layout.ts'
import type { Catalogue, CatalogueRun, ListedFile } from './catalogue.ts'
import { checkOrder, readRun } from './check-archive.ts'
import { bufferOf, type Column, type RowSpan } from './parquet-table.ts'
import { readCatalogue } from './read-catalogue.ts'
import type { RunFile } from './run-manifest.ts'
import { type Slice, tableSlices } from './table-slices.ts'
import { weightedCache } from './weighted-cache.ts'

export type ArchiveNow = {
  readonly catalogue: Catalogue
  /** The UTC days of which there are readings, ascending. */
  readonly days: readonly number[]
  readonly filesOf: (dayStartMs: number) => readonly RunFile[]
  /** The run that holds a batch. */
  readonly runOf: (batch: number) => CatalogueRun | undefined
}

/** A file whose bytes are those that the manifest of its run lists. */
export type ArchiveFile = {
  /** Another one if the file was written again. */
  readonly id: string
  readonly groups: readonly RowSpan[]
  /** @param span within a group @throws Refusal */
  readonly read: (places: readonly number[], span: RowSpan) => Promise<Slice>
}

export type ArchiveFiles = {
  /** @throws Refusal, MustAct if there is no archive, or it is not one */
  readonly now: () => Promise<ArchiveNow>
  /** @throws Refusal if the file is not the one that is listed */
  readonly use: <T>(
    file: ListedFile,
    columns: readonly Column<never>[],
    work: (file: ArchiveFile) => Promise<T>,
  ) => Promise<T>
}

/** Files whose hash was checked; tables whose description is in memory, about 100 KB each. */
const mostChecked = 20_000
const mostTables = 200

export function openArchiveFiles(folder: string): ArchiveFiles {
  let known: { readonly identity: string; readonly now: Promise<ArchiveNow> } | undefined
  const checked = weightedCache<void>(mostChecked, () => 1)
  const tables = weightedCache<Awaited<ReturnType<typeof tableSlices>>>(mostTables, () => 1)

  const now = async (): Promise<ArchiveNow> => {
    const identity = identityOf(await orMissing(catalogueFile, () => statOf(folder)))
    if (known?.identity === identity) return await known.now
    const read = readNow(folder)
    known = { identity, now: read }
    read.catch(() => {
      known = undefined
    })
    return await read
  }
  const checkListed = async (file: ListedFile): Promise<void> => {
    const number = runOfPath(file.path)
    const listed = (await now()).catalogue.runs.find(({ run }) => run === number)
    if (listed === undefined) return
    // the catalogue and the manifest, which is what proves the rows, list the same file
    await checked.get(`${listed.manifest} ${listed.sha256}`, async () => {
      await readRun(folder, listed)
    })
  }

  return {
    now,
    use: async (file, columns, work) => {
      const { path: name, sha256, rows } = file
      await checkListed(file)
      await using handle = await orMissing(name, () => open(join(folder, name)))
      const id = `${name} ${sha256} ${identityOf(await handle.stat({ bigint: true }))}`
      await checked.get(id, () => checkHandle(handle, file))
      const buffer: AsyncBuffer = await bufferOf(handle)
      const table = await tables.get(id, () => tableSlices(buffer, { columns, rows, name }))
      const { groups, read } = table
      return await work({ id, groups, read: (places, span) => read(buffer, places, span) })
    },
  }
}

const statOf = (folder: string): Promise<BigIntStats> =>
  stat(join(folder, catalogueFile), { bigint: true })

const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join('.')

async function orMissing<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return refuse(`${name} is missing`)
  }
}

async function checkHandle(handle: FileHandle, { path, sha256, bytes }: ListedFile): Promise<void> {
  const digest = createHash('sha256')
  const part = Buffer.alloc(2 ** 20)
  let size = 0
  for (;;) {
    const { bytesRead } = await handle.read(part, 0, part.length, size)
    if (bytesRead === 0) break
    digest.update(part.subarray(0, bytesRead))
    size += bytesRead
  }
  if (size !== bytes || digest.digest('hex') !== sha256)
    refuse(`${path} is another file than the manifest was made for: a byte of it was changed`)
}

async function readNow(folder: string): Promise<ArchiveNow> {
  const catalogue = await readCatalogue(folder)
  if (catalogue === undefined) return refuse(`${catalogueFile} is missing`)
  checkOrder(catalogue)
  const byDay = new Map<number, RunFile[]>()
  for (const { files } of catalogue.runs)
    for (const file of files) {
      const day = dayStart(file.day)
      const others = byDay.get(day)
      if (others === undefined) byDay.set(day, [file])
      else others.push(file)
    }
  const { runs } = catalogue
  return {
    catalogue,
    days: [...byDay.keys()].toSorted((a, b) => a - b),
    filesOf: (day) => byDay.get(day) ?? [],
    runOf: (batch) =>
      runs.find(({ before, after }) => batch > before.batch && batch <= after.batch),
  }
}
