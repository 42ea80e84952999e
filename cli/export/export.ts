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
import { createKeccak } from '../../runtime/keccak.ts'
import { openBatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import { type Flags, readSettings } from '../../runtime/settings.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { openKeptStore } from '../shell/kept-store.ts'
import { exactWords, neededFlag, textFlag } from '../shell/words.ts'
import { makeRuns } from './make-manifest.ts'
import { partWords } from './part-words.ts'
import { rowsInOrder } from './stored-rows.ts'
import { openNew, writeRows } from './write-rows.ts'

export const command: Command = {
  summary: 'readings of a period as a file, with what proves them all in one go',
  help: `\
usage: airproof export --from TIME --to TIME [--format ndjson|csv|bundles] [--out FILE]

Writes the readings of [from, to), oldest first, each with its sequence number, its hash and the
batch it is anchored in; and beside it FILE.manifest.json: headers, one proof a batch for all of its
rows, and the anchors on the chain. \`airproof verify FILE.manifest.json\` checks all of it offline.
Rows that are not anchored for good yet have no batch, and are counted.

  --from, --to   ISO 8601, UTC where no offset is given
  --format       ndjson by default; bundles: one proof bundle a line, about 8 KB each, no manifest
  --out FILE     default airproof-FROM-TO.FORMAT in this folder; nothing is written over

examples:
  npx airproof export --from 2026-01-01 --to 2026-02-01
  npx airproof export --from 2026-01-01T08:00:00Z --to 2026-01-01T09:00:00Z --format csv --out 9.csv`,
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
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
  const ending = format === 'bundles' ? 'bundles.ndjson' : format
  const name = [fromMs, toMs].map((ms) => formatIso(ms).replaceAll(':', '-')).join('-')
  return { fromMs, toMs, format, out: textFlag(flags, 'out') ?? `airproof-${name}.${ending}` }
}

function timeFlag(flags: Flags, name: string): number {
  neededFlag(flags, name, '2026-01-01')
  const timeMs = readSettings({ env: {}, flags }).timeMs(name.toUpperCase())
  if (timeMs === undefined) throw new WrongUsage(`--${name} is needed`)
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
  const { store, from: place } = await openKeptStore(nc, config, context)
  await using _ = store
  note(`reading ${place}`)
  const pages = () => rowsInOrder(store, fromMs, toMs)
  const signatureOf: SignatureOf = ({ sensor, timeMs }) => store.signature(sensor, timeMs)
  if (format === 'bundles')
    return await exportBundles(nc, { pages: pages(), signatureOf, out, batches, keccak, note })
  await using manifestFile = await openNew(`${out}.manifest.json`)
  const { holding } = batches
  const written = await writeRows({
    file: out,
    format,
    pages,
    holding,
    signatureOf,
    keccak,
    onRows: () => undefined,
  })
  const blobs = await openBatchBlobs(nc)
  const { runs, strays } = await makeRuns({ ...batches, touched: written.touched, blobs, keccak })
  const { version, count, notAnchored, lostSignatures, sha256 } = written
  const [from, to] = [formatIso(fromMs), formatIso(toMs)]
  const rows = { file: basename(out), format, sha256, count, notAnchored, from, to }
  await manifestFile.writeFile(manifestText({ ...(version === 2 && { version }), rows, runs }))
  const parts = [...written.touched].map(([index, leaves]) => ({
    index,
    rows: leaves.length,
    count: batches.headerOf(index).count,
  }))
  const waiting = notAnchored === 0 ? '' : `; not anchored for good yet: ${notAnchored} rows`
  note(`${out}: ${partWords(parts)}${waiting}`)
  note(`${out}.manifest.json: what proves them`)
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
  readonly keccak: Keccak
  readonly note: (line: string) => void
}

async function exportBundles(
  nc: NatsConnection,
  { pages, signatureOf, out, batches, keccak, note }: BundleOptions,
): Promise<number> {
  const { index, chainProofOf } = batches
  const nowMs = Date.now
  const prove = createProveReading({ index, blobs: await openBatchBlobs(nc), keccak, nowMs })
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
