/** What the operator let go, as the audit takes it: the rows of the archive's runs, held against anchored headers. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { ArchivedNumber, Expired } from '../../anchor/audit/expired.ts'
import type { Findings } from '../../anchor/audit/findings.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { dayStart } from '../../operate/archive/archive-layout.ts'
import type { CatalogueRun } from '../../operate/archive/catalogue.ts'
import { checkOrder, readRun } from '../../operate/archive/check-archive.ts'
import { checkBytes, rowsOf } from '../../operate/archive/check-archive-run.ts'
import { createLeafTable } from '../../operate/archive/leaf-table.ts'
import { readCatalogue } from '../../operate/archive/read-catalogue.ts'
import { Refusal, refuse } from '../../operate/exports/check-run.ts'
import { readRetention } from '../../runtime/nats/retention.ts'

type Options = {
  readonly folder: string
  readonly keccak: Keccak
  /** Receives all rows of the archive, apart from those with leaf 1, which stay in the store. */
  readonly see: (rows: readonly Reading[]) => Promise<void>
}

/** @returns undefined: nothing is expired, by the record @throws MustAct if the archive has no readable catalogue */
export async function expiredPart(
  nc: NatsConnection,
  options: Options,
): Promise<Expired | undefined> {
  const { rawBeforeMs, blobsBeforeBatch } = await readRetention(nc)
  if (rawBeforeMs === null && blobsBeforeBatch === null) return undefined
  const catalogue = await readCatalogue(options.folder)
  const record = { rawBeforeMs: rawBeforeMs ?? 0, blobsBeforeBatch: blobsBeforeBatch ?? 0 }
  if (catalogue === undefined) return record
  return {
    ...record,
    archived: async function* (headers, findings) {
      if (!isInOrder(catalogue, findings)) return
      for (const run of catalogue.runs) {
        const mayBeGone = run.files.some(({ day }) => dayStart(day) < record.rawBeforeMs)
        const own = headers.filter(
          ({ index }) => index > run.before.batch && index <= run.after.batch,
        )
        if (mayBeGone && own.length > 0) yield await numbersOf(run, own, findings, options)
      }
    },
  }
}

function isInOrder(catalogue: Parameters<typeof checkOrder>[0], findings: Findings): boolean {
  try {
    checkOrder(catalogue)
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    findings.add('archive', undefined, `the archive is not whole: ${error.message}`)
    return false
  }
}

const pageRows = 5_000

/** None if the rows are not exactly those that were anchored, which is a finding. */
async function numbersOf(
  run: CatalogueRun,
  headers: readonly BatchHeader[],
  findings: Findings,
  { folder, keccak, see }: Options,
): Promise<Iterable<ArchivedNumber>> {
  const table = createLeafTable(headers, keccak)
  const [seqs, times] = [new Float64Array(table.size), new Float64Array(table.size)]
  const first = headers[0]?.index ?? 0
  let count = 0
  let page: Reading[] = []
  try {
    const { files } = await readRun(folder, run)
    for (const file of files) {
      await checkBytes(folder, file)
      let at = 0
      for await (const row of rowsOf(folder, file)) {
        at++
        // before the batches that are looked at
        if (row.batch < first && table.batchOf(row.reading.seq) === undefined) continue
        const put = table.put(row.reading, row.signature)
        if ('why' in put) return refuse(`row ${at} of ${file.path} ${put.why}`)
        seqs[count] = row.reading.seq
        times[count++] = row.reading.timeMs
        if (row.reading.leafVersion === 2) page.push(row.reading)
        if (page.length < pageRows) continue
        await see(page)
        page = []
      }
    }
    await see(page)
    const fault = table.fault()
    if (fault !== undefined) refuse(fault)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    findings.add('archive', undefined, `run ${run.run} of the archive: ${error.message}`)
    return []
  }
  return numbers(seqs.subarray(0, count), times)
}

function* numbers(seqs: Float64Array, times: Float64Array): Generator<ArchivedNumber> {
  for (const [at, seq] of seqs.entries()) yield { seq, timeMs: times[at] ?? 0 }
}
