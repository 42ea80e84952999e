import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import { openNatsAccess, usersFileOf } from '../../runtime/engines/nats-access.ts'
import { startNatsServer } from '../../runtime/engines/nats-server.ts'
import { exitCodes, MustAct } from '../../runtime/exit.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { placeInWords, placeOf, type StoreSettings } from '../../runtime/machine/store-place.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { shownUrl } from '../../runtime/nats/nats-trouble.ts'
import { streamTable } from '../../runtime/nats/streams/stream-table.ts'
import { writePrivateFile } from '../../runtime/private-file.ts'
import { readSharedConfig, type SharedConfig } from '../../runtime/process/config.ts'
import { openStore } from '../../store/open-store.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { openProgress } from '../shell/progress.ts'
import { exactWords } from '../shell/words.ts'
import { copyRows } from '../store/copy-rows.ts'
import { tokenFiles } from '../store/setup.ts'
import { sealedFile, storeFile } from './backup.ts'
import { checkFiles, refuseNested } from './backup-folder.ts'
import { inBackupWords } from './in-backup-words.ts'
import { type Manifest, readManifest, unfinishedFile } from './manifest.ts'
import { anchoredSince, refuseLivingOriginal } from './original.ts'
import { type Point, pointInWords } from './point.ts'
import { putBack } from './put-back.ts'
import { needPassphrase, openFiles, type SecretFiles } from './seal-files.ts'

export const command: Command = {
  summary: 'make an instance again from a backup, in an empty place',
  help: `\
usage: airproof restore DIR --data NEW [--without-secrets] [--behind-the-chain]

Makes the instance of the backup in DIR again, in the data folder NEW, which must be empty or not
there. Then \`airproof up --data NEW\` goes on from the point that is printed. With NATS_URL the
streams go into that NATS, as the user operator, which must hold none of them; the other files go
into NEW. With INFLUX_URL the readings go into that InfluxDB, whose bucket must be empty, else into
an SQLite file, wherever the original had them; NEW may have the tokens of \`airproof store setup\`.
Every file is held against the manifest before anything is written. Killed, it leaves
nothing that could be started, and may be run again.

It refuses if the instance that the backup was made of still runs: on this machine, or with its NATS
where the backup found it. With CHAIN_RPC_URL it also asks the contract what was anchored after the
backup. An original that runs elsewhere, out of reach, is not noticed: make sure that it is gone.

What was accepted after the point is not in it. A sensor that keeps its readings until it has a
receipt sends them again. What was anchored after the point: docs/backup.md, before you start it.

  --without-secrets   the backup has none, or they are kept elsewhere: put them into NEW yourself
  --behind-the-chain  go on although batches were anchored after the backup: their readings are
                      not in it, and \`airproof anchor deploy --from-batch\` follows

examples:
  AIRPROOF_BACKUP_PASSPHRASE_FILE=~/passphrase npx airproof restore /backups/today --data .airproof
  CHAIN_RPC_URL=https://rpc.example NATS_URL=nats://10.0.0.6:4222 NATS_USER=operator \\
    NATS_PASSWORD_FILE=secrets/operator-password AIRPROOF_BACKUP_PASSPHRASE_FILE=passphrase \\
    npx airproof restore /backups/today --data /srv/air`,
  options: {
    'without-secrets': { type: 'boolean' },
    'behind-the-chain': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    const [dir = ''] = exactWords(context.words, 'DIR')
    const config = readSharedConfig(context)
    const folder = resolve(dir)
    const manifest = readManifest(folder)
    const point = await inBackupWords(
      `a disk that ${config.dataFolder} needs is full, so nothing was restored: make room, and run the same command again`,
      () => restore({ context, config, folder, manifest }),
    )
    if (context.flags['json'] === true)
      context.print(JSON.stringify({ until: point, data: config.dataFolder }))
    else for (const line of linesOf(manifest, point, config)) context.print(line)
    return exitCodes.done
  },
}

