/**
 * How long an account waits for its history while others request theirs as fast as they can:
 * `node bench/fair.ts [--sensors 500] [--questions 40]` prints one JSON document.
 *
 * A real API process over a day of `sensors` with a reading per minute, in SQLite. The account
 * sends one request after the other: `verify` is one row, `area` a day's rows of one area in ten,
 * another period each time. At the same time no one else, one visitor's network, 64 networks, or
 * one other account send 64 requests at a time, each over the rows of all sensors.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { formatIso } from '../core/iso-time.ts'
import { dayMs, floorTo, hourMs, minuteMs, secondMs } from '../core/time.ts'
import { environment } from '../runtime/process/config.ts'
import { siteOf, testApi } from '../test/support/api.ts'
import { areaOf, sensorId } from './api-city.ts'

const { values: flags } = parseArgs({
  options: {
    sensors: { type: 'string', default: '500' },
    questions: { type: 'string', default: '40' },
  },
})
const sensors = Number(flags.sensors)
const questions = Number(flags.questions)
const startMs = floorTo(Date.now(), dayMs) - 2 * dayMs
const lanes = 64

await using api = await testApi({ isStarted: false })
const { key: internal } = await api.newKey({ account: 'dashboard', internal: true })
const { key: other } = await api.newKey({ account: 'other' })
for (let n = 0; n < 10; n++) await api.register({ id: sensorId(n), sites: [siteOf(areaOf(n))] })
const [row] = await api.commit([{ sensor: sensorId(0), area: areaOf(0), timeMs: startMs }])
if (row === undefined) throw new Error('nothing was committed')
for (let n = 0; n < sensors; n++) {
  const day = Array.from({ length: dayMs / minuteMs }, (_, i) => ({
    ...row,
    sensor: sensorId(n),
    area: areaOf(n),
    timeMs: startMs + i * minuteMs,
    seq: 1_000 + n * 2_000 + i,
  }))
  await api.store.writeBatch(n === 0 ? day.slice(1) : day)
}

const child = fork(fileURLToPath(new URL('./verify-api-child.ts', import.meta.url)), {
  env: {
    ...environment(),
    AIRPROOF_DATA: dirname(api.storeFile),
    AIRPROOF_LOG: 'silent',
    NATS_URL: api.nats.url,
    AIRPROOF_QUOTA_PREMIUM: '1000000000',
    AIRPROOF_BURST_PREMIUM: '1000000000',
  },
})
const [message] = await once(child, 'message')
const { url }: { readonly url: string } = message
const agent = new Agent({ keepAlive: true, maxSockets: 2 * lanes })

type Headers = Readonly<Record<string, string>>
const ask = (path: string, headers: Headers, signal?: AbortSignal): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url + path, { agent, headers, ...(signal && { signal }) }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', reject)
    }).on('error', reject)
  })

/** Each request has a period that no request before had. */
let requests = 0
const period = (): string =>
  `start_time=${formatIso(startMs + (requests++ % 4_000) * 10 * secondMs)}&end_time=${formatIso(startMs + dayMs - hourMs)}`

const as = (key: string): Headers => ({ authorization: `Bearer ${key}` })
const visitor = (network: string): Headers => ({ ...as(internal), 'airproof-network': network })
const attacks: Readonly<Record<string, ((lane: number) => Headers) | undefined>> = {
  none: undefined,
  'one visitor': () => visitor('203.0.113.7'),
  'visitors of 64 networks': (lane) => visitor(`203.0.113.${lane}`),
  'another account': () => as(other),
}

async function measure(headersOf: ((lane: number) => Headers) | undefined) {
  const stop = new AbortController()
  const answers: Record<string, number> = {}
  const attack = async (lane: number, headers: Headers): Promise<void> => {
    while (!stop.signal.aborted) {
      const path = `/v1/areas/lagos?${period()}`
      const status = await ask(path, headers, stop.signal).catch(() => 0)
      if (status !== 0) answers[status] = (answers[status] ?? 0) + 1
      if (status !== 200) await pause(100 + lane, undefined, { signal: stop.signal }).catch(() => 0)
    }
  }
  const all =
    headersOf === undefined
      ? []
      : Array.from({ length: lanes }, (_, lane) => attack(lane, headersOf(lane)))
  await pause(2 * secondMs)
  const times = async (path: () => string) => {
    const ms: number[] = []
    for (let n = 0; n < questions; n++) {
      const beforeMs = performance.now()
      const status = await ask(path(), as(api.key))
      if (status !== 200) throw new Error(`the account was answered ${status}`)
      ms.push(performance.now() - beforeMs)
    }
    ms.sort((a, b) => a - b)
    const at = (part: number): number => ms[Math.floor((ms.length - 1) * part)] ?? Number.NaN
    return { p50Ms: Math.round(at(0.5) * 10) / 10, p99Ms: Math.round(at(0.99) * 10) / 10 }
  }
  const verify = `/v1/readings/${sensorId(0)}/verify?timestamp=${formatIso(startMs)}`
  const found = {
    verify: await times(() => verify),
    area: await times(() => `/v1/areas/${areaOf(1)}?${period()}`),
  }
  stop.abort()
  await Promise.all(all)
  return { ...found, attackersWereAnswered: answers }
}

type Measured = Awaited<ReturnType<typeof measure>>
const measured: Record<string, Measured> = {}
for (const [name, headersOf] of Object.entries(attacks)) measured[name] = await measure(headersOf)
const alone = measured['none']
const ratio = (a: number | undefined, b: number | undefined): number =>
  Math.round(((a ?? Number.NaN) / (b ?? Number.NaN)) * 10) / 10
const ratios = Object.fromEntries(
  Object.entries(measured).map(([name, { verify, area }]) => [
    name,
    {
      verifyP50: ratio(verify.p50Ms, alone?.verify.p50Ms),
      verifyP99: ratio(verify.p99Ms, alone?.verify.p99Ms),
      areaP50: ratio(area.p50Ms, alone?.area.p50Ms),
      areaP99: ratio(area.p99Ms, alone?.area.p99Ms),
    },
  ]),
)
child.disconnect()
await once(child, 'exit')
agent.destroy()
const about = { bench: 'fair', node: process.version, sensors, questions, lanes }
process.stdout.write(`${JSON.stringify({ ...about, measured, ratios }, null, 2)}\n`)
