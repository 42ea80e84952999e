/**
 * Everything at once: `node bench/nation.ts [--sensors 1000000] [--minutes 30] [--listeners 100] [--requests 100]
 * [--webhooks 1000] [--body 2000] [--every 60] [--faults]` prints one JSON document, and progress on stderr.
 *
 * The whole of `airproof up` runs on SQLite with its own chain: gate, pipeline, notifier, anchor, archive, API and
 * dashboard. Every sensor is registered by `airproof sensors import --keys none` and sends through gateways
 * (`POST /push/bulk`): a first reading as soon as it is taken, and then one every 60 seconds, while clients ask
 * `/v1`, listen to streams of an area each, and receive webhooks. Load and service share the machine.
 *
 * - `firstReadingsSeconds`: until the first reading of each is stored, and all of its events were looked at for
 *   webhooks: its sensor is online for the first time, and every event is a write that the server syncs. What follows
 *   is measured after it.
 * - `visible`: from the time of a reading to its arrival at a listener; `alert`: to its webhook's receiver; ms, the
 *   worst of all ten-second looks, and the median look.
 * - `memoryMb`: resident, by process, at the first and the last look, and the most of all of them together.
 * - `lost`: readings that the gate answered as stored, and that the store does not have at the end.
 * - `faults`: with `--faults`, NATS killed, the store locked for five minutes, the chain frozen for two; seconds
 *   until readings are visible within a second again.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { runTool } from '../runtime/engines/tools.ts'
import { environment } from '../runtime/process/config.ts'
import { eventually } from '../test/support/eventually.ts'
import { basic } from '../test/support/push.ts'
import { runCity } from '../test/support/running-city.ts'
import { csvOf, nationOf, risingPlaces } from './nation/city.ts'
import { cpuUsOf } from './pipeline-city.ts'

const { values: flags } = parseArgs({
  options: {
    sensors: { type: 'string', default: '1000000' },
    minutes: { type: 'string', default: '30' },
    listeners: { type: 'string', default: '100' },
    requests: { type: 'string', default: '100' },
    webhooks: { type: 'string', default: '1000' },
    body: { type: 'string', default: '2000' },
    every: { type: 'string', default: '60' },
    faults: { type: 'boolean', default: false },
  },
})
const sensors = Number(flags.sensors)
const minutes = Number(flags.minutes)
const everySeconds = Number(flags.every)
const webhooks = Number(flags.webhooks)
const lookEveryMs = 10_000
const [streamsPerAccount, webhooksPerAccount] = [10, 20]
const accounts = Math.ceil(
  Math.max(1, Number(flags.listeners) / streamsPerAccount, webhooks / webhooksPerAccount),
)
const progress = (line: string): void => void process.stderr.write(`${line}\n`)

await using resources = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'airproof-nation-'))
resources.defer(() => rmSync(folder, { recursive: true, force: true }))
const city = resources.use(
  await runCity(folder, {
    env: { AIRPROOF_ALLOW_INSECURE_WEBHOOKS: 'true', AIRPROOF_MAP: 'none', AIRPROOF_LOG: 'warn' },
  }),
)
const { instance } = city
const nation = nationOf(sensors)

/** An `airproof` command on this instance. @returns what it printed */
const airproof = (...words: string[]): Promise<string> =>
  runTool(process.execPath, ['bin/airproof.mjs', ...words, '--data', folder], {
    env: environment(),
    timeoutMs: 3_600_000,
  })
const airproofJson = async (...words: string[]): Promise<Record<string, string>> =>
  JSON.parse(await airproof(...words, '--json'))

const csv = join(folder, 'nation.csv')
await pipeline(Readable.from(csvOf(nation)), createWriteStream(csv))
const importFromMs = performance.now()
await airproof('sensors', 'import', csv, '--keys', 'none')
const importSeconds = Math.round((performance.now() - importFromMs) / 1_000)
progress(`${sensors} sensors imported in ${importSeconds} s`)

const headers: string[] = []
for (let i = 0; i < 8; i++) {
  const id = `gateway-${i}`
  const { key = '' } = await airproofJson('applications', 'add', id, '--kind', 'gateway')
  headers.push(basic({ id, secret: key }))
}
const keys: string[] = []
for (let i = 0; i < accounts; i++) {
  const email = `client${i}@example.org`
  await airproof(
    'accounts',
    'create',
    '--email',
    email,
    '--name',
    `Client ${i}`,
    '--tier',
    'premium',
  )
  keys.push((await airproofJson('keys', 'create', '--account', email))['key'] ?? '')
}