function linesOf(manifest: Manifest, point: Point, { dataFolder, natsUrl, store }: SharedConfig) {
  const next =
    natsUrl === undefined
      ? `\`airproof up --data ${dataFolder}\` continues with them`
      : 'start the processes'
  return [
    `${dataFolder} contains ${pointInWords(point)}, and all that NATS had acknowledged up to ${manifest.received_until.slice(0, 19)}Z, which is judged at the start; ${next}`,
    'what was accepted after that is not in it: docs/backup.md says who sends it again',
    ...(manifest.archive === 'left out'
      ? ['the archive is not in the backup: put it back before you start (AIRPROOF_ARCHIVE_DIR)']
      : []),
    hasRows(manifest)
      ? `the readings are in ${placeInWords(placeOf(store))}`
      : 'restore the InfluxDB of the backup before you start: `influx restore`',
  ]
}

type Restoring = {
  readonly context: CommandContext
  readonly config: SharedConfig
  readonly folder: string
  readonly manifest: Manifest
}

async function restore({ context, config, folder, manifest }: Restoring): Promise<Point> {
  const { flags, stop, note, isTerminal } = context
  const { dataFolder, natsLogin } = config
  refuseInUse(dataFolder)
  refuseNested(folder, dataFolder)
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
  using progress = openProgress({
    label: 'KiB checked',
    total: Math.ceil(total / 1024),
    isTerminal,
    note,
  })
  let done = 0
  await checkFiles(folder, manifest, (bytes) => progress.at(Math.floor((done += bytes) / 1024)))
  const secrets = openSecrets(folder, context)
  await refuseLivingOriginal({ manifest, secrets, natsLogin, stop })
  const ahead = await anchoredSince(manifest, context, dataFolder)
  if (ahead !== undefined && flags['behind-the-chain'] !== true)
    throw new MustAct(
      `${ahead}: the original may still run, or a newer backup may exist. If the original is gone and there is none, run this again with --behind-the-chain, and follow docs/backup.md`,
    )
  const aside = `${dataFolder}.restoring`
  makeAside(aside, note)
  let point: Point
  try {
    point = await restoreInto(aside, { context, config, folder, manifest, secrets })
  } catch (error) {
    // secrets are in it
    rmSync(aside, { recursive: true })
    throw error
  }
  rmSync(join(aside, unfinishedFile))
  for (const token of tokensIn(dataFolder)) rmSync(token)
  if (existsSync(dataFolder)) rmdirSync(dataFolder)
  renameSync(aside, dataFolder)
  if (ahead !== undefined)
    note(
      `${ahead}. Anchoring will stop with the alarm DIVERGED until you run \`airproof anchor deploy --owner ADDRESS --from-batch ${manifest.anchoring.sealed}\` (docs/backup.md)`,
    )
  return point
}

async function restoreInto(
  aside: string,
  { context, config, folder, manifest, secrets }: Restoring & { readonly secrets: SecretFiles },
): Promise<Point> {
  for (const [path, bytes] of secrets) writeInto(aside, path, bytes)
  // those of the InfluxDB that is there now
  for (const token of tokensIn(config.dataFolder))
    writeInto(aside, basename(token), readFileSync(token))
  await copyFiles(manifest, folder, aside)
  await using nats = await openTarget(context, config, aside)
  await refuseStreams(nats.nc, config)
  if (config.store.kind === 'influx' && hasRows(manifest))
    await moveRows(join(aside, storeFile), config.store, context)
  return await putBack({
    nc: nats.nc,
    folder,
    manifest,
    store: hasRows(manifest) ? placeOf(config.store) : undefined,
    replicas: config.replicas,
    note: (part) => context.note(`restoring: ${part}`),
  })
}

const hasRows = ({ files }: Manifest): boolean => files.some(({ path }) => path === storeFile)

/** Into a bucket that has none, or a part of them, of a restore that was interrupted. */
async function moveRows(
  file: string,
  store: StoreSettings,
  context: CommandContext,
): Promise<void> {
  {
    await using source = await openStore({ kind: 'sqlite', file })
    await using target = await openStore(store)
    await target.ping()
    await copyRows({ source, target, bound: everything }, context)
  }
  rmSync(file)
}

