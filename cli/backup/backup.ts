import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { readChainSettings } from '../../anchor/config.ts'
import { archiveFolder } from '../../operate/archive/archive-folder.ts'
import { readSealed } from '../../operate/exports/sealed-headers.ts'
import { storedUpTo } from '../../operate/store-copy.ts'
import { chainState } from '../../runtime/engines/anvil.ts'
import { exitCodes, MustAct } from '../../runtime/exit.ts'
import { leastRoomBytes, mebibytes, roomBytesOf } from '../../runtime/machine/data-folder.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import {
  isSameStore,
  placeInWords,
  placeOf,
  type StorePlace,
  type StoreSettings,
} from '../../runtime/machine/store-place.ts'
import { levelOf } from '../../runtime/nats/format-level.ts'
import { readNetworkId } from '../../runtime/nats/network-id.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import { tableNumber } from '../../runtime/nats/streams/stream-table.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import { readKeptStore } from '../../runtime/process/kept-store.ts'
import { readSettings } from '../../runtime/settings.ts'
import { ourVersion } from '../../runtime/version.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { openStore } from '../../store/open-store.ts'
import { copySqliteFile } from '../../store/sqlite/database-file.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { openProgress } from '../shell/progress.ts'
import { exactWords } from '../shell/words.ts'
import { SourceLacks } from '../store/copy-readings.ts'
import { copyRows } from '../store/copy-rows.ts'
import { type BackupFolder, openBackupFolder, refuseNested } from './backup-folder.ts'
import { copyInstance } from './copy-instance.ts'
import { inBackupWords } from './in-backup-words.ts'
import { secretFilesIn } from './local-files.ts'
import type { Manifest } from './manifest.ts'
import { pointInWords } from './point.ts'
import { needPassphrase, type SecretFiles, sealFiles } from './seal-files.ts'

export const sealedFile = 'secrets.sealed'
export const storeFile = 'readings.sqlite'

export const command: Command = {
  summary: 'copy a running instance into a folder, from which `restore` makes it again',
  help: `\
usage: airproof backup DIR [--without-archive] [--without-secrets] [--json]

Copies everything that a restored instance needs into DIR, which must be empty or not there, while
all processes go on: streams and buckets of NATS, the database, pushes that wait on the disk, the
chain of the demonstration, the archive, and the secrets. Rows in InfluxDB are copied into an SQLite
file, from which \`restore\` makes either database; the command needs the INFLUX_ settings for it.
Secrets (keys, passwords of NATS, all other files of the data folder) are sealed with the passphrase
in the file that AIRPROOF_BACKUP_PASSPHRASE_FILE names: keep it elsewhere. The rest of DIR holds
hashes of keys and passwords and the addresses of accounts, so keep it private too.

It ends with the point up to which everything is in it. Killed, it leaves a folder that \`restore\`
refuses, and the next backup into the same folder begins again. Run it as the user operator, on the
machine of the data folder; with processes of your own, where AIRPROOF_SECRET_FILE and
ANCHOR_KEY_FILE are.

  --without-archive   the archive is copied in another way, for example by \`airproof mirror\`
  --without-influx    rows in InfluxDB are copied in another way (docs/backup.md)
  --without-secrets   no file of the data folder is sealed: you keep them elsewhere
  --json              the manifest, without its lists, as one line of JSON

examples:
  openssl rand -base64 24 > ~/passphrase && chmod 600 ~/passphrase
  AIRPROOF_BACKUP_PASSPHRASE_FILE=~/passphrase npx airproof backup /backups/$(date +%F)
  NATS_URL=nats://10.0.0.5:4222 NATS_USER=operator NATS_PASSWORD_FILE=secrets/operator-password \\
    AIRPROOF_BACKUP_PASSPHRASE_FILE=passphrase npx airproof backup /backups/today`,
  options: {
    'without-archive': { type: 'boolean' },
    'without-influx': { type: 'boolean' },
    'without-secrets': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    const [dir = ''] = exactWords(context.words, 'DIR')
    const { flags, print } = context
    const folder = resolve(dir)
    return await withInstance(context, async (nc, config) => {
      const manifest = await inBackupWords(
        `the disk of ${folder} is full, so the backup is not finished, and its parts are removed: make room, and run the same command again`,
        () => backUp(nc, config, { ...context, folder }),
      )
      if (flags['json'] === true) {
        const { streams, files, ...rest } = manifest
        print(JSON.stringify({ ...rest, streams: streams.length, files: files.length }))
      } else for (const line of linesOf(manifest, folder)) print(line)
      return exitCodes.done
    })
  },
}

