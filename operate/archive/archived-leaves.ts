/**
 * The leaves of batches, made from the rows of an archive: what bucket BLOBS holds of a batch until it is
 * let go. They are given only if they lead to the batch's root.
 */

import { type BatchHeader, batchVersionOf, encodeHeader } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { merkleRoot, nodeBytes, nodeHash, tileLeaves } from '../../core/proof/tree.ts'
import { dayMs, floorTo } from '../../core/time.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import type { BlobTop } from '../../schemas/anchoring/batch-blob.ts'
import { refuse } from '../exports/check-run.ts'
import type { ArchiveFiles } from './archive-files.ts'
import { dayStart } from './archive-layout.ts'
import { readable } from './archive-unreadable.ts'
import type { CatalogueRun } from './catalogue.ts'
import { readRun } from './check-archive.ts'
import { createLeafTable, type LeafTable } from './leaf-table.ts'
import type { RowSpan } from './parquet-table.ts'
import { placeOfColumn, readingColumns, readRow } from './reading-columns.ts'
import { weightedCache } from './weighted-cache.ts'

type Options = {
  readonly folder: string
  readonly files: ArchiveFiles
  readonly keccak: Keccak
  /**
   * What is made at once: of a batch, for one who asks for any; of its whole run, for one who asks for all
   * in a row, as all of them take no longer than one.
   */
  readonly atOnce: 'batch' | 'run'
}

type Leaves = { readonly top: BlobTop | undefined; readonly leaves: readonly Uint8Array[] }
const noLeaves: Leaves = { top: undefined, leaves: [] }

/** Of batches, or of runs, of which one has 132 MB at most and is then kept alone. */
const keptBytes = 64 * 2 ** 20
/** Leaves that can be handed out, 160 bytes each. */
const keptLeaves = 200_000
const keptHeaders = 20_000
const pageRows = 16_384

const signatureColumns = ['algorithm', 'public_key', 'signature', 'signed_text']
const leafPlaces = readingColumns.flatMap(({ name }, place) =>
  signatureColumns.includes(name) ? [] : [place],
)
const batchAt = placeOfColumn('batch')

/** As `BatchBlobs`, of batches that are archived; undefined: the batch holds no reading. @throws ArchiveUnreadable */
export function archivedLeaves({ folder, files, keccak, atOnce }: Options): BatchBlobs {
  const tables = weightedCache<LeafTable>(keptBytes, (table) => (nodeBytes + 1) * table.size)
  const batches = weightedCache<Leaves>(keptLeaves, ({ leaves }) => 1 + leaves.length)
  const headers = weightedCache<readonly BatchHeader[]>(keptHeaders, (list) => 1 + list.length)

  const headersOf = (run: CatalogueRun): Promise<readonly BatchHeader[]> =>
    headers.get(`${run.run} ${run.sha256}`, async () =>
      (await readRun(folder, run)).runs.flatMap((part) => part.headers),
    )
  /** @param wanted headers of batches of the run @throws Refusal if the rows do not lead to their roots */
  const make = async (run: CatalogueRun, wanted: readonly BatchHeader[]): Promise<LeafTable> => {
    const table = createLeafTable(wanted, keccak)
    const held = wanted.filter(({ count }) => count > 0)
    const [only] = wanted.length === 1 ? wanted : []
    const from = held.reduce((least, { timeMinMs }) => Math.min(least, timeMinMs), Infinity)
    const to = held.reduce((most, { timeMaxMs }) => Math.max(most, timeMaxMs), -Infinity)
    for (const file of run.files) {
      const day = dayStart(file.day)
      if (day < floorTo(from, dayMs) || day > to) continue
      await files.use(file, readingColumns, async ({ groups, read }) => {
        for (const span of pagesOf(groups)) {
          const page = await read(leafPlaces, span)
          for (let row = 0; row < span.end - span.start; row++) {
            if (only !== undefined && page.cell(batchAt, row) !== only.index) continue
            const name = `row ${span.start + row + 1} of ${file.path}`
            const put = table.put(readRow(page, row, name).reading)
            if ('why' in put) refuse(`${name} ${put.why}`)
          }
        }
      })
    }
    const fault = table.fault()
    if (fault !== undefined) refuse(fault)
    return table
  }
  const find = (index: number) =>
    readable(async () => {
      const run = (await files.now()).runOf(index)
      if (run === undefined) return refuse(`no run of it holds batch ${index}`)
      const key = `${run.run} ${run.sha256}`
      return await batches.get(`${key} ${index}`, async () => {
        const all = await headersOf(run)
        const header = all.find((one) => one.index === index)
        // the last ones before another contract hold no reading, and are in no manifest
        if (header === undefined) return noLeaves
        const table =
          atOnce === 'run' ? await tables.get(key, () => make(run, all)) : await make(run, [header])
        const leaves = table.leavesIn(index) ?? []
        return { leaves, top: topOf(header, leaves, keccak) }
      })
    })
  return {
    top: async (index) => (await find(index)).top,
    tile: async (index, tile) => {
      const { leaves } = await find(index)
      const ofTile = leaves.slice(tile * tileLeaves, (tile + 1) * tileLeaves)
      return ofTile.length === 0 ? undefined : ofTile
    },
  }
}

function* pagesOf(groups: readonly RowSpan[]): Generator<RowSpan> {
  for (const { start: first, end } of groups)
    for (let start = first; start < end; start += pageRows)
      yield { start, end: Math.min(end, start + pageRows) }
}

function topOf(header: BatchHeader, leaves: readonly Uint8Array[], keccak: Keccak): BlobTop {
  const hash = nodeHash(keccak, batchVersionOf(header))
  const tiles = Array.from({ length: Math.ceil(leaves.length / tileLeaves) }, (_, tile) =>
    leaves.slice(tile * tileLeaves, (tile + 1) * tileLeaves),
  )
  return {
    header: encodeHeader(header, keccak),
    leaves: leaves.length,
    roots: tiles.map((tile) => merkleRoot(tile, hash)),
    firsts: tiles.flatMap(([first]) => (first === undefined ? [] : [first])),
  }
}

/**
 * Leaves as they are published, and of batches that were let go those that the archive's rows give.
 * @param beforeBatch only batches before it may be gone: of others a missing blob is a fault
 */
export const withArchivedLeaves = (
  blobs: BatchBlobs,
  archived: BatchBlobs,
  beforeBatch: () => number | null,
): BatchBlobs => {
  const isExpired = (index: number): boolean => index < (beforeBatch() ?? 0)
  return {
    top: async (index) =>
      (await blobs.top(index)) ?? (isExpired(index) ? await archived.top(index) : undefined),
    tile: async (index, tile) =>
      (await blobs.tile(index, tile)) ??
      (isExpired(index) ? await archived.tile(index, tile) : undefined),
  }
}
