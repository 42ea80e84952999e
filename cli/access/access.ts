import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openNatsAccess, rotatedUsers } from '../../runtime/engines/nats-access.ts'
import { ownUsers } from '../../runtime/engines/nats-users.ts'
import { exitCodes, MustAct, WrongUsage } from '../../runtime/exit.ts'
import {
  readRunningInstance,
  writeRunningInstance,
} from '../../runtime/machine/running-instance.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import { secretKeyFile } from '../../runtime/secrets/secret-key.ts'
import { readSettings } from '../../runtime/settings.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { textsFlag } from '../shell/words.ts'
import { type AccessPlace, placeOf, placeOfUp } from './places.ts'
import { reloadServer } from './reload.ts'
import { finish, offer, type Servers } from './rotate.ts'
import { finishKey, isKeyOffered, offerKey } from './rotate-key.ts'
import { finishSeed, offerSeed, type Restarting } from './rotate-seed.ts'

export const command: Command = {
  summary: 'passwords and users for a NATS server that sensors sign in to, and new ones',
  help: `\
usage: airproof access DIR
       airproof access --rotate NAME | --all [DIR [--now]]
       airproof access --finish [DIR]

Writes into DIR, readable only by you, what a NATS server or cluster of your own and our processes
need so that sensors sign in: users.conf, which the server's configuration includes; a password
file for each of our processes, and the gate's callout-seed; and nats-access.json, from which all
of it is written again whenever the command runs, so keep that one.

With --rotate NAME a secret is replaced while everything goes on: the password of a user of NATS
(${ownUsers.join(', ')}),
webhook-key, the key that seals webhooks' secrets (AIRPROOF_SECRET_FILE), or callout-seed, with
which the gate signs its verdicts. --all is all of them but callout-seed, which servers take only
at a restart: --finish names the servers to restart, one after the other.
Without DIR it is those of the \`airproof up\` that runs on the data folder, and it is done when the
command ends. With DIR the files have both secrets at first: bring them to the processes that do
not read them in DIR, and restart those that read them at their start only (credentials of
systemd). Then --finish gives the new passwords to users.conf, has the servers of NATS_URL read it,
one after the other, looks whether each took them, and deletes the former ones. NATS_URL names every
server of a cluster. --now does both at once, where all processes read the files in DIR. A
command that was interrupted is run again.
docs/secrets.md has all other secrets.

  --rotate NAME   one of them; several times for several
  --all           all of them but callout-seed, with one reload of each server
  --now           with DIR: all processes read the files in DIR themselves
  --finish        the second half, or the rest after an interruption
  --json          print data as JSON

examples:
  npx airproof access secrets
  NATS_URL=nats://10.0.0.5:4222 NATS_USER=api NATS_PASSWORD_FILE=secrets/api-password \\
    npx airproof api
  npx airproof access --rotate pipeline
  NATS_URL=nats://air-1:4222,nats://air-2:4222,nats://air-3:4222 \\
    npx airproof access secrets --all --now`,
  options: {
    rotate: { type: 'string', multiple: true },
    all: { type: 'boolean' },
    now: { type: 'boolean' },
    finish: { type: 'boolean' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    const { words, flags } = context
    const [folder, ...others] = words
    if (others.length > 0) throw new WrongUsage('access takes one folder')
    const names = wantedNames(context)
    const isFinish = flags['finish'] === true
    if (names.length > 0 && isFinish)
      throw new WrongUsage('--finish ends the rotation that is under way: it takes no names')
    if (names.length > 0 || isFinish) return await rotate(context, { folder, names })
    if (folder === undefined) throw new WrongUsage('access needs DIR, --rotate NAME or --all')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const place = placeOf(folder)
    const files = ['nats-access.json', ...place.write(openNatsAccess(place.accessFile))]
    say(context, { folder, files }, `in ${folder}: ${files.join(', ')}`)
    return exitCodes.done
  },
}

const say = ({ flags, print }: CommandContext, data: object, words: string): void =>
  print(flags['json'] === true ? JSON.stringify(data) : words)

/** @throws WrongUsage for a name that is none of them */
function wantedNames({ flags }: CommandContext): readonly Name[] {
  if (flags['all'] === true) return allNames
  return textsFlag(flags, 'rotate').map((wanted) => {
    const name = knownNames.find((known) => known === wanted)
    if (name !== undefined) return name
    throw new WrongUsage(
      `--rotate takes one of ${knownNames.join(', ')}, and "${wanted}" is none of them: docs/secrets.md says how every other secret is rotated`,
    )
  })
}

/** The key that seals webhooks' secrets; in compose its file has this name. */
const sealingKey = 'webhook-key'
const allNames = [...ownUsers, sealingKey] as const
/** Its servers must be restarted, so it is not one of `--all`. */
const calloutSeed = 'callout-seed'
const knownNames = [...allNames, calloutSeed] as const
type Name = (typeof knownNames)[number]

type Wanted = {
  readonly folder: string | undefined
  readonly names: readonly Name[]
}

async function rotate(context: CommandContext, { folder, names }: Wanted): Promise<number> {
  const { flags, note, stop } = context
  const { place, servers } = folder === undefined ? ofUp(context) : ofFolder(context, folder)
  const keyFile = keyFileOf(context, {
    folder,
    isNeeded: names.includes(sealingKey) && !flags['all'],
  })
  const rotating = { place, note, stop }
  const users = names.filter((name) => name !== sealingKey && name !== calloutSeed)
  if (users.length > 0 && names.includes(calloutSeed))
    throw new WrongUsage('callout-seed is rotated alone: its servers are restarted, not reloaded')
  if (users.length > 0) offer(users, rotating)
  if (names.includes(calloutSeed)) offerSeed(rotating)
  if (names.includes(sealingKey) && keyFile !== undefined) offerKey(keyFile)
  const access = openNatsAccess(place.accessFile)
  const isSeed = access.rotation?.issuerSeed !== undefined
  const underWay = [
    ...rotatedUsers(access),
    ...(isSeed ? [calloutSeed] : []),
    ...(keyFile !== undefined && isKeyOffered(keyFile) ? [sealingKey] : []),
  ]
  if (underWay.length === 0)
    throw new MustAct('no rotation is under way: `airproof access --rotate NAME` begins one')
  if (names.length > 0 && folder !== undefined && flags['now'] !== true) {
    say(
      context,
      { folder, step: 'offered', names: underWay },
      `${underWay.join(', ')}: the files in ${folder} have the next one too; the present one still counts.\n` +
        `1. bring each file to the processes that do not read it in ${folder}, and restart those that read it at their start only\n` +
        `2. \`airproof access ${folder} --finish\`, with NATS_URL`,
    )
    return exitCodes.done
  }
  const startMs = performance.now()
  // through the operators' log, whatever came of it
  return await withInstance(asOperatorOf(context, place, folder), async (nc) => {
    await finish(servers(), rotating)
    if (isSeed) await finishSeed(servers(), rotating)
    if (folder === undefined) announceOperator(context)
    if (underWay.includes(sealingKey) && keyFile !== undefined)
      await finishKey(nc, { file: keyFile, stop })
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1)
    say(
      context,
      { step: 'done', names: underWay },
      `${underWay.join(', ')}: new after ${seconds} s; the former one is no longer valid`,
    )
    return exitCodes.done
  })
}