const linesOf = ({ until, received_until, archive, files }: Manifest, folder: string) => [
  ...(files.every(({ path }) => path !== storeFile)
    ? [
        `WITHOUT the readings in InfluxDB: they are in your own \`influx backup\`, made while no pipeline ran (docs/backup.md)`,
      ]
    : []),
  `${folder} contains ${pointInWords(until)}, and all that NATS acknowledged up to ${received_until.slice(0, 19)}Z`,
  `${mebibytes(files.reduce((sum, { bytes }) => sum + bytes, 0))} MiB in ${files.length} files${archive === 'left out' ? '; the archive is not in it' : ''}`,
]

type BackingUp = CommandContext & { readonly folder: string }

async function backUp(
  nc: NatsConnection,
  config: SharedConfig,
  context: BackingUp,
): Promise<Manifest> {
  const { flags, folder, isTerminal, note, stop } = context
  const started_at = new Date().toISOString()
  const secrets =
    flags['without-secrets'] === true ? new Map<string, Buffer>() : secretsOf(context, config)
  const passphrase =
    secrets.size === 0
      ? undefined
      : needPassphrase(
          context,
          'secrets are not copied without a passphrase (or --without-secrets)',
        )
  const kept = (await readKeptStore(nc)) ?? config.store
  const archive = archiveFolder(context, config.dataFolder)
  const hasArchive = existsSync(join(archive, 'catalogue.json'))
  const withArchive = hasArchive && flags['without-archive'] !== true
  const store = storeToCopy(kept, config, flags['without-influx'] === true)
  refuseNested(folder, config.dataFolder)
  const total = await bytesToCopy(nc, store?.kind === 'sqlite' ? store.file : undefined)
  refuseTooLittleRoom(folder, total, config.dataFolder)
  using progress = openProgress({
    label: 'KiB copied',
    total: Math.ceil(total / 1024),
    isTerminal,
    note,
  })
  let [done, part] = [0, '']
  const show = (): void => progress.at(Math.ceil(Math.min(done, total) / 1024), part)
  const written = openBackupFolder(folder, note, (bytes) => {
    stop.throwIfAborted()
    done += bytes
    show()
  })
  using undone = new DisposableStack()
  undone.defer(() => written.discard())
  if (passphrase !== undefined)
    await written.put(sealedFile, ({ write }) => write(sealFiles(secrets, passphrase)))
  const copied = await copyInstance({
    nc,
    folder: written,
    copyStore: () => copyStore(nc, store, written, context),
    dataFolder: config.dataFolder,
    archiveFolder: withArchive ? archive : undefined,
    chainState: ownChain(config),
    note: (name) => {
      stop.throwIfAborted()
      part = name
      if (isTerminal) show()
      else note(`copying: ${name}`)
    },
  })
  const kvm = new Kvm(nc)
  const system = await kvm.open(buckets.system)
  const manifest = {
    format: 'airproof.backup.v1',
    airproof: ourVersion(),
    table: tableNumber,
    level: levelOf(await system.get(systemKeys.format)),
    network: await readNetworkId(nc),
    started_at,
    finished_at: new Date().toISOString(),
    original: { nats: config.natsUrl ?? '', folder: config.dataFolder, host: hostname() },
    store: kept.kind,
    archive: withArchive ? 'copied' : hasArchive ? 'left out' : 'none',
    anchoring: {
      deployments: [...(await readDeployments(await kvm.open(buckets.anchoring)))],
      sealed: Math.max(0, ...(await readSealed(nc)).sealed.keys()),
    },
    ...copied,
  } as const
  const whole = written.finish(manifest)
  undone.move()
  return whole
}

