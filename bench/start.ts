/**
 * What a start costs: `node bench/start.ts [--of .,../other-checkout] [--sensors 1000] [--starts 5]
 * [--only pipeline,status]` prints one JSON document. Of each checkout every process
 * is started to `/ready`, and every listed command to its end, in turns. Each checkout has a
 * nats-server and a data folder of its own, where the sensors are registered, have each sent a
 * reading, and have a snapshot.
 *
 * `cpuMs` is user + system time of all threads, until a moment:
 * - `loaded`: the first socket is opened, to NATS for all but the anchor's chain; modules are loaded;
 * - `ready`: `/ready` answers 200, or the command is at its end. `readyMs` is the time it took.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureKeyFile } from '../anchor/deploy/key-file.ts'
import { startChild } from '../runtime/machine/child.ts'
import { freePort } from '../runtime/machine/free-port.ts'
import { environment } from '../runtime/process/config.ts'
import type { Environment } from '../runtime/settings.ts'
import { testAnvil } from '../test/support/anvil.ts'
import { cityOf } from '../test/support/chaos/city.ts'
import { eventually } from '../test/support/eventually.ts'
import { sumOf } from '../test/support/metrics-text.ts'
import { testNats } from '../test/support/nats.ts'
import { cpuUsOf, fillRaw } from './pipeline-city.ts'

const processes = ['pipeline', 'api', 'gate', 'notifier', 'anchor', 'archive', 'dashboard']
const commands = ['status', 'sensors list', 'accounts list', 'webhooks list']
const { values: flags } = parseArgs({
  options: {
    of: { type: 'string', default: '.' },
    sensors: { type: 'string', default: '1000' },
    starts: { type: 'string', default: '5' },
    only: { type: 'string' },
    /** Further words for Node, such as `--cpu-prof --cpu-prof-dir=…`. */
    node: { type: 'string', default: '' },
  },
})
const sensors = Number(flags.sensors)
const wanted = flags.only?.split(',') ?? [...processes, ...commands]

await using resources = new AsyncDisposableStack()
const anvil = resources.use(await testAnvil())

/** Prints what the process has used: at its first socket, and at its end. */
const meter = `data:text/javascript,${encodeURIComponent(`
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { isMainThread } from 'node:worker_threads'
const print = (moment) => {
  const { user, system } = process.cpuUsage()
  process.stderr.write(JSON.stringify({ moment, cpuMs: (user + system) / 1_000 }) + '\\n')
}
const onSocket = () => { unsubscribe('net.client.socket', onSocket); print('loaded') }
if (isMainThread) {
  subscribe('net.client.socket', onSocket)
  process.on('exit', () => print('end'))
}`)}`

type Figures = { readonly loaded: number; readonly ready: number; readonly readyMs: number }

