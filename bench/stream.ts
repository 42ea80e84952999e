/**
 * What listeners cost: `node bench/stream.ts [--listeners 200] [--rate 100] [--seconds 10]` prints
 * one JSON document. Readings arrive one per message, as from a quiet pipeline; the listeners are
 * in a process of their own.
 *
 * - `cpuUsEach`: CPU µs of the server for one event to one listener; `cores`: of all of them.
 * - `delayMs`: from the fold of a reading to its arrival at a listener.
 * - `loopMs`: how late the server's own timers were: the delay of other requests.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createReadingTexts } from '../api/live/reading-json.ts'
import { usualView } from '../api/live/view.ts'
import { createStreamHub } from '../api/stream/hub.ts'
import { seqOf } from '../core/air/reading.ts'
import type { LogMessage } from '../core/state/log-message.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { listenOn } from '../runtime/http/listen.ts'
import { beginningOf } from '../schemas/log/log-cursor.ts'
import { valued } from '../test/support/readings.ts'
import { sensorId } from './api-city.ts'

const { values: flags } = parseArgs({
  options: {
    listeners: { type: 'string', default: '200' },
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '10' },
    /** Set where this is the process of the listeners. */
    url: { type: 'string' },
  },
})
const listeners = Number(flags.listeners)
const rate = Number(flags.rate)
const seconds = Number(flags.seconds)

type Received = { readonly events: number; readonly p50: number; readonly p99: number }

/** Counts what arrives, and how long it took from the reading's time. */
async function listen(url: string): Promise<void> {
  const delays: number[] = []
  const connect = async (): Promise<void> => {
    const request = get(url, { agent: false })
    const [answer] = await once(request, 'response')
    answer.setEncoding('utf8')
    let rest = ''
    answer.on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const [, at] = /"timestamp":"([^"]+)"/.exec(line) ?? []
        if (at !== undefined) delays.push(Date.now() - Date.parse(at))
      }
    })
  }
  for (let i = 0; i < listeners; i++) await connect()
  process.send?.('listening')
  await once(process, 'message')
  const sorted = Float64Array.from(delays).sort()
  const at = (share: number): number => sorted[Math.floor(share * sorted.length)] ?? 0
  const received: Received = { events: sorted.length, p50: at(0.5), p99: at(0.99) }
  process.send?.(received, () => process.exit())
}

function messageOf(n: number): LogMessage {
  const timeMs = Date.now()
  const reading = valued({
    sensor: sensorId(n % 1_000),
    area: 'Ikeja',
    timeMs,
    arrivedMs: timeMs,
    pm25: 3_000 + n,
    pm10: 5_000,
    co2: 41_000,
    temperature: 2_850,
    humidity: 7_000,
    aqi: 90,
    flags: 0,
    seq: seqOf(0, n),
  })
  return {
    partition: 0,
    worker: 'bench',
    rawLast: n,
    rawLastTimeMs: timeMs,
    nLast: n,
    lateTo: 0,
    listenedMs: 0,
    readings: [reading],
    events: [],
    held: [],
    deferred: [],
    refused: [],
    duplicates: [],
  }
}

async function serve(): Promise<void> {
  const onChain = { verified: false, tx_hash: null, status: 'pending' } as const
  const texts = createReadingTexts(await createKeccak(), () => onChain)
  let position = 0
  let deliver: (message: LogMessage | undefined) => void = () => undefined
  using hub = createStreamHub({
    picture: {
      position: () => position,
      isLive: () => true,
      onFolded: (listener) => {
        deliver = listener
      },
    },
    place: () => ({ ...beginningOf('0123456789ab'), position, n: Array(16).fill(position) }),
    textOf: (reading) => texts.textOf(reading, usualView),
    entryOf: () => undefined,
  })
  const server = createServer((_request, out) => {
    out.writeHead(200, { 'content-type': 'text/event-stream' })
    out.flushHeaders()
    const listener = { out, wants: undefined, form: 'whole' as const, checkAgain: () => undefined }
    hub.keep(listener)
    const now = hub.place()
    if (now !== undefined) hub.join(listener, now)
  })
  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: 'none' })
  const own = process.argv.slice(2)
  const child = fork(fileURLToPath(import.meta.url), [...own, '--url', url])
  await once(child, 'message')

  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const before = process.cpuUsage()
  const begin = performance.now()
  for (let n = 1; n <= rate * seconds; n++) {
    const dueMs = begin + (n * 1_000) / rate
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())))
    position++
    deliver(messageOf(n))
  }
  await new Promise((resolve) => setTimeout(resolve, 500))
  const { user, system } = process.cpuUsage(before)
  const took = performance.now() - begin
  loop.disable()
  child.send('over')
  const [received]: Received[] = await once(child, 'message')
  if (received === undefined) throw new Error('the listeners reported nothing')
  const result = {
    listeners,
    readingsPerSecond: rate,
    events: received.events,
    lost: rate * seconds * listeners - received.events,
    cpuUsEach: round((user + system) / received.events),
    cores: round((user + system) / 1_000 / took),
    delayMs: { p50: received.p50, p99: received.p99 },
    loopMs: { p50: round(loop.percentile(50) / 1e6), p99: round(loop.percentile(99) / 1e6) },
  }
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  server.close()
  server.closeAllConnections()
}

const round = (value: number): number => Math.round(value * 1_000) / 1_000

await (flags.url === undefined ? serve() : listen(flags.url))