/** Files of the data folder, and the two that settings name elsewhere, under the names they have there. */
function secretsOf(context: CommandContext, { dataFolder }: SharedConfig): SecretFiles {
  const secrets = new Map(secretFilesIn(dataFolder))
  const key = readSettings(context).secret('AIRPROOF_SECRET')
  if (key !== undefined) secrets.set('secret-key', Buffer.from(`${key}\n`))
  const { keyFile } = readChainSettings(context, dataFolder)
  if (!secrets.has('anchor.key') && existsSync(keyFile))
    secrets.set('anchor.key', readFileSync(keyFile))
  return secrets
}

/** Of the anvil that `up` runs here. */
function ownChain({ dataFolder }: SharedConfig): (() => Promise<Uint8Array>) | undefined {
  const { rpc, pids } = readRunningInstance(dataFolder) ?? {}
  return rpc !== undefined && pids?.['anvil'] !== undefined ? () => chainState(rpc) : undefined
}

/** The store in use, with what opens it; undefined: it is copied in another way. @throws MustAct */
function storeToCopy(
  kept: StorePlace,
  { store }: SharedConfig,
  withoutInflux: boolean,
): StoreSettings | undefined {
  if (kept.kind === 'sqlite') {
    if (existsSync(kept.file)) return kept
    throw new MustAct(
      `the readings are in ${kept.file}, which is not on this machine: run the backup where it is`,
    )
  }
  if (withoutInflux) return undefined
  if (isSameStore(kept, placeOf(store))) return store
  throw new MustAct(
    `the readings are in ${placeInWords(kept)}: give this command the INFLUX_ settings of the pipeline (or --without-influx, and copy them in another way)`,
  )
}

/**
 * InfluxDB has no moment, so of its rows those are copied that it surely has when the copy begins. They
 * include all that the snapshots, copied before, take for stored; the log, copied after it, has the rest.
 * @returns false: rows were deleted meanwhile
 */
async function copyStore(
  nc: NatsConnection,
  store: StoreSettings | undefined,
  folder: BackupFolder,
  context: CommandContext,
): Promise<boolean> {
  if (store === undefined) return true
  const file = folder.placeOf(storeFile)
  if (store.kind === 'sqlite') await copySqliteFile(store.file, file)
  else {
    // of a copy that was given up
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
    await using source = await openStore(store, { readOnly: true })
    await using target = await openStore({ kind: 'sqlite', file })
    const bound = await storedUpTo(nc, source)
    try {
      await copyRows({ source, target, bound }, context)
    } catch (error) {
      if (error instanceof SourceLacks) return false
      throw error
    }
  }
  await folder.take(storeFile)
  return true
}

async function bytesToCopy(nc: NatsConnection, sqlite: string | undefined): Promise<number> {
  const manager = await jetstreamManager(nc, { timeout: 10_000 })
  let bytes = sqlite === undefined ? 0 : statSync(sqlite).size
  for await (const { state } of manager.streams.list()) bytes += state.bytes
  return bytes
}

function refuseTooLittleRoom(folder: string, bytes: number, dataFolder: string): void {
  mkdirSync(dirname(folder), { recursive: true })
  const place = existsSync(folder) ? folder : dirname(folder)
  const isShared = existsSync(dataFolder) && statSync(place).dev === statSync(dataFolder).dev
  // the instance needs some of it meanwhile
  const needsBytes = bytes + (isShared ? leastRoomBytes : 0)
  const room = roomBytesOf(place)
  if (room < needsBytes)
    throw new MustAct(
      `${folder} has room for ${mebibytes(room)} MiB, and the backup may need ${mebibytes(needsBytes)}: make room, or name a folder on another disk`,
    )
}
