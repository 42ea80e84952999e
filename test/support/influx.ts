import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../runtime/machine/free-port.ts'
import { environment } from '../../runtime/process/config.ts'
import { openInfluxStore } from '../../store/influx/influx.ts'
import { addInfluxBuckets, type InfluxBuckets, setUpInflux } from '../../store/influx/set-up.ts'
import type { Store } from '../../store/store.ts'
import { findInfluxd } from './engines/find-influxd.ts'
import { type Influxd, startInfluxd } from './engines/influxd.ts'

export type TestBucket = InfluxBuckets & {
  /** The pipeline's. */
  readonly token: string
  readonly url: string
  readonly org: string
  readonly bucket: string
  /** With the service's token. @param url of a proxy in front of the server; by default the server's own */
  readonly open: (url?: string) => Promise<Store>
  /** Deletes the bucket of readings. */
  readonly drop: () => Promise<void>
}

export type TestInflux = AsyncDisposable & {
  readonly url: string
  /** Of its data. */
  readonly folder: string
  readonly pid: () => number
  readonly operatorToken: string
  /** A fresh pair of buckets, so that one server per test file is enough. */
  readonly newBucket: () => Promise<TestBucket>
  /** SIGKILL: no message, no flush. */
  readonly kill: () => Promise<void>
  /** Restarts on the same port and folder. */
  readonly restart: () => Promise<void>
}

/**
 * Why no influxd is available here, for the name of a skipped test; undefined if one is. The
 * first time on a machine it may be built, for minutes.
 */
export async function influxMissing(): Promise<string | undefined> {
  const available = await findInfluxd({
    env: environment(),
    note: (line) => process.stderr.write(`${line}\n`),
  })
  return 'missing' in available ? available.missing : undefined
}

/** A real influxd on a free port with its own folder, both gone when disposed. */
export async function testInflux(): Promise<TestInflux> {
  const env = environment()
  const available = await findInfluxd({ env })
  if ('missing' in available) throw new Error(available.missing)
  const folder = mkdtempSync(join(tmpdir(), 'airproof-influxd-'))
  const port = await freePort()
  const start = (): Promise<Influxd> => startInfluxd({ path: available.path, folder, port, env })
  let server = await start()
  const { url } = server
  const org = 'airproof'
  const operator = await setUpInflux({ url, org, username: 'operator', password: secret() })
  return {
    url,
    folder,
    pid: () => server.pid,
    operatorToken: operator.operatorToken,
    newBucket: async () => {
      const bucket = `air_${randomBytes(6).toString('hex')}`
      const buckets = await addInfluxBuckets(operator, bucket)
      const token = await buckets.newWriteToken()
      const open = (at = url): Promise<Store> => openInfluxStore({ url: at, org, bucket, token })
      const drop = async (): Promise<void> => {
        const headers = { authorization: `Token ${operator.operatorToken}` }
        const asked = await fetch(`${url}/api/v2/buckets?name=${bucket}`, { headers })
        const found = (await asked.json()) as { buckets: readonly { id: string }[] }
        for (const { id } of found.buckets)
          await fetch(`${url}/api/v2/buckets/${id}`, { method: 'DELETE', headers })
      }
      return { ...buckets, token, url, org, bucket, open, drop }
    },
    kill: async () => {
      server.kill('SIGKILL')
      await server.exited
    },
    restart: async () => {
      await server.stop()
      server = await start()
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const secret = (): string => randomBytes(16).toString('hex')
