import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import { newNatsAccess, usersFileOf } from '../../runtime/engines/nats-access.ts'
import { natsConfig } from '../../runtime/engines/nats-config.ts'
import type { Denied } from '../../runtime/engines/nats-lines.ts'
import { type NatsServer, startNatsServer } from '../../runtime/engines/nats-server.ts'
import { type OwnUser, usersConf } from '../../runtime/engines/nats-users.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import type { NatsLogin } from '../../runtime/nats/nats-trouble.ts'
import { environment } from '../../runtime/process/config.ts'

const access = newNatsAccess()
/** The process as which to connect to a `testNats`, with its rights and no others. */
export const loginAs = (user: OwnUser): NatsLogin => ({ user, password: access.passwords[user] })
/** The same as settings of the process. */
export const signInAs = (user: OwnUser): Readonly<Record<string, string>> => ({
  NATS_USER: user,
  NATS_PASSWORD: access.passwords[user],
})

export type TestNats = AsyncDisposable & {
  readonly url: string
  readonly pid: () => number
  /** Connects as our processes do; the caller closes it. */
  readonly connect: (name?: string) => Promise<NatsConnection>
  /** SIGKILL: no message, no flush. */
  readonly kill: () => Promise<void>
  /** SIGSTOP and SIGCONT: running, but silent. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Restarts on the same port and folder. */
  readonly restart: () => Promise<void>
  /** Restarts, and meanwhile saves the folders of these streams, or restores what was saved. */
  readonly keepStreams: (...names: readonly string[]) => Promise<void>
  readonly putStreamsBack: (...names: readonly string[]) => Promise<void>
}

/** A real nats-server on a free port with its own folder, both gone when disposed. */
export async function testNats({ syncAlways = false } = {}): Promise<TestNats> {
  const env = environment()
  const engine = await findNatsServer({ env })
  const folder = mkdtempSync(join(tmpdir(), 'airproof-nats-'))
  const port = await freePort()
  const mqttPort = await freePort()
  const config = natsConfig({
    host: '127.0.0.1',
    port,
    storeFolder: join(folder, 'streams'),
    syncAlways,
    door: { usersFile: 'users.conf', mqttPort },
  })
  writeFileSync(join(folder, 'users.conf'), usersConf(usersFileOf(access)))
  const denied: Denied[] = []
  const start = (): Promise<NatsServer> =>
    startNatsServer({
      engine,
      folder,
      port,
      env,
      // a client without a user may do everything
      config: `${config}no_auth_user: operator\n`,
      onDenied: (one) => void denied.push(one),
    })
  let server = await start()
  const kept = join(folder, 'kept')
  const copyWhileStopped = async (names: readonly string[], isKeeping: boolean): Promise<void> => {
    await server.stop()
    for (const name of names) {
      const [stream] = globSync(join(folder, '**', 'streams', name))
      if (stream === undefined) throw new Error(`the server has no folder of stream ${name}`)
      const aside = join(kept, name)
      const [from, to] = isKeeping ? [stream, aside] : [aside, stream]
      rmSync(to, { recursive: true, force: true })
      cpSync(from, to, { recursive: true })
    }
    server = await start()
  }
  return {
    url: server.url,
    pid: () => server.pid,
    connect: (name = 'test') => connectNats({ natsUrl: server.url }, { name }),
    kill: async () => {
      server.kill('SIGKILL')
      await server.exited
    },
    freeze: () => {
      server.kill('SIGSTOP')
      untilAsleep(server.pid)
    },
    thaw: () => server.kill('SIGCONT'),
    restart: async () => {
      await server.stop()
      server = await start()
    },
    keepStreams: (...names) => copyWhileStopped(names, true),
    putStreamsBack: (...names) => copyWhileStopped(names, false),
    [Symbol.asyncDispose]: async () => {
      server.kill('SIGCONT')
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
      if (denied.length > 0)
        throw new Error(`our own processes were denied: ${JSON.stringify(denied.slice(0, 5))}`)
    },
  }
}

/** A signal takes a moment to arrive: until then the server would still respond. */
function untilAsleep(pid: number): void {
  for (let tries = 0; tries < 10_000; tries++) {
    const [, state] = /\) (\w) /.exec(statusOf(pid)) ?? []
    if (state === undefined || state === 'T') return
  }
}

/** Empty if the system does not reveal it. */
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}