const everything = { upTo: Array<number>(partitionCount).fill(Infinity), restFrom: 0 }

/** What `airproof store setup` made before the restore. */
const tokensIn = (dataFolder: string): readonly string[] =>
  tokenFiles.map((name) => join(dataFolder, name)).filter((file) => existsSync(file))

function refuseInUse(dataFolder: string): void {
  if (existsSync(dataFolder) && readdirSync(dataFolder).length > tokensIn(dataFolder).length)
    throw new MustAct(
      `${dataFolder} is not empty: restore into another folder with --data, or move this one away`,
    )
}

function openSecrets(folder: string, context: CommandContext): SecretFiles {
  const file = join(folder, sealedFile)
  if (context.flags['without-secrets'] === true || !existsSync(file)) return new Map()
  const passphrase = needPassphrase(context, 'the secrets of the backup are sealed')
  return openFiles(readFileSync(file), passphrase)
}

/** All is restored beside the data folder, which appears when it is complete. */
function makeAside(aside: string, note: (line: string) => void): void {
  if (existsSync(aside)) {
    if (!existsSync(join(aside, unfinishedFile)))
      throw new MustAct(`${aside} is in the way: move it away`)
    note(`an interrupted restore is in ${aside}: it is removed, and begins again`)
    rmSync(aside, { recursive: true })
  }
  mkdirSync(aside, { recursive: true, mode: 0o700 })
  writePrivateFile(join(aside, unfinishedFile), '')
}

function writeInto(folder: string, path: string, bytes: Buffer): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, bytes, { mode: 0o600 })
}

/** Of the backup's files those that are not streams or secrets. */
async function copyFiles({ files }: Manifest, folder: string, to: string): Promise<void> {
  for (const { path } of files) {
    const [, inside] = /^(?:files\/)(.+)$/.exec(path) ?? []
    const place = path === storeFile || path.startsWith('archive/') ? path : inside
    if (place === undefined) continue
    mkdirSync(dirname(join(to, place)), { recursive: true, mode: 0o700 })
    await copyFile(join(folder, path), join(to, place))
  }
}

type Target = AsyncDisposable & { readonly nc: NatsConnection }

/** The NATS of the settings, or one of our own on the folder, as `up` will start it. */
async function openTarget(
  { env, stop, note }: CommandContext,
  config: SharedConfig,
  folder: string,
): Promise<Target> {
  await using opened = new AsyncDisposableStack()
  const settings = config.natsUrl === undefined ? await ownTarget() : config
  async function ownTarget() {
    const access = openNatsAccess(join(folder, 'nats-access.json'))
    const server = await startNatsServer({
      engine: await findNatsServer({ env, note }),
      folder: join(folder, 'nats'),
      port: await freePort(),
      // what is interrupted is removed, so nothing needs to be on the disk before the end
      syncAlways: false,
      door: { users: usersFileOf(access), mqttPort: await freePort() },
      env,
    })
    opened.defer(async () => void (await server.stop()))
    const natsLogin = { user: 'operator', password: access.passwords.operator }
    return { natsUrl: server.url, natsLogin }
  }
  const nc = await connectNats(settings, { name: 'airproof restore', once: true, stop })
  opened.defer(() => nc.close())
  const closing = opened.move()
  return { nc, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

async function refuseStreams(nc: NatsConnection, { natsUrl = '' }: SharedConfig): Promise<void> {
  const manager = await jetstreamManager(nc, { timeout: 10_000 })
  const ours = new Set(streamTable().map(({ name }) => name))
  const there: string[] = []
  for await (const name of manager.streams.names())
    if (ours.has(name) && !name.startsWith('$MQTT')) there.push(name)
  if (there.length > 0)
    throw new MustAct(
      `the NATS at ${shownUrl(natsUrl)} holds streams of airproof already (${there.slice(0, 3).join(', ')}${there.length > 3 ? ' …' : ''}): restore into an empty one. If an interrupted restore left them, delete them first (\`nats stream rm\`)`,
    )
}