async function openCheckout(folder: string) {
  const nats = resources.use(await testNats())
  const data = mkdtempSync(join(tmpdir(), 'airproof-bench-'))
  resources.defer(() => rmSync(data, { recursive: true, force: true }))
  const keyFile = join(data, 'anchor.key')
  const { address } = ensureKeyFile(keyFile)
  await anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 19n).toString(16)}`])
  const settings = {
    ...environment(),
    NODE_COMPILE_CACHE: undefined,
    NATS_URL: nats.url,
    AIRPROOF_DATA: data,
    AIRPROOF_LOG: 'warn',
    AIRPROOF_MAP: 'none',
    CHAIN_RPC_URL: anvil.url,
    ANCHOR_KEY_FILE: keyFile,
  }
  const start = async (words: readonly string[], more: Environment = {}, node = '') => {
    const lines: string[] = []
    const child = await startChild({
      command: process.execPath,
      args: [...node.split(' ').filter(Boolean), '--import', meter, 'bin/airproof.mjs', ...words],
      cwd: folder,
      env: { ...settings, ...more },
      onLine: (line) => lines.push(line),
    })
    const cpuMsAt = (moment: 'loaded' | 'end'): number => {
      const line = lines.find((text) => text.startsWith(`{"moment":"${moment}"`)) ?? '{"cpuMs":0}'
      const { cpuMs }: { readonly cpuMs: number } = JSON.parse(line)
      return Math.round(cpuMs)
    }
    return { ...child, lines, cpuMsAt }
  }
  const toReady = async (name: string, until?: (url: string) => Promise<boolean>, node = '') => {
    const [admin, port] = [await freePort(), String(await freePort())]
    const beganMs = performance.now()
    const ports = {
      AIRPROOF_API_PORT: port,
      AIRPROOF_DASHBOARD_PORT: port,
      AIRPROOF_PUSH_PORT: port,
    }
    await using child = await start([name], { ...ports, AIRPROOF_ADMIN_PORT: String(admin) }, node)
    const url = `http://127.0.0.1:${admin}`
    await eventually(
      `${name} of ${folder} is ready`,
      async () => {
        if (!child.isAlive()) throw new Error(`${name} ended: ${child.lines.join('\n')}`)
        return (await textAt(`${url}/ready`)) !== undefined
      },
      { everyMs: 50 },
    )
    const ready = Math.round(cpuUsOf(child.pid) / 1_000)
    const readyMs = Math.round(performance.now() - beganMs)
    await eventually('what was waited for', async () => (await until?.(url)) ?? true)
    await child.stop()
    return { loaded: child.cpuMsAt('loaded'), ready, readyMs }
  }
  const toEnd = async (words: string, node = ''): Promise<Figures> => {
    const beganMs = performance.now()
    await using child = await start(words.split(' '), {}, node)
    const { code } = await child.exited
    // a status of 1 says that something does not run
    if (code !== 0 && words !== 'status') throw new Error(`${words}: ${child.lines.join('\n')}`)
    const readyMs = Math.round(performance.now() - beganMs)
    return { loaded: child.cpuMsAt('loaded'), ready: child.cpuMsAt('end'), readyMs }
  }

  await toReady('pipeline')
  const nc = await nats.connect('bench')
  const ids = cityOf(sensors)
  const list = join(data, 'sensors.csv')
  const row = (id: string, i: number) => `${id},Area ${i % 7},6.5,3.4,${i} Test Road`
  writeFileSync(list, ['id,area,lat,lon,address', ...ids.map(row)].join('\n'))
  if (sensors > 0) await toEnd(`sensors import ${list}`)
  await toEnd('anchor deploy')
  await fillRaw(nc, ids, sensors)
  await nc.close()
  const areStored = async (url: string): Promise<boolean> =>
    sumOf((await textAt(`${url}/metrics`)) ?? '', 'airproof_store_rows_total') === sensors
  await toReady('pipeline', areStored)
  return {
    of: folder,
    start: (name: string): Promise<Figures> =>
      processes.includes(name) ? toReady(name, undefined, flags.node) : toEnd(name, flags.node),
  }
}

/** undefined: no answer, or not 200. */
async function textAt(url: string): Promise<string | undefined> {
  const answer = await fetch(url, { headers: { connection: 'close' } }).catch(() => undefined)
  const text = await answer?.text()
  return answer?.ok === true ? text : undefined
}

const checkouts: Awaited<ReturnType<typeof openCheckout>>[] = []
for (const folder of flags.of.split(',')) checkouts.push(await openCheckout(resolve(folder)))
const starts = wanted.flatMap((name) =>
  checkouts.map(({ of, start }) => ({ name, of, start, all: [] as Figures[] })),
)
// the first one only fills the cache of compiled code
for (let i = -1; i < Number(flags.starts); i++)
  for (const { name, start, all } of starts) {
    const figures = await start(name)
    if (i >= 0) all.push(figures)
  }

const spread = (numbers: readonly number[]) => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return { min: sorted[0], median: sorted[Math.floor(sorted.length / 2)] }
}
const rows = starts.map(({ name, of, all }) => ({
  name,
  of,
  cpuMs: {
    loaded: spread(all.map(({ loaded }) => loaded)),
    ready: spread(all.map(({ ready }) => ready)),
  },
  readyMs: spread(all.map(({ readyMs }) => readyMs)),
}))
process.stdout.write(`${JSON.stringify({ bench: 'start', sensors, starts: rows }, null, 2)}\n`)
