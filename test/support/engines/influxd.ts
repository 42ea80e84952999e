/** Our own influxd: a child process with its own port and folder, for tests and benchmarks. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { endOrphan } from '../../../runtime/engines/orphan.ts'
import { MustAct } from '../../../runtime/exit.ts'
import { type Child, exitInWords, startChild } from '../../../runtime/machine/child.ts'
import type { Environment } from '../../../runtime/settings.ts'

export type Influxd = Child & { readonly url: string; readonly port: number }

type StartOptions = {
  readonly path: string
  /** Its data and pid file. One server at a time uses it. */
  readonly folder: string
  readonly port: number
  readonly env: Environment
}

const loopback = '127.0.0.1'
/** After a kill, a big store takes a while to be read. */
const healthyWithinMs = 120_000

/** Resolves when the server responds. @throws MustAct with its last lines */
export async function startInfluxd({ path, folder, port, env }: StartOptions): Promise<Influxd> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const boltPath = join(folder, 'influxd.bolt')
  const pidFile = join(folder, 'influxd.pid')
  await endOrphan(pidFile, boltPath)

  const lastWords: string[] = []
  const child = await startChild({
    command: path,
    args: [
      `--bolt-path=${boltPath}`,
      `--engine-path=${join(folder, 'engine')}`,
      `--sqlite-path=${join(folder, 'influxd.sqlite')}`,
      `--http-bind-address=${loopback}:${port}`,
      '--reporting-disabled',
    ],
    env,
    isGuarded: true,
    onLine: (line) => {
      lastWords.push(line)
      if (lastWords.length > 5) lastWords.shift()
    },
  })
  writeFileSync(pidFile, String(child.pid), { mode: 0o600 })
  const url = `http://${loopback}:${port}`
  try {
    await untilHealthy(child, url)
  } catch (cause) {
    await child.stop()
    throw new MustAct(`influxd did not start: ${lastWords.join(' | ')}`, { cause })
  }
  return { ...child, port, url }
}

async function untilHealthy(child: Child, url: string): Promise<void> {
  const deadlineMs = performance.now() + healthyWithinMs
  while (!(await isHealthy(url))) {
    if (!child.isAlive()) throw new Error(exitInWords(await child.exited))
    if (performance.now() > deadlineMs) throw new Error(`silent for ${healthyWithinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const isHealthy = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    // no keep-alive connection: it would outlive the server
    const asked = get(`${url}/health`, { agent: false, timeout: 2_000 }, (answer) => {
      answer.resume()
      answer.once('end', () => resolve(answer.statusCode === 200))
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', () => resolve(false))
  })
