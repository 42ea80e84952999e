import { basename } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Reading } from '../../core/air/reading.ts'
import { formatIso } from '../../core/iso-time.ts'
import { chainInWords } from '../../core/proof/demonstration-chain.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { type ExportBatches, readExportBatches } from '../../operate/exports/export-batches.ts'
import { manifestText } from '../../operate/exports/export-manifest.ts'
import { type RowFormat } from '../../operate/exports/manifest-schema.ts'
import { createMakeBundle, type SignatureOf } from '../../operate/proofs/make-bundle.ts'
import { createProveReading } from '../../operate/proofs/prove-reading.ts'
import { exitCodes, MustAct, WrongUsage } from '../../runtime/exit.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { type BatchBlobs, openBatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import { type Flags, instantInWords, parseInstantMs } from '../../runtime/settings.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { openExpiredOf } from '../shell/expired.ts'
import { withInstance } from '../shell/instance.ts'
import { openKeptStore } from '../shell/kept-store.ts'
import { exactWords, neededFlag, textFlag, textsFlag } from '../shell/words.ts'
import { chooseRows, chosenRows } from './choose-rows.ts'
import { filterWords, isPart, readQuality } from './export-filter.ts'
import { makeRuns } from './make-manifest.ts'
import { partWords } from './part-words.ts'
import { openNew, writeRows } from './write-rows.ts'

export const command: Command = {
  summary: 'readings of a period as a file, with what proves them all in one go',
  help: `\
usage: airproof export --from TIME --to TIME [--area NAME …] [--sensor ID …] [--quality LEVEL]
                       [--corrections MODEL …] [--format ndjson|csv|bundles] [--out FILE]

Writes the readings of [from, to), oldest first, each with its sequence number, its hash and the
batch it is anchored in; and beside it FILE.manifest.json: headers, one proof a batch for all of its
rows, and the anchors on the chain. \`airproof verify FILE.manifest.json\` checks all of it offline.
Rows that are not anchored for good yet have no batch, and are counted.

With a filter it is a part: it proves each row that it has, and its manifest says which they are.

  --from, --to   ISO 8601, UTC where no offset is given
  --area NAME    only readings from there; given again: from any of them
  --sensor ID    only readings of it; given again: of any of them. With --area too: both must fit
  --quality      good: only good readings; suspect: without failed ones; all by default
  --corrections MODEL
                 also what a model of /v1/corrections makes of the values, in a column of its own,
                 such as pm25_epa_2021_ext. The manifest has the model whole, with version and hash
  --format       ndjson by default; bundles: one proof bundle a line, about 8 KB each, no manifest
  --out FILE     default airproof-FROM-TO.FORMAT in this folder; nothing is written over

examples:
  npx airproof export --from 2026-01-01 --to 2026-02-01
  npx airproof export --from 2026-01-01T08:00:00Z --to 2026-01-01T09:00:00Z --format csv --out 9.csv
  npx airproof export --from 2026-01-01 --to 2026-02-01 --area Ikeja --area Yaba --quality suspect
  npx airproof export --from 2026-01-01 --to 2026-02-01 --corrections epa_2021_ext`,
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    area: { type: 'string', multiple: true },
    sensor: { type: 'string', multiple: true },
    quality: { type: 'string' },
    corrections: { type: 'string', multiple: true },
    format: { type: 'string' },
    out: { type: 'string' },
  },
  run: async (context) => {
    exactWords(context.words)
    const wanted = wantedOf(context)
    return await withInstance(context, (nc, config) => exportRows(nc, config, wanted, context))
  },
}

type Wanted = {
  readonly fromMs: number
  readonly toMs: number
  readonly format: RowFormat | 'bundles'
  readonly out: string
}

function wantedOf({ flags }: CommandContext): Wanted {
  const [fromMs, toMs] = [timeFlag(flags, 'from'), timeFlag(flags, 'to')]
  if (toMs <= fromMs) throw new WrongUsage('--to must be later than --from')
  const format = textFlag(flags, 'format') ?? 'ndjson'
  if (format !== 'ndjson' && format !== 'csv' && format !== 'bundles')
    throw new WrongUsage(`--format must be ndjson, csv or bundles, and is "${format}"`)
  if (format === 'bundles' && textsFlag(flags, 'corrections').length > 0)
    throw new WrongUsage(
      'a bundle has only what is proven: leave out --corrections, or --format bundles',
    )
  readQuality(flags)
  const ending = format === 'bundles' ? 'bundles.ndjson' : format
  const name = [fromMs, toMs].map((ms) => formatIso(ms).replaceAll(':', '-')).join('-')
  return { fromMs, toMs, format, out: textFlag(flags, 'out') ?? `airproof-${name}.${ending}` }
}

function timeFlag(flags: Flags, name: string): number {
  const text = neededFlag(flags, name, '2026-01-01')
  const timeMs = parseInstantMs(text)
  if (timeMs === undefined)
    throw new WrongUsage(`--${name} must be ${instantInWords}, and is "${text}"`)
  return timeMs
}

