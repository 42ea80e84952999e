import { mkdirSync } from 'node:fs'
import { openNatsAccess, rotatedUsers } from '../../runtime/engines/nats-access.ts'
import { type OwnUser, ownUsers } from '../../runtime/engines/nats-users.ts'
import { exitCodes, MustAct, WrongUsage } from '../../runtime/exit.ts'
import { readRunningInstance, writeRunningInstance } from '../../runtime/machine/running-instance.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { textsFlag } from '../shell/words.ts'
import { type AccessPlace, placeOf, placeOfUp } from './places.ts'
import { reloadAll } from './reload.ts'
import { finish, offer, type Servers } from './rotate.ts'

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

With --rotate NAME a user of NATS gets a new password while everything goes on: ${ownUsers.join(', ')};
--all is all of them. Without DIR it is those of the \`airproof up\` that runs on the data folder, and
it is done when the command ends. With DIR the password files have both passwords at first: bring
them to the processes that do not read them in DIR, and restart those that read them at their start
only (containers of a cluster, credentials of systemd). Then --finish gives the new passwords to
users.conf, has the servers of NATS_URL read it, and deletes the former ones. --now does both at
once, where all processes read the files in DIR. A command that was interrupted is run again.
docs/secrets.md has all other secrets.

  --rotate NAME   one of them; several times for several
  --all           all of them, in one reload of the servers
  --now           with DIR: all processes read the files in DIR themselves
  --finish        the second half, or the rest after an interruption
  --json          print data as JSON

examples:
  npx airproof access secrets
  NATS_URL=nats://10.0.0.5:4222 NATS_USER=api NATS_PASSWORD_FILE=secrets/api-password \\
    npx airproof api
  npx airproof access --rotate pipeline
  NATS_URL=nats://10.0.0.5:4222 npx airproof access secrets --all --now`,
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
    const users = wantedUsers(context)
    const isFinish = flags['finish'] === true
    if (users.length > 0 && isFinish)
      throw new WrongUsage('--finish ends the rotation that is under way: it takes no names')
    if (users.length > 0 || isFinish) return await rotate(context, { folder, users })
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
function wantedUsers({ flags }: CommandContext): readonly OwnUser[] {
  if (flags['all'] === true) return ownUsers
  return textsFlag(flags, 'rotate').map((name) => {
    const user = ownUsers.find((known) => known === name)
    if (user !== undefined) return user
    throw new WrongUsage(
      `--rotate takes a user of NATS (${ownUsers.join(', ')}), and "${name}" is none: docs/secrets.md says how every other secret is rotated`,
    )
  })
}

type Wanted = { readonly folder: string | undefined; readonly users: readonly OwnUser[] }

async function rotate(context: CommandContext, { folder, users }: Wanted): Promise<number> {
  const { flags, note, stop } = context
  const { place, servers } = folder === undefined ? ofUp(context) : ofFolder(context, folder)
  const rotating = { place, note, stop }
  if (users.length > 0) {
    const offered = offer(users, rotating)
    if (folder !== undefined && flags['now'] !== true) {
      const { dir, names } = { dir: folder, names: offered.join(', ') }
      say(
        context,
        { folder, step: 'offered', users: offered },
        `${names}: the files in ${dir} have the next password too, and the servers still take the present one.\n` +
          `1. bring each file to the processes that do not read it in ${dir}, and restart those that read it at their start only\n` +
          `2. \`airproof access ${dir} --finish\`, with NATS_URL`,
      )
      return exitCodes.done
    }
  }
  if (rotatedUsers(openNatsAccess(place.accessFile)).length === 0)
    throw new MustAct('no rotation is under way: `airproof access --rotate NAME` begins one')
  const startMs = performance.now()
  // through the operators' log, whatever came of it
  return await withInstance(asOperatorOf(context, place, folder), async () => {
    const done = await finish(servers(), rotating)
    if (folder === undefined) announceOperator(context)
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1)
    say(
      context,
      { step: 'done', users: done },
      `${done.join(', ')}: a new password after ${seconds} s; the former one is refused`,
    )
    return exitCodes.done
  })
}

type Target = { readonly place: AccessPlace; readonly servers: () => Servers }

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
  return {
    place,
    servers: () => ({
      urls: [running.nats],
      natsPinFile: running.nats_pin,
      reload: () => {
        process.kill(readRunningInstance(dataFolder)?.pids['nats-server'] ?? pid, 'SIGHUP')
        return Promise.resolve(true)
      },
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
        throw new WrongUsage('NATS_URL is needed: the address of every server of the cluster')
      const urls = natsUrl.split(',').map((url) => url.trim())
      return { urls, natsPinFile, reload: () => reloadAll({ urls, natsPinFile, place, stop: context.stop }) }
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
