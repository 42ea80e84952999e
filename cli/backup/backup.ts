import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { readChainSettings } from '../../anchor/config.ts'
import { archiveFolder } from '../../operate/archive/archive-folder.ts'
import { readSealed } from '../../operate/exports/sealed-headers.ts'
import { chainState } from '../../runtime/engines/anvil.ts'
import { codeOf, exitCodes, MustAct } from '../../runtime/exit.ts'
import { mebibytes, roomBytesOf } from '../../runtime/machine/data-folder.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
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
import { copySqliteFile } from '../../store/sqlite/copy-file.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { openProgress } from '../shell/progress.ts'
import { exactWords } from '../shell/words.ts'
import { type BackupFolder, openBackupFolder } from './backup-folder.ts'
import { copyInstance } from './copy-instance.ts'
import { secretFilesIn } from './local-files.ts'
import type { Manifest } from './manifest.ts'
import { needPassphrase } from './passphrase.ts'
import { pointInWords } from './point.ts'
import { type SecretFiles, sealFiles } from './seal-files.ts'

export const sealedFile = 'secrets.sealed'
export const storeFile = 'readings.sqlite'

export const command: Command = {
  summary: 'copy a running instance into a folder, from which `restore` makes it again',
  help: `\
usage: airproof backup DIR [--without-archive] [--without-secrets] [--json]

Copies everything that a restored instance needs into DIR, which must be empty or not there, while
all processes go on: streams and buckets of NATS, the database if it is SQLite, pushes that wait on
the disk, the chain of the demonstration, the archive, and the secrets. Secrets (keys, passwords of
NATS, all other files of the data folder) are sealed with the passphrase in the file that
AIRPROOF_BACKUP_PASSPHRASE_FILE names: keep it elsewhere. The rest of DIR holds hashes of keys and
passwords and the addresses of accounts, so keep it private too.

It ends with the point up to which everything is in it. Killed, it leaves a folder that \`restore\`
refuses, and the next backup into the same folder begins again. Run it as the user operator, on the
machine of the data folder; with processes of your own, where AIRPROOF_SECRET_FILE and
ANCHOR_KEY_FILE are. An InfluxDB is not copied: stop the pipelines, and use its own tool beside this
command (docs/backup.md).

  --without-archive   the archive is copied in another way, for example by \`airproof mirror\`
  --without-secrets   no file of the data folder is sealed: you keep them elsewhere
  --json              the manifest, without its lists, as one line of JSON

examples:
  openssl rand -base64 24 > ~/passphrase && chmod 600 ~/passphrase
  AIRPROOF_BACKUP_PASSPHRASE_FILE=~/passphrase npx airproof backup /backups/$(date +%F)
  NATS_URL=nats://10.0.0.5:4222 NATS_USER=operator NATS_PASSWORD_FILE=secrets/operator-password \\
    AIRPROOF_BACKUP_PASSPHRASE_FILE=passphrase npx airproof backup /backups/today`,
  options: {
    'without-archive': { type: 'boolean' },
    'without-secrets': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    const [dir = ''] = exactWords(context.words, 'DIR')
    const { flags, print } = context
    const folder = resolve(dir)
    return await withInstance(context, async (nc, config) => {
      const manifest = await orFull(folder, () => backUp(nc, config, { ...context, folder }))
      if (flags['json'] === true) {
        const { streams, files, ...rest } = manifest
        print(JSON.stringify({ ...rest, streams: streams.length, files: files.length }))
      } else for (const line of linesOf(manifest, folder)) print(line)
      return exitCodes.done
    })
  },
}

const linesOf = ({ until, received_until, archive, store, files }: Manifest, folder: string) => [
  ...(store === 'influx'
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
  const { flags, folder, isTerminal, note } = context
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
  if (kept.kind === 'sqlite' && !existsSync(kept.file))
    throw new MustAct(
      `the readings are in ${kept.file}, which is not on this machine: run the backup where it is`,
    )
  const total = await bytesToCopy(nc, kept.kind === 'sqlite' ? kept.file : undefined)
  refuseTooLittleRoom(folder, total)
  using progress = openProgress({ label: 'KiB', total: Math.ceil(total / 1024), isTerminal })
  let [done, part] = [0, '']
  const show = (): void => progress.at(Math.min(done, total) / 1024, part)
  const written = openBackupFolder(folder, note, (bytes) => {
    done += bytes
    show()
  })
  if (passphrase !== undefined)
    await written.put(sealedFile, ({ write }) => write(sealFiles(secrets, passphrase)))
  const copied = await copyInstance({
    nc,
    folder: written,
    copyStore: () => copyStore(kept, written),
    dataFolder: config.dataFolder,
    archiveFolder: withArchive ? archive : undefined,
    chainState: ownChain(config),
    note: (name) => {
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
  return written.finish(manifest)
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

async function copyStore(
  store: { readonly kind: 'influx' } | { readonly kind: 'sqlite'; readonly file: string },
  folder: BackupFolder,
): Promise<void> {
  if (store.kind === 'influx') return
  await copySqliteFile(store.file, folder.placeOf(storeFile))
  await folder.take(storeFile)
}

async function bytesToCopy(nc: NatsConnection, sqlite: string | undefined): Promise<number> {
  const manager = await jetstreamManager(nc, { timeout: 10_000 })
  let bytes = sqlite === undefined ? 0 : statSync(sqlite).size
  for await (const { state } of manager.streams.list()) bytes += state.bytes
  return bytes
}

function refuseTooLittleRoom(folder: string, needsBytes: number): void {
  mkdirSync(dirname(folder), { recursive: true })
  const room = roomBytesOf(existsSync(folder) ? folder : dirname(folder))
  if (room < needsBytes)
    throw new MustAct(
      `${folder} has room for ${mebibytes(room)} MiB, and the backup may need ${mebibytes(needsBytes)}: make room, or name a folder on another disk`,
    )
}

/** The disk may become full all the same. */
async function orFull<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const isFull = codeOf(cause) === 'ENOSPC' || /disk is full/i.test(String(cause))
    if (!isFull) throw cause
    throw new MustAct(
      `the disk of ${folder} is full, so the backup is not finished: make room, and run the same command again, which begins again`,
      { cause },
    )
  }
}