async function exportRows(
  nc: NatsConnection,
  config: SharedConfig,
  { fromMs, toMs, format, out }: Wanted,
  context: CommandContext,
): Promise<number> {
  const { note } = context
  const keccak = await createKeccak()
  const batches = await readExportBatches(nc, keccak)
  const { store: kept, from: place } = await openKeptStore(nc, config, context)
  await using _ = kept
  note(`reading ${place}`)
  const expired = await openExpiredOf(nc, config, context, keccak)
  const store = expired.store(kept)
  const blobs = expired.blobs(await openBatchBlobs(nc))
  const { filter, ...better } = await chooseRows(nc, store, { ...config, ...context })
  const pages = () => chosenRows(store, { fromMs, toMs }, filter)
  if (!(await hasRows(pages())))
    throw new MustAct(
      `there is no reading from ${formatIso(fromMs)} to ${formatIso(toMs)}${isPart(filter) ? ` (${filterWords(filter)})` : ''}: nothing is written`,
    )
  const signatureOf: SignatureOf = ({ sensor, timeMs }) => store.signature(sensor, timeMs)
  if (format === 'bundles')
    return await exportBundles({
      pages: pages(),
      signatureOf,
      out,
      batches,
      blobs,
      keccak,
      note,
    })
  await using manifestFile = await openNew(`${out}.manifest.json`)
  const { holding } = batches
  const written = await writeRows({
    file: out,
    format,
    pages,
    holding,
    signatureOf,
    ...better,
    keccak,
    onRows: () => undefined,
  })
  const { runs, strays } = await makeRuns({ ...batches, touched: written.touched, blobs, keccak })
  const { corrections } = better
  const { count, notAnchored, lostSignatures, sha256 } = written
  const [from, to] = [formatIso(fromMs), formatIso(toMs)]
  const rows = {
    file: basename(out),
    format,
    sha256,
    count,
    notAnchored,
    from,
    to,
    ...(isPart(filter) && { filter }),
    ...(corrections.length > 0 && { corrections }),
  }
  const is2 = written.version === 2 || isPart(filter) || corrections.length > 0
  await manifestFile.writeFile(manifestText({ ...(is2 && { version: 2 }), rows, runs }))
  const parts = [...written.touched].map(([index, leaves]) => ({
    index,
    rows: leaves.length,
    count: batches.headerOf(index).count,
  }))
  const waiting = notAnchored === 0 ? '' : `; not anchored for good yet: ${notAnchored} rows`
  note(`${out}: ${partWords(parts)}${waiting}`)
  note(`${out}.manifest.json: what proves them`)
  if (isPart(filter)) note(`a part of the period: ${filterWords(filter)}`)
  for (const { name, version, of, hash } of corrections)
    note(`${of}_${name}: corrected by version ${version} of ${name}, ${hash}`)
  noteChain(batches, note)
  for (const [batch, hashes] of strays)
    for (const hash of hashes) note(`the row ${hash} is not what was anchored in batch ${batch}`)
  if (strays.size > 0)
    throw new MustAct('rows were altered in the database, and the export cannot be verified')
  if (lostSignatures > 0)
    throw new MustAct(
      `${lostSignatures} rows are signed by their devices, and the store does not have the signatures: the export cannot be verified`,
    )
  return exitCodes.done
}

/** Verifiers refuse an export of nothing. */
async function hasRows(pages: AsyncIterable<readonly unknown[]>): Promise<boolean> {
  for await (const page of pages) if (page.length > 0) return true
  return false
}

/** On which chain a reader will have to look. */
function noteChain({ index }: ExportBatches, note: (line: string) => void): void {
  const chainId = index.deployments()[0]?.chainId
  if (chainId !== undefined) note(`anchored on chain ${chainInWords(chainId)}`)
}

type BundleOptions = {
  readonly pages: AsyncIterable<readonly Reading[]>
  readonly signatureOf: SignatureOf
  readonly out: string
  readonly batches: ExportBatches
  readonly blobs: BatchBlobs
  readonly keccak: Keccak
  readonly note: (line: string) => void
}

async function exportBundles({
  pages,
  signatureOf,
  out,
  batches,
  blobs,
  keccak,
  note,
}: BundleOptions): Promise<number> {
  const { index, chainProofOf } = batches
  const nowMs = Date.now
  const prove = createProveReading({ index, blobs, keccak, nowMs })
  const makeBundle = createMakeBundle({ index, chainProofOf, keccak, nowMs })
  await using file = await openNew(out)
  let [count, notAnchored, altered] = [0, 0, 0]
  for await (const page of pages) {
    for (const reading of page) {
      const verdict = await prove(reading)
      const text = await makeBundle(reading, verdict, signatureOf)
      if (text !== undefined) await file.appendFile(text)
      if (text !== undefined) count++
      else if (verdict.status === 'mismatch') altered++
      else notAnchored++
    }
  }
  note(`${out}: ${count} bundles; ${notAnchored} readings are not anchored yet`)
  noteChain(batches, note)
  if (altered === 0) return exitCodes.done
  throw new MustAct(
    `${altered} rows of the database are not what was anchored: they have no bundle`,
  )
}