/** The file that AIRPROOF_SECRET_FILE names, else that of DIR or of the data folder. */
function keyFileOf(
  context: CommandContext,
  { folder, isNeeded }: { readonly folder: string | undefined; readonly isNeeded: boolean },
): string | undefined {
  const { dataFolder } = readSharedConfig(context)
  const isNamed = readSettings(context).isSet('AIRPROOF_SECRET')
  const file =
    isNamed || folder === undefined ? secretKeyFile(context, dataFolder) : join(folder, sealingKey)
  if (file !== undefined && existsSync(file)) return file
  if (!isNeeded) return undefined
  throw new MustAct(
    file === undefined
      ? 'AIRPROOF_SECRET has the key itself: put it into a file, name that with AIRPROOF_SECRET_FILE instead, restart the notifier, the API and the dashboard, and run this again'
      : `there is no key in ${file}: name its file with AIRPROOF_SECRET_FILE`,
  )
}

type Target = { readonly place: AccessPlace; readonly servers: () => Servers & Restarting }

/** The server that `up` runs here. @throws MustAct none does */
function ofUp(context: CommandContext): Target {
  const { dataFolder } = readSharedConfig(context)
  const running = readRunningInstance(dataFolder)
  const pid = running?.pids['nats-server']
  if (running === undefined || pid === undefined)
    throw new MustAct(
      `no \`airproof up\` with a NATS server of its own runs on ${dataFolder}: start it, or name the folder of \`airproof access DIR\``,
    )
  const place = placeOfUp(dataFolder)
  const signal = (name: 'SIGHUP' | 'SIGTERM'): void =>
    void process.kill(readRunningInstance(dataFolder)?.pids['nats-server'] ?? pid, name)
  return {
    place,
    servers: () => ({
      urls: [running.nats],
      natsPinFile: running.nats_pin,
      reload: () => {
        signal('SIGHUP')
        return Promise.resolve('asked')
      },
      // `up` starts it again
      restart: () => signal('SIGTERM'),
    }),
  }
}

function ofFolder(context: CommandContext, folder: string): Target {
  const place = placeOf(folder)
  return {
    place,
    servers: () => {
      const { natsUrl, natsPinFile } = readSharedConfig(context)
      if (natsUrl === undefined)
        throw new WrongUsage('NATS_URL is needed: the address of the server')
      const urls = natsUrl.split(',').map((url) => url.trim())
      return {
        urls,
        natsPinFile,
        reload: (url) => reloadServer(url, { urls, natsPinFile, place, stop: context.stop }),
      }
    },
  }
}

/** The operator's password of this folder, unless the settings have another user. */
function asOperatorOf(
  context: CommandContext,
  place: AccessPlace,
  folder: string | undefined,
): CommandContext {
  if (folder === undefined || context.env['NATS_USER'] !== undefined) return context
  const own = { NATS_USER: 'operator', NATS_PASSWORD_FILE: place.passwordFile('operator') }
  return { ...context, env: { ...context.env, ...own } }
}

/** `ready.json` has the operator's password for scripts. */
function announceOperator(context: CommandContext): void {
  const { dataFolder } = readSharedConfig(context)
  const running = readRunningInstance(dataFolder)
  if (running?.nats_operator === undefined) return
  const { passwords } = openNatsAccess(placeOfUp(dataFolder).accessFile)
  const nats_operator = { ...running.nats_operator, password: passwords.operator }
  writeRunningInstance(dataFolder, { ...running, nats_operator })
}