const clients = fork(new URL('./nation/clients.ts', import.meta.url))
const gateways = fork(new URL('./nation/gateways.ts', import.meta.url))
resources.defer(() => void [clients, gateways].map((child) => child.kill('SIGKILL')))
const [{ receiver }]: [{ receiver: string }] = await once(clients, 'message').then(([m]) => [m])

const rising = risingPlaces(nation)
for (let i = 0; i < webhooks; i++) {
  // one in a hundred receives all alerts, the others those of a sensor
  const sensor = nation.ids[rising[i % rising.length] ?? 0]
  const answer = await fetch(`${instance.api}/v1/webhooks`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${keys[i % keys.length]}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      url: `${receiver}/${i}`,
      events: ['aqi.high'],
      ...(i % 100 === 0 ? {} : { filters: { sensor_id: sensor } }),
    }),
  })
  if (answer.status !== 201)
    throw new Error(`webhook ${i}: ${answer.status} ${(await answer.text()).slice(0, 300)}`)
}
progress(`${webhooks} webhooks of ${keys.length} accounts`)

type Look = { readonly count: number; readonly p50: number; readonly p99: number }
type ClientLook = {
  readonly visible: Look
  readonly alerts: Look
  readonly requests: Look
  readonly statuses: Record<string, number>
  readonly alertsInAll: number
  readonly alertRepeats: number
  readonly ended: Record<string, number>
}
type GatewayLook = {
  readonly answered: Look
  readonly stored: number
  readonly refused: number
  readonly underWay: number
  readonly failures: Record<string, number>
  readonly ended?: true
}

async function ask<Answer>(child: ChildProcess): Promise<Answer> {
  const answer = once(child, 'message')
  child.send('look')
  const [look] = await answer
  return look
}

const { store } = instance
if (store === undefined || !('file' in store)) throw new Error('this needs SQLite')
const { file: storeFile } = store
/** Waits until the store has at least as many readings. @returns how many it has */
const stored = async (count: number): Promise<number> => {
  using db = new DatabaseSync(storeFile, { readOnly: true })
  const rows = db.prepare('select count(*) as n from reading')
  let n = 0
  return await eventually(
    `${count} readings are stored`,
    () => {
      n = Number(rows.get()?.['n'])
      return n >= count && n
    },
    { progress: () => n, everyMs: 5_000 },
  )
}

/** MB resident, by process. The NATS server and the chain are among them. */
function memory(): Record<string, number> {
  const entries = Object.entries(instance.pids).flatMap(([name, pid]) => {
    try {
      const [, kb] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
      return [[name, Math.round(Number(kb) / 1_024)] as const]
    } catch {
      return []
    }
  })
  return Object.fromEntries(entries)
}
const cpuSeconds = (): Record<string, number> =>
  Object.fromEntries(
    Object.entries(instance.pids).map(([name, pid]) => [name, Math.round(cpuUsOf(pid) / 1e6)]),
  )

const cpuBefore = cpuSeconds()
const memoryFirst = memory()
clients.send({
  api: instance.api,
  sensors,
  keys,
  listeners: Number(flags.listeners),
  requestsPerSecond: Number(flags.requests),
})
await wait(2_000)
const firstFromMs = performance.now()
const firstTaken = once(gateways, 'message')
gateways.send({
  push: instance.push,
  sensors,
  headers,
  bodyReadings: Number(flags.body),
  everySeconds,
  minutes,
})
await firstTaken
await stored(sensors)
await eventually('an alert arrives', async () => (await ask<ClientLook>(clients)).alertsInAll > 0, {
  withinMs: 1_800_000,
  everyMs: 2_000,
})
const firstReadingsSeconds = Math.round((performance.now() - firstFromMs) / 1_000)
progress(`the first reading of each is stored after ${firstReadingsSeconds} s`)
await ask(clients)
let last: GatewayLook | undefined
gateways.on('message', (look: GatewayLook) => {
  last = look
})
gateways.send('go')

const looks: (ClientLook & { readonly atS: number; readonly memoryMb: number })[] = []
const startMs = performance.now()
const atS = (): number => Math.round((performance.now() - startMs) / 1_000)
const sumOf = (parts: Record<string, number>): number =>
  Object.values(parts).reduce((sum, part) => sum + part, 0)

