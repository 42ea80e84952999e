/**
 * Three nats-servers with the configuration of docs/growing.md, users and all. Each reaches each
 * other one through a link of its own, so a network can be cut; one may have a slow disk.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import { command as accessCommand } from '../../../cli/access/access.ts'
import { findNatsServer, type NatsServerEngine } from '../../../runtime/engines/find-nats-server.ts'
import type { Denied } from '../../../runtime/engines/nats-lines.ts'
import { type NatsServer, startNatsServer } from '../../../runtime/engines/nats-server.ts'
import { isOwnUser, type OwnUser } from '../../../runtime/engines/nats-users.ts'
import { onPath } from '../../../runtime/engines/tools.ts'
import { freePort } from '../../../runtime/machine/free-port.ts'
import { connectNats } from '../../../runtime/nats/nats.ts'
import { environment } from '../../../runtime/process/config.ts'
import type { Environment } from '../../../runtime/settings.ts'
import { runCommand } from '../run-command.ts'
import { type Link, openLink } from './link.ts'

const names = ['air-1', 'air-2', 'air-3'] as const
type Name = (typeof names)[number]

export type ClusterServer = {
  readonly name: Name
  readonly url: string
  /** SIGKILL: no message, no flush. */
  readonly kill: () => Promise<void>
  /** After a kill, on the same folder. @param slowDiskMs how long each fsync takes */
  readonly start: (options?: { readonly slowDiskMs?: number }) => Promise<void>
  /** SIGSTOP and SIGCONT: as a machine that is gone, no connection is closed. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Cuts its routes to the other servers; clients still reach it. */
  readonly isolate: () => void
  readonly rejoin: () => void
}

export type Cluster = AsyncDisposable & {
  /** All three, as NATS_URL. */
  readonly url: string
  readonly servers: readonly ClusterServer[]
  /** What `airproof access` wrote. */
  readonly secrets: string
  /** The settings that sign a process in. */
  readonly signIn: (user: OwnUser) => Environment
  /** Closed with the cluster. */
  readonly connect: (user: OwnUser) => Promise<NatsConnection>
  /** Cuts one route of three: both servers still reach the third one. */
  readonly cutBetween: (one: Name, other: Name) => { readonly heal: () => void }
}

/** Why a slow disk cannot be had here; undefined if it can. */
export const slowDiskMissing = (): string | undefined =>
  onPath('strace', environment()) === undefined
    ? 'strace, which slows a disk down, is not on this machine'
    : undefined

