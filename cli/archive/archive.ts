import { join } from 'node:path'
import { archiveOnce } from '../../archive/archive-once.ts'
import { readArchiveConfig } from '../../archive/config.ts'
import { catalogueFile } from '../../operate/archive/archive-layout.ts'
import { bytesOf, filesOf } from '../../operate/archive/catalogue.ts'
import { readCatalogue } from '../../operate/archive/read-catalogue.ts'
import { exitCodes, MustAct } from '../../runtime/exit.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { openKeptStore } from '../shell/kept-store.ts'
import { processCommand } from '../shell/process-command.ts'
import { storeFlags } from '../shell/shared-flags.ts'
import { exactWords, subcommand } from '../shell/words.ts'
import { verifyArchive } from './verify-archive.ts'

const running = processCommand({
  name: 'archive',
  summary: 'write each day, once it is final, into files that prove themselves complete',
  load: async () => (await import('../../archive/main.ts')).run,
})

export const command: Command = {
  summary: running.summary,
  help: `\
usage: airproof archive [flags]
       airproof archive status|now|verify [--archive-dir DIR] [--json]

Without a word it runs until Ctrl-C or SIGTERM, and takes the archive one run further when a UTC day
is over and all that was accepted in it is final on the chain. A second process stands by.

  status   how far the archive goes, and what it takes on the disk
  now      one run of what is final at this time, without waiting for the end of the day
  verify   all of it, offline: no reading is missing, changed or added (as \`airproof verify DIR\`)

  --archive-dir DIR    default: archive in the data folder (AIRPROOF_ARCHIVE_DIR)
  --archive-hashes     also write the hash of each reading, 33 bytes each, which anyone can compute
  --archive-poll 1m    how often it looks whether there is something to archive
  --raw-days N         from 2: older readings are deleted from the store once the archive has and
                       proves them; hours and days stay (AIRPROOF_RAW_DAYS; default: never)
  --blob-days N        the same for the leaves of batches in BLOBS (AIRPROOF_BLOB_DAYS)
  --json               print data as JSON

examples:
  npx airproof archive --nats-url nats://127.0.0.1:4222 --archive-dir /srv/archive
  npx airproof archive --raw-days 400 --blob-days 400
  npx airproof archive status
  npx airproof archive now`,
  isLasting: true,
  options: {
    'archive-dir': { type: 'string' },
    'archive-hashes': { type: 'boolean' },
    'archive-poll': { type: 'string' },
    'raw-days': { type: 'string' },
    'blob-days': { type: 'string' },
    json: { type: 'boolean' },
    ...storeFlags,
  },
  run: async (context) => {
    if (context.words.length === 0) return running.run(context)
    const [verb, words] = subcommand('archive', context.words, verbs)
    exactWords(words)
    return verb(context)
  },
}

const settingsOf = ({ env, flags }: CommandContext) =>
  readArchiveConfig({ env, flags }, readSharedConfig({ env, flags }).dataFolder)

async function needCatalogue(folder: string) {
  const catalogue = await readCatalogue(folder)
  if (catalogue !== undefined) return catalogue
  throw new MustAct(
    `there is no archive in ${folder} yet: the process \`archive\` begins it when a day is over and final, \`airproof archive now\` at once`,
  )
}

async function status(context: CommandContext): Promise<number> {
  const { folder } = settingsOf(context)
  const catalogue = await needCatalogue(folder)
  const { runs, end, complete_until } = catalogue
  const files = filesOf(catalogue)
  const covered = {
    folder,
    runs: runs.length,
    readings: runs.reduce((sum, { readings }) => sum + readings, 0),
    days: new Set(runs.flatMap((run) => run.files.map(({ day }) => day))).size,
    files: files.length,
    bytes: bytesOf(catalogue),
    last_batch: end.batch,
    complete_until,
  }
  if (context.flags['json'] === true) context.print(JSON.stringify(covered))
  else {
    context.print(join(folder, catalogueFile))
    context.print(
      `${covered.readings} readings of ${covered.days} days in ${covered.runs} runs, ${covered.files} files, ${(covered.bytes / 1e6).toFixed(1)} MB`,
    )
    context.print(
      complete_until === null
        ? `up to batch ${end.batch}; no day is complete yet`
        : `complete up to ${complete_until}, batch ${end.batch}`,
    )
  }
  return exitCodes.done
}

const now = (context: CommandContext): Promise<number> =>
  withInstance(context, async (nc, config) => {
    const { env, flags, print, stop } = context
    const settings = readArchiveConfig({ env, flags }, config.dataFolder)
    const { store } = await openKeptStore(nc, config, context)
    await using _ = store
    const keccak = await createKeccak()
    const nowMs = Date.now()
    const { made } = await archiveOnce({ nc, store, settings, keccak, nowMs, isPart: true, stop })
    if (flags['json'] === true)
      print(JSON.stringify({ run: made?.run ?? null, readings: made?.readings ?? 0 }))
    else
      print(
        made === undefined
          ? 'everything that is final is archived'
          : `run ${made.run}: ${made.readings} readings in ${made.files.length} files`,
      )
    return exitCodes.done
  })

async function verify(context: CommandContext): Promise<number> {
  const { folder } = settingsOf(context)
  return await verifyArchive(folder, await needCatalogue(folder), {}, context)
}

const verbs = { status, now, verify }