async function look(): Promise<void> {
  const seen = await ask<ClientLook>(clients)
  const memoryMb = sumOf(memory())
  looks.push({ ...seen, atS: atS(), memoryMb })
  progress(
    `${atS()} s: visible ${seen.visible.p50}/${seen.visible.p99} ms of ${seen.visible.count}, alerts ${seen.alerts.p50}/${seen.alerts.p99} of ${seen.alerts.count}, requests ${seen.requests.p50}/${seen.requests.p99}, stored ${last?.stored ?? 0}, ${memoryMb} MB, streams ended ${JSON.stringify(seen.ended)}`,
  )
}

/** Seconds until a look sees readings, 99 of 100 of them within a second. */
async function secondsUntilLive(): Promise<number> {
  const fromMs = performance.now()
  await ask(clients)
  for (;;) {
    await wait(2_000)
    const { visible } = await ask<ClientLook>(clients)
    if (visible.count > 0 && visible.p99 < 1_000)
      return Math.round((performance.now() - fromMs) / 1_000)
    if (performance.now() - fromMs > 900_000) return Number.POSITIVE_INFINITY
  }
}

async function withStoreAway(seconds: number): Promise<void> {
  const holder = new DatabaseSync(storeFile)
  holder.exec('pragma busy_timeout = 30000; begin immediate')
  await wait(seconds * 1_000)
  holder.exec('rollback')
  holder.close()
}

async function tryFaults() {
  const natsPid = instance.pids['nats'] ?? instance.pids['nats-server'] ?? 0
  process.kill(natsPid, 'SIGKILL')
  const natsKilled = await secondsUntilLive()
  progress(`NATS killed: live again after ${natsKilled} s`)
  await withStoreAway(300)
  const storeAway = await secondsUntilLive()
  progress(`store away for 300 s: live again after ${storeAway} s`)
  const chain = instance.pids['chain'] ?? instance.pids['anvil'] ?? 0
  process.kill(chain, 'SIGSTOP')
  await wait(120_000)
  process.kill(chain, 'SIGCONT')
  const chainAway = await secondsUntilLive()
  return { natsKilled, storeAway, chainAway }
}

const looking = new AbortController()
const lookAll = (async () => {
  while (!looking.signal.aborted) {
    await wait(lookEveryMs)
    await look()
    if (gateways.connected) gateways.send('look')
  }
})()
const gatewaysEnded = once(gateways, 'disconnect')
let faults: Awaited<ReturnType<typeof tryFaults>> | undefined
if (flags.faults) {
  await wait(60_000)
  faults = await tryFaults()
}
await gatewaysEnded
looking.abort()
await lookAll
const drainFromMs = performance.now()
const taken = last?.stored ?? 0
const rows = await stored(taken)
const drainSeconds = Math.round((performance.now() - drainFromMs) / 1_000)
const lastLook = looks.at(-1)
const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
/** Of the looks that had any. */
const spread = (delaysOf: (look: ClientLook) => Look) => {
  const delays = looks.map(delaysOf).filter(({ count }) => count > 0)
  const p99s = delays.map(({ p99 }) => p99)
  return {
    p50: middle(delays.map(({ p50 }) => p50)),
    p99: middle(p99s),
    worstP99: Math.max(0, ...p99s),
  }
}
const cpuAfter = cpuSeconds()
clients.send('stop')
process.stdout.write(
  `${JSON.stringify(
    {
      bench: 'nation',
      sensors,
      minutes,
      readingsPerSecond: Math.round(sensors / everySeconds),
      importSeconds,
      firstReadingsSeconds,
      taken,
      stored: rows,
      lost: taken - rows,
      refusedByGate: last?.refused ?? 0,
      gatewayFailures: last?.failures ?? {},
      bodyAnsweredMs: last?.answered,
      visibleMs: spread((look) => look.visible),
      alertMs: spread((look) => look.alerts),
      requestMs: spread((look) => look.requests),
      statuses: lastLook?.statuses,
      alerts: lastLook?.alertsInAll,
      alertRepeats: lastLook?.alertRepeats,
      streamsEnded: lastLook?.ended,
      drainSeconds,
      memoryMb: {
        first: memoryFirst,
        last: memory(),
        most: Math.max(...looks.map(({ memoryMb }) => memoryMb)),
      },
      cpuSeconds: Object.fromEntries(
        Object.entries(cpuAfter).map(([name, s]) => [name, s - (cpuBefore[name] ?? 0)]),
      ),
      faults,
    },
    undefined,
    2,
  )}\n`,
)
