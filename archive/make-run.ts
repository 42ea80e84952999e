/** Makes one run of the archive: its files of readings, then the manifest that proves them. */
import type { DeviceSignature } from '../core/air/device-signature.ts'
import type { Reading } from '../core/air/reading.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import { type BatchHeader, batchVersionOf } from '../core/proof/header.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import { dayMs } from '../core/time.ts'
import {
  dayName,
  hashesFile,
  readingsFile,
  runManifest,
} from '../operate/archive/archive-layout.ts'
import type { CatalogueRun } from '../operate/archive/catalogue.ts'
import { hashColumns } from '../operate/archive/hash-columns.ts'
import { createLeafTable, type LeafTable } from '../operate/archive/leaf-table.ts'
import { putFile, putText } from '../operate/archive/put-file.ts'
import { readingColumns } from '../operate/archive/reading-columns.ts'
import {
  type ArchiveEnd,
  type RunFile,
  type RunManifest,
  runManifestText,
} from '../operate/archive/run-manifest.ts'
import { verifyEnd } from '../operate/exports/check-run.ts'
import type { ExportRun } from '../operate/exports/export-manifest.ts'
import { MustAct } from '../runtime/exit.ts'
import { inParallel } from '../runtime/in-parallel.ts'
import type { Store } from '../store/store.ts'
import type { NextBatches } from './next-batches.ts'
import type { TouchedDays } from './touched-days.ts'
import { tableWriter } from './write-table.ts'

export type RunOptions = {
  readonly folder: string
  readonly run: number
  readonly before: ArchiveEnd
  readonly batches: NextBatches
  readonly store: Pick<Store, 'range' | 'signature'>
  readonly daysOf: (isOfRun: (seq: number) => boolean) => Promise<TouchedDays>
  /** Also write each reading's hash. */
  readonly withHashes: boolean
  readonly keccak: Keccak
  readonly stop: AbortSignal
}

/** @throws MustAct if the store does not hold exactly what was anchored: nothing is published then */
export async function makeRun(options: RunOptions): Promise<CatalogueRun> {
  const { folder, run, before, batches, daysOf, keccak } = options
  const { headers } = batches
  const table = createLeafTable(headers, keccak)
  const days = await daysOf((seq) => table.batchOf(seq) !== undefined)
  const files: RunFile[] = []
  const hashes: RunFile[] = []
  for (const dayStartMs of [...days.keys()].toSorted((a, b) => a - b)) {
    const sensors = [...(days.get(dayStartMs) ?? [])].toSorted()
    const made = await writeDay({ ...options, table, dayStartMs, sensors })
    files.push(made.readings)
    if (made.hashes) hashes.push(made.hashes)
  }
  const fault = table.fault()
  if (fault !== undefined)
    throw new MustAct(
      `run ${run} of the archive cannot be made: ${fault}. The database does not hold what was anchored: \`airproof audit\` says more`,
    )
  const runs = await segments(batches)
  for (const one of runs) {
    const last = table.lastReading(one.headers.at(-1)?.index ?? 0)
    await verifyEnd(one, last, { keccak, pins: {} })
  }
  const readings = headers.reduce((sum, { count }) => sum + count, 0)
  const manifest: RunManifest = {
    run,
    before,
    after: endOf(headers),
    readings,
    files,
    hashes,
    runs,
  }
  const { path, ...written } = await putText(folder, runManifest(run), runManifestText(manifest))
  return { run, manifest: path, ...written, readings, files, hashes, before, after: manifest.after }
}

function endOf(headers: readonly BatchHeader[]): ArchiveEnd {
  const last = headers.at(-1)
  if (last === undefined) throw new Error('a run has at least one batch')
  return { batch: last.index, position: last.last, n: last.nLast }
}

