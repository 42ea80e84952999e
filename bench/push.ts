/**
 * Readings over HTTP, and gateways' also over NATS, into RAW, each answered after its PubAck:
 * `node bench/push.ts [--sensors 2000] [--seconds 8] [--connections 256] [--sync always]` prints one JSON document.
 * The gate is one process, so at most one core; nats-server, which syncs every write to the disk (with
 * `--sync default` as it usually does, in the background), and the load share what is left of the machine.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Kvm } from '@nats-io/kv'
import { Pool } from 'undici'
import { percentile } from '../core/air/percentile.ts'
import { createApplication, openApplications } from '../operate/applications.ts'
import { issueCredential } from '../operate/sensor-credentials.ts'
import { buckets, bulkSubject } from '../schemas/subjects.ts'
import airrohr from '../test/fixtures/devices/airrohr.json' with { type: 'json' }
import { cityOf, registerCity } from '../test/support/chaos/city.ts'
import { seeded } from '../test/support/chaos/seeded.ts'
import { testNats } from '../test/support/nats.ts'
import { basic } from '../test/support/push.ts'
import { cpuUsOf, drift, longBody, rounded } from './pipeline-city.ts'

const { values: flags } = parseArgs({
  options: {
    sensors: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '8' },
    connections: { type: 'string', default: '256' },
    sync: { type: 'string', default: 'always' },
  },
})
const sensors = Number(flags.sensors)
const seconds = Number(flags.seconds)
const connections = Number(flags.connections)
const warmUpSeconds = 2
const bars = { inArrays: 5_000, oneByOne: 1_500, inBulk: 100_000 }

await using resources = new AsyncDisposableStack()
const dataFolder = mkdtempSync(join(tmpdir(), 'airproof-bench-'))
resources.defer(() => rmSync(dataFolder, { recursive: true, force: true }))
const nats = resources.use(await testNats({ syncAlways: flags.sync === 'always' }))
const nc = await nats.connect('bench')
resources.defer(() => nc.close())
const ids = cityOf(sensors)
await registerCity(nc, ids)
const credentials = await new Kvm(nc).open(buckets.credentials)
const headers: string[] = []
for (let from = 0; from < ids.length; from += 100) {
  const part = ids.slice(from, from + 100)
  const made = part.map(async (id) =>
    basic({ id, secret: await issueCredential(credentials, id, { nowMs: Date.now() }) }),
  )
  headers.push(...(await Promise.all(made)))
}

const script = fileURLToPath(new URL('../test/support/stand-ins/push.ts', import.meta.url))
const gate = spawn(process.execPath, [script, nats.url, dataFolder], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const gateEnded = once(gate, 'exit')
resources.defer(async () => {
  gate.kill('SIGTERM')
  await gateEnded
})
const url = String((await once(createInterface(gate.stdout), 'line'))[0])
const gatePid = gate.pid ?? 0
const pool = new Pool(url, { connections, pipelining: 1 })
resources.defer(() => pool.close())

/** @returns 202, or how it was refused */
type Send = (path: string, place: number, body: string) => Promise<number>
type Load = { readonly callers: readonly string[]; readonly lanes: number; readonly send?: Send }

const overHttp =
  (callers: readonly string[]): Send =>
  async (path, place, body) => {
    const answer = await pool.request({
      path,
      method: 'POST',
      headers: { authorization: callers[place] ?? '', 'content-type': 'application/json' },
      body,
    })
    await answer.body.dump()
    return answer.statusCode
  }
const overNats: Send = async (_path, place, body) => {
  const answer = await nc.request(bulkSubject(gatewayOf(place)), body, { timeout: 60_000 })
  return Number(answer.headers?.get('Nats-Service-Error-Code') ?? 202)
}

const random = seeded(7)
let made = 0
/** A day of back-fill: every reading has a time that its sensor did not have yet. */
function bodyOf(place: number, count: number): string {
  const items: string[] = []
  for (let i = 0; i < count; i++) {
    made += 1
    const timeMs = Date.UTC(2026, 0, 1) + made * 1_000
    items.push(longBody(ids[place] ?? '', timeMs, drift(place, made, random)))
  }
  return count === 1 ? (items[0] ?? '') : `[${items.join(',')}]`
}

