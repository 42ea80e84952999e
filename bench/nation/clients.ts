/**
 * A child of `bench/nation.ts`: listeners of the stream, callers of `/v1`, and receivers of webhooks. It measures
 * from the time of a reading, when its gateway sent it, to its arrival.
 */
import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import { startReceiver } from '../../test/support/receiver.ts'
import { areaOf, Delays, nationOf } from './city.ts'

export type ClientTask = {
  readonly api: string
  readonly sensors: number
  readonly keys: readonly string[]
  readonly listeners: number
  readonly requestsPerSecond: number
}

const visible = new Delays()
const alerts = new Delays()
const requests = new Delays()
const statuses = new Map<number, number>()
const alertIds = new Set<string>()
/** Streams that ended, by why: the code of their event `end`, or `cut`. */
const ended = new Map<string, number>()
let alertRepeats = 0

await using receiver = await startReceiver({
  answer: (response, { id, json }) => {
    if (alertIds.has(id)) alertRepeats++
    alertIds.add(id)
    alerts.add(Date.now() - Date.parse(json.timestamp))
    receiver.received.length = 0
    response.end('ok')
  },
})
process.send?.({ receiver: receiver.url })
const [task]: [ClientTask] = await once(process, 'message').then(([message]) => [message])
const nation = nationOf(task.sensors)
const stop = new AbortController()

/** A stream of one area, opened again with the last id when it ends. */
async function listen(area: string, key: string): Promise<void> {
  let lastId = ''
  while (!stop.signal.aborted) {
    let why = 'cut'
    await new Promise<void>((resolve) => {
      const request = get(
        `${task.api}/v1/stream?area=${encodeURIComponent(area)}`,
        {
          agent: false,
          headers: { authorization: `Bearer ${key}`, ...(lastId && { 'last-event-id': lastId }) },
          signal: stop.signal,
        },
        (answer) => {
          let rest = ''
          answer.setEncoding('utf8')
          answer.on('data', (text: string) => {
            const lines = (rest + text).split('\n')
            rest = lines.pop() ?? ''
            for (const line of lines) {
              if (line.startsWith('id:')) lastId = line.slice(3).trim()
              const [, code] = /^data: \{"code":"(\w+)"\}/.exec(line) ?? []
              if (code !== undefined) why = code
              const [, time] = /^data:.*"timestamp":"([^"]+)"/.exec(line) ?? []
              if (time !== undefined) visible.add(Date.now() - Date.parse(time))
            }
          })
          answer.on('error', () => undefined)
          answer.on('close', resolve)
        },
      )
      request.on('error', () => resolve())
    })
    ended.set(why, (ended.get(why) ?? 0) + 1)
    await wait(200)
  }
}

const pool = new Pool(task.api, { connections: 32 })
/** What clients ask for most: a page of sensors, one sensor, its readings, an area, the newest of all. */
function pathOf(n: number): string {
  const place = (n * 7_919) % nation.ids.length
  const id = nation.ids[place]
  const area = encodeURIComponent(areaOf(place, nation))
  const paths = [
    `/v1/sensors?area=${area}&limit=100`,
    `/v1/sensors/${id}/status`,
    `/v1/readings?sensor_id=${id}&limit=10`,
    `/v1/areas/${area}`,
    '/v1/readings?limit=10',
    '/v1/sensors?near=6.5,3.4&radius=5000&limit=50',
  ]
  return paths[n % paths.length] ?? ''
}

async function call(n: number, dueMs: number): Promise<void> {
  const key = task.keys[n % task.keys.length] ?? ''
  try {
    const answer = await pool.request({
      path: pathOf(n),
      method: 'GET',
      headers: { authorization: `Bearer ${key}` },
    })
    await answer.body.dump()
    statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1)
    if (answer.statusCode === 200) requests.add(Date.now() - dueMs)
  } catch {
    statuses.set(0, (statuses.get(0) ?? 0) + 1)
  }
}

async function callAll(): Promise<void> {
  const startMs = Date.now()
  for (let n = 0; !stop.signal.aborted; n++) {
    const dueMs = startMs + (n * 1_000) / task.requestsPerSecond
    const waitMs = dueMs - Date.now()
    if (waitMs > 0) await wait(waitMs)
    void call(n, dueMs)
  }
}

const listening = Array.from({ length: task.listeners }, (_, i) =>
  listen(areaOf(i, nation), task.keys[i % task.keys.length] ?? ''),
)
const calling = callAll()
process.on('message', (message) => {
  if (message === 'stop') {
    stop.abort()
    return
  }
  process.send?.({
    visible: visible.take(),
    alerts: alerts.take(),
    requests: requests.take(),
    statuses: Object.fromEntries(statuses),
    alertsInAll: alertIds.size,
    alertRepeats,
    ended: Object.fromEntries(ended),
  })
})
await Promise.all([...listening, calling])
process.disconnect?.()
await pool.close()