/** No head leads from one contract to the next, so the last head of each needs a proof of its own. */
async function segments({ headers, chain }: NextBatches): Promise<readonly ExportRun[]> {
  const runs: ExportRun[] = []
  for (const [, all] of Map.groupBy(headers, ({ index }) => chain.contractOf(index))) {
    const end = all.findLastIndex(({ count }) => count > 0)
    const [first, last, of] = [all[0], all[end], all.slice(0, end + 1)]
    if (first === undefined || last === undefined) continue
    const is2 = batchVersionOf(first) === 2
    runs.push({
      ...(is2 && { before: chain.recordBefore(first.index) }),
      headers: of,
      proofs: of.flatMap(({ index, count }) =>
        count === 0
          ? []
          : [{ index, rows: count, places: [[0, count - 1] as const], siblings: [] }],
      ),
      chain: await chain.chainProofOf(last.index),
    })
  }
  return runs
}

type DayOptions = RunOptions & {
  readonly table: LeafTable
  readonly dayStartMs: number
  readonly sensors: readonly SensorId[]
}

/** The readings of one day, by sensor and time. @throws MustAct where one is not of the run's batches */
async function writeDay(options: DayOptions) {
  const { folder, run, dayStartMs, withHashes, table, stop } = options
  const day = dayName(dayStartMs)
  /** In the order of the rows. */
  const numbers: number[] = []
  const path = readingsFile(dayStartMs, run)
  const written = await putFile(folder, path, async (file) => {
    const rows = tableWriter(file, readingColumns)
    for await (const { readings, signatures } of rowsOfDay(options)) {
      stop.throwIfAborted()
      for (const reading of readings) {
        const signature = signatures.get(reading)
        const put = table.put(reading, signature)
        if ('why' in put)
          throw new MustAct(
            `run ${run} of the archive cannot be made: the row of ${reading.sensor} at ${reading.timeMs} ${put.why}. \`airproof audit\` says more`,
          )
        await rows.add({ reading, batch: put.batch, signature })
        if (withHashes) numbers.push(reading.seq)
      }
    }
    return await rows.end()
  })
  const readings: RunFile = { path, ...written, day }
  if (!withHashes) return { readings, hashes: undefined }
  const beside = hashesFile(dayStartMs, run)
  const hashed = await putFile(folder, beside, async (file) => {
    const rows = tableWriter(file, hashColumns)
    for (const seq of numbers) {
      const hash = table.leafOf(seq)
      if (hash !== undefined) await rows.add({ seq, hash })
    }
    return await rows.end()
  })
  return { readings, hashes: { path: beside, ...hashed, day } }
}

type SensorRows = {
  readonly readings: readonly Reading[]
  readonly signatures: ReadonlyMap<Reading, DeviceSignature | undefined>
}

/** Sensors read ahead, so that the store and the files work side by side. */
const readAhead = 4

async function* rowsOfDay(options: DayOptions): AsyncGenerator<SensorRows> {
  const waiting: Promise<SensorRows>[] = []
  for (const sensor of options.sensors) {
    const reading = rowsOfSensor(sensor, options)
    // awaited in its turn; a failure before that must not count as unhandled
    reading.catch(() => undefined)
    waiting.push(reading)
    const next = waiting.length > readAhead ? waiting.shift() : undefined
    if (next !== undefined) yield await next
  }
  for (const next of waiting) yield await next
}

const pageRows = 5_000
/** Each is a request of its own. */
const signaturesAtOnce = 16

async function rowsOfSensor(
  sensor: SensorId,
  { store, table, dayStartMs }: DayOptions,
): Promise<SensorRows> {
  const readings: Reading[] = []
  const end = dayStartMs + dayMs
  for (let from = dayStartMs; from < end; ) {
    const page = await store.range(sensor, from, end, pageRows, 'asc')
    for (const reading of page) if (table.batchOf(reading.seq) !== undefined) readings.push(reading)
    const last = page.at(-1)
    from = last === undefined || page.length < pageRows ? end : last.timeMs + 1
  }
  const signatures = new Map<Reading, DeviceSignature | undefined>()
  const signed = readings.filter(({ device }) => device !== undefined)
  await inParallel(signed, signaturesAtOnce, async (reading) => {
    signatures.set(reading, await store.signature(reading.sensor, reading.timeMs))
  })
  return { readings, signatures }
}