const gatewayOf = (n: number): string => `gateway-${n}`
const gateways: string[] = []
const applications = await openApplications(nc)
for (let n = 0; n < 8; n++) {
  const id = gatewayOf(n)
  const secret = await createApplication(applications, { id, kind: 'gateway' }, Date.now())
  gateways.push(basic({ id, secret }))
}

/** A reading of each of `count` sensors, a line each; made before the clock runs. */
function bulkOf(count: number): string {
  const lines = Array.from({ length: count }, (_, i) => {
    const sensor_id = ids[i % ids.length] ?? ''
    const timestamp = new Date(Date.UTC(2026, 0, 1) + i * 1_000).toISOString()
    return JSON.stringify({ sensor_id, timestamp, pm25: 18.5, pm10: 30.1, humidity: 72.12 })
  })
  return lines.join('\n')
}

/** A constant number of requests under way, for the given time. */
async function press(
  path: string,
  perRequest: number,
  body: (place: number) => string,
  { callers, lanes, send = overHttp(callers) }: Load = { callers: headers, lanes: connections },
) {
  const untilMs = performance.now() + (warmUpSeconds + seconds) * 1_000
  const fromMs = performance.now() + warmUpSeconds * 1_000
  const tookMs: number[] = []
  const refused = new Map<number, number>()
  let place = 0
  let cpuFrom = 0
  let natsFrom = 0
  const lane = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      place = (place + 1) % callers.length
      const text = body(place)
      const beganMs = performance.now()
      if (beganMs >= fromMs && cpuFrom === 0) {
        cpuFrom = cpuUsOf(gatePid)
        natsFrom = cpuUsOf(nats.pid())
      }
      const statusCode = await send(path, place, text)
      if (statusCode !== 202) refused.set(statusCode, (refused.get(statusCode) ?? 0) + 1)
      else if (beganMs >= fromMs) tookMs.push(performance.now() - beganMs)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  const elapsed = (performance.now() - fromMs) / 1_000
  const readings = tookMs.length * perRequest
  const cpuUs = cpuUsOf(gatePid) - cpuFrom
  const sorted = tookMs.toSorted((a, b) => a - b)
  return {
    readingsPerSecond: Math.round(readings / elapsed),
    requestsPerSecond: Math.round(tookMs.length / elapsed),
    gateCpuUsAReading: rounded(cpuUs / readings),
    gateCpuUsARequest: rounded(cpuUs / tookMs.length),
    natsCpuUsARequest: rounded((cpuUsOf(nats.pid()) - natsFrom) / tookMs.length),
    /** What the gate would do with a core of its own. */
    readingsPerGateCoreSecond: Math.round(readings / (cpuUs / 1_000_000)),
    answerMs: {
      p50: rounded(percentile(sorted, 50) ?? 0, 1),
      p99: rounded(percentile(sorted, 99) ?? 0, 1),
    },
    refused: Object.fromEntries(refused),
  }
}

const airrohrBody = JSON.stringify(airrohr.messages[0]?.body)
const oneByOne = await press('/push/readings', 1, (place) => bodyOf(place, 1))
const fromAirrohr = await press('/push/airrohr', 1, () => airrohrBody)
const inArrays20 = await press('/push/readings', 20, (place) => bodyOf(place, 20))
const bulk = bulkOf(2_000)
const inBulk2000 = await press('/push/bulk', 2_000, () => bulk, { callers: gateways, lanes: 8 })
const inBulk2000OverNats = await press('', 2_000, () => bulk, {
  callers: gateways,
  lanes: 8,
  send: overNats,
})
const inArrays100 = await press('/push/readings', 100, (place) => bodyOf(place, 100))

process.stdout.write(
  `${JSON.stringify(
    {
      bench: 'push',
      sensors,
      seconds,
      connections,
      sync: flags.sync,
      bars,
      holds: {
        inArrays: inArrays20.readingsPerSecond >= bars.inArrays,
        oneByOne: oneByOne.readingsPerSecond >= bars.oneByOne,
        inBulk: inBulk2000.readingsPerGateCoreSecond >= bars.inBulk,
        inBulkOverNats: inBulk2000OverNats.readingsPerGateCoreSecond >= bars.inBulk,
      },
      oneByOne,
      fromAirrohr,
      inArrays20,
      inArrays100,
      inBulk2000,
      inBulk2000OverNats,
    },
    null,
    2,
  )}\n`,
)
