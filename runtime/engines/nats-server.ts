/** Our own nats-server: a child process with its own port, folder and configuration. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { MustAct } from '../exit.ts'
import type { Logger } from '../log.ts'
import { type Child, exitInWords, startChild } from '../machine/child.ts'
import type { Environment } from '../settings.ts'
import type { NatsServerEngine } from './find-nats-server.ts'
import { natsConfig } from './nats-config.ts'
import { copyCertificate, type DoorSettings, writeDoor } from './nats-door.ts'
import { type Denied, isOutOfSpace, readDenied, serverLines } from './nats-lines.ts'
import { endOrphan } from './orphan.ts'

export type NatsServer = Child & {
  readonly url: string
  readonly port: number
  /** Reads its certificate again; that disconnects the sensors, which then sign in again. */
  readonly reload: () => void
}

type StartOptions = {
  readonly engine: NatsServerEngine
  /** Its configuration, pid file and streams. One server at a time uses it. */
  readonly folder: string
  readonly port: number
  readonly env: Environment
  readonly syncAlways?: boolean
  /** The address it listens on; by default only this machine can reach it. */
  readonly host?: string
  /** Sensors sign in, over NATS and MQTT; absent: every client may do everything. */
  readonly door?: DoorSettings
  /** A complete configuration file instead of ours; it must listen on the port. */
  readonly config?: string
  /** Called for each line about a message that was not stored for lack of space. */
  readonly onNoRoom?: () => void
  /** Called for each action that is denied to a signed-in client. */
  readonly onDenied?: (denied: Denied) => void
  readonly log?: Logger
}

const loopback = '127.0.0.1'
const longestLastLine = 400
/** After a kill, a big store takes a while to be read. */
const readyWithinMs = 120_000

/** Resolves when the server accepts connections. @throws MustAct with its last lines */
export async function startNatsServer(options: StartOptions): Promise<NatsServer> {
  const { engine, folder, port, env, syncAlways = true, door, onNoRoom, onDenied, log } = options
  const { host = loopback } = options
  const configFile = join(folder, 'nats.conf')
  const pidFile = join(folder, 'nats-server.pid')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  await endLeftNatsServer({ engine, folder, ...(log && { log }) })

  const copyPair = (): boolean => {
    const why = door?.tls && copyCertificate(door.tls, folder)
    if (why !== undefined) log?.warn(`${why}: the former certificate stays in use`)
    return why === undefined
  }
  copyPair()
  const isInDocker = engine.kind === 'docker'
  const seenAs = isInDocker ? '/data' : folder
  const ours = {
    host: isInDocker ? '0.0.0.0' : host,
    port,
    storeFolder: join(seenAs, 'streams'),
    syncAlways,
    ...(door && { door: writeDoor(door, folder, seenAs) }),
  }
  writeFileSync(configFile, options.config ?? natsConfig(ours), { mode: 0o600 })
  const lastLines: string[] = []
  const logLine = serverLines(log)
  const child = await startChild({
    ...commandFor(engine, { folder, host, ports: portsOf(options), configFile, pidFile }),
    env,
    isGuarded: true,
    onLine: (line) => {
      lastLines.push(line.slice(0, longestLastLine))
      if (lastLines.length > 5) lastLines.shift()
      const isNoRoom = isOutOfSpace(line)
      if (isNoRoom) onNoRoom?.()
      // The callbacks log it once; the server logs it for every message.
      const denied = readDenied(line)
      if (denied) onDenied?.(denied)
      if ((isNoRoom && onNoRoom) || (denied && onDenied)) log?.debug(line)
      else logLine(line)
    },
  })
  try {
    await untilReady(child, { host: reachedAt(host), port })
  } catch (cause) {
    await child.stop()
    throw new MustAct(`nats-server did not start: ${lastLines.join(' | ')}`, { cause })
  }
  return {
    ...child,
    port,
    url: `nats://${reachedAt(host)}:${port}`,
    reload: () => {
      if (copyPair()) child.kill('SIGHUP')
    },
  }
}

/** The address to reach a server that listens on `host`: all addresses include the loopback. */
export const reachedAt = (host: string): string =>
  ['0.0.0.0', '::'].includes(host) ? loopback : host

const portsOf = ({ port, door }: StartOptions): readonly number[] =>
  door === undefined ? [port] : [port, door.mqttPort]

type LeftServer = Pick<StartOptions, 'engine' | 'folder' | 'log'>

/** Ends the server that a killed supervisor left on the folder, so that its port is free too. */
export async function endLeftNatsServer({ engine, folder, log }: LeftServer): Promise<void> {
  const [pidFile, configFile] = [join(folder, 'nats-server.pid'), join(folder, 'nats.conf')]
  if (await endOrphan(pidFile, configFile))
    log?.warn('ended a nats-server left over from a killed run')
  // A container outlives the killed client, so its name is derived from the folder.
  if (engine.kind === 'docker')
    execFileSync(engine.docker, ['rm', '-f', containerOf(folder)], { stdio: 'ignore' })
}

const containerOf = (folder: string): string =>
  `airproof-nats-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`

type Places = {
  readonly folder: string
  readonly host: string
  readonly ports: readonly number[]
  readonly configFile: string
  readonly pidFile: string
}

function commandFor(
  engine: NatsServerEngine,
  { folder, host, ports, configFile, pidFile }: Places,
): { command: string; args: string[] } {
  if (engine.kind === 'program')
    return { command: engine.file, args: ['-c', configFile, '-P', pidFile] }
  const { docker: command, image } = engine
  const user = process.getuid ? ['--user', `${process.getuid()}:${process.getgid?.()}`] : []
  const published = ports.flatMap((port) => ['-p', `${host}:${port}:${port}`])
  const places = [...published, '-v', `${folder}:/data`]
  return {
    command,
    args: [
      'run',
      '--rm',
      '--name',
      containerOf(folder),
      ...user,
      ...places,
      image,
      '-c',
      '/data/nats.conf',
    ],
  }
}

/** The server greets a client as soon as its streams are read. */
async function untilReady(child: Child, at: Address): Promise<void> {
  const deadlineMs = performance.now() + readyWithinMs
  while (!(await greets(at))) {
    if (!child.isAlive()) throw new Error(exitInWords(await child.exited))
    if (performance.now() > deadlineMs) throw new Error(`silent for ${readyWithinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

type Address = { readonly host: string; readonly port: number }

const greets = ({ host, port }: Address): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, host)
    const done = (isUp: boolean): void => {
      socket.destroy()
      resolve(isUp)
    }
    socket.setTimeout(2_000, () => done(false))
    socket.once('data', (data) => done(data.toString('latin1').startsWith('INFO ')))
    socket.once('error', () => done(false))
    socket.once('close', () => done(false))
  })