/** @param folder of the caller, who removes it */
export async function startCluster(folder: string): Promise<Cluster> {
  await using opened = new AsyncDisposableStack()
  const env = environment()
  const engine = await findNatsServer({ env })
  const secrets = join(folder, 'secrets')
  await runCommand(accessCommand, { words: [secrets] })
  const passwordFile = (user: OwnUser): string => join(secrets, `${user}-password`)
  const routePorts = await freePorts()
  const links = new Map<string, Link>()
  for (const from of names)
    for (const to of names)
      if (from !== to) links.set(`${from} ${to}`, opened.use(await openLink(routePorts[to])))
  const linksOf = (name: Name): readonly Link[] =>
    [...links].filter(([ends]) => ends.split(' ').includes(name)).map(([, link]) => link)

  const denied: Denied[] = []
  const startOne = async (name: Name): Promise<ClusterServer> => {
    const place = join(folder, name)
    mkdirSync(place)
    const [port, mqttPort, httpPort] = [await freePort(), await freePort(), await freePort()]
    const config = clusterConfig()
      .replace('server_name: air-1', `server_name: ${name}`)
      .replace('0.0.0.0:4222', `127.0.0.1:${port}`)
      .replace('127.0.0.1:8222', `127.0.0.1:${httpPort}`)
      .replace('0.0.0.0:1883', `127.0.0.1:${mqttPort}`)
      .replace('0.0.0.0:6222', `127.0.0.1:${routePorts[name]}`)
      // otherwise the others would find the way around a link that is cut
      .replace('name: air\n', `name: air\n  advertise: "127.0.0.1:1"\n`)
      .replace(/nats:\/\/(air-\d):6222/g, (_, other: Name) => {
        const port = links.get(`${name} ${other}`)?.port ?? routePorts[name]
        return `nats://127.0.0.1:${port}`
      })
      .replace('store_dir: /var/lib/nats', `store_dir: ${JSON.stringify(join(place, 'streams'))}`)
      .replace('"users.conf"', '"../secrets/users.conf"')
      .replaceAll(/^ *tls \{.*\}\n/gm, '')
    const start = (on: NatsServerEngine): Promise<NatsServer> =>
      startNatsServer({
        engine: on,
        folder: place,
        port,
        env,
        config,
        onDenied: (one) => void denied.push(one),
      })
    let server = await start(engine)
    opened.defer(async () => {
      server.kill('SIGCONT')
      await server.stop()
    })
    return {
      name,
      url: server.url,
      kill: async () => {
        server.kill('SIGKILL')
        await server.exited
      },
      start: async ({ slowDiskMs } = {}) => {
        server = await start(slowDiskMs === undefined ? engine : slowed(engine, place, slowDiskMs))
      },
      freeze: () => server.kill('SIGSTOP'),
      thaw: () => server.kill('SIGCONT'),
      isolate: () => {
        for (const link of linksOf(name)) link.cut()
      },
      rejoin: () => {
        for (const link of linksOf(name)) link.heal()
      },
    }
  }
  const servers = await Promise.all(names.map(startOne))
  const url = servers.map((server) => server.url).join(',')
  const all = opened.move()
  return {
    url,
    servers,
    secrets,
    signIn: (user) => ({
      NATS_URL: url,
      NATS_USER: user,
      NATS_PASSWORD_FILE: passwordFile(user),
    }),
    connect: async (user) => {
      const password = readFileSync(passwordFile(user), 'utf8').trim()
      const nc = await connectNats({ natsUrl: url, natsLogin: { user, password } }, { name: user })
      all.defer(() => nc.close())
      return nc
    },
    cutBetween: (one, other) => {
      const between = [links.get(`${one} ${other}`), links.get(`${other} ${one}`)]
      for (const link of between) link?.cut()
      return {
        heal: () => {
          for (const link of between) link?.heal()
        },
      }
    },
    [Symbol.asyncDispose]: async () => {
      await all.disposeAsync()
      const ours = denied.filter((one) => isOwnUser(one.who) && !isLateVerdict(one))
      if (ours.length > 0)
        throw new Error(`our own processes were denied: ${JSON.stringify(ours.slice(0, 5))}`)
    },
  }
}

/**
 * The gate may answer a question only on the connection where it was asked. A reload with another password
 * closes that one, and a verdict under way goes out on the next; the sensor asks again.
 */
const isLateVerdict = ({ who, subject }: Denied): boolean =>
  who === 'callout' && subject.startsWith('$SYS._INBOX.')

/** The one block of the page that configures a server. */
function clusterConfig(): string {
  const page = readFileSync('docs/growing.md', 'utf8')
  const [, config] = /^```\n(server_name: air-1\b[^`]*)```$/m.exec(page) ?? []
  if (config === undefined) throw new Error('docs/growing.md has no configuration of a cluster')
  return config
}

async function freePorts(): Promise<Readonly<Record<Name, number>>> {
  return { 'air-1': await freePort(), 'air-2': await freePort(), 'air-3': await freePort() }
}

/** The same server under strace, which delays what waits for the disk; the server is the child itself. */
function slowed(engine: NatsServerEngine, folder: string, ms: number): NatsServerEngine {
  if (engine.kind === 'docker') throw new Error('a disk is slowed down for a program alone')
  const file = join(folder, 'slow-nats-server')
  const slow = 'fsync,fdatasync'
  const inject = `-e trace=${slow} -e inject=${slow}:delay_enter=${ms * 1_000}`
  const line = `exec strace -D -f --seccomp-bpf -o /dev/null ${inject} '${engine.file}' "$@"`
  writeFileSync(file, `#!/bin/sh\n${line}\n`)
  chmodSync(file, 0o755)
  return { kind: 'program', file }
}
