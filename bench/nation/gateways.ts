/**
 * A child of `bench/nation.ts`: gateways that post the first reading of every sensor as fast as it is taken, and
 * then, once it is told to go on, one per minute, in bodies of many sensors. What is not stored is sent again, as a gateway does, so none is lost on the way in.
 */
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import { inParallel } from '../../runtime/in-parallel.ts'
import { Delays, nationOf, pm25Of } from './city.ts'

export type GatewayTask = {
  readonly push: string
  readonly sensors: number
  readonly headers: readonly string[]
  readonly bodyReadings: number
  readonly minutes: number
}

const minuteMs = 60_000
const againMs = 500
const connections = 16

const [task]: [GatewayTask] = await once(process, 'message').then(([message]) => [message])
const nation = nationOf(task.sensors)
const pool = new Pool(task.push, { connections, headersTimeout: 60_000 })
const answered = new Delays()
const failures = new Map<string, number>()
let stored = 0
let refused = 0
let underWay = 0

/** @returns whether all of it is stored */
async function post(body: string, authorization: string): Promise<boolean> {
  try {
    const answer = await pool.request({
      path: '/push/bulk',
      method: 'POST',
      headers: { authorization, 'content-type': 'application/x-ndjson' },
      body,
    })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- docs/sensors.md
    const receipt = (await answer.body.json()) as { stored?: number; refused?: unknown[] }
    if (answer.statusCode === 202) {
      stored += receipt.stored ?? 0
      refused += receipt.refused?.length ?? 0
      return true
    }
    count(String(answer.statusCode))
  } catch (error) {
    count(error instanceof Error && 'code' in error ? String(error.code) : 'network')
  }
  return false
}

const count = (failure: string): void => {
  failures.set(failure, (failures.get(failure) ?? 0) + 1)
}

async function send(from: number, minute: number, dueMs: number, header: string): Promise<void> {
  underWay++
  const lines: string[] = []
  const timestamp = new Date(dueMs).toISOString()
  for (let i = from; i < Math.min(from + task.bodyReadings, nation.ids.length); i++) {
    const pm25 = pm25Of(i, minute)
    lines.push(
      `{"sensor_id":"${nation.ids[i]}","timestamp":"${timestamp}","pm25":${pm25},"pm10":${pm25 * 1.5},"temperature":29.4,"humidity":71.2}`,
    )
  }
  const body = lines.join('\n')
  while (!(await post(body, header))) await wait(againMs)
  answered.add(Date.now() - dueMs)
  underWay--
}

const bodies = Math.ceil(nation.ids.length / task.bodyReadings)
const headerOf = (n: number): string => task.headers[n % task.headers.length] ?? ''
// the first reading of each: an event that it is online, which is synced like the reading
const firsts = Array.from({ length: bodies }, (_, n) => n)
await inParallel(firsts, connections, (n) =>
  send(n * task.bodyReadings, 0, Date.now(), headerOf(n)),
)
const go = once(process, 'message')
process.send?.({ firstStored: stored })
await go
answered.take()
process.on('message', () => {
  process.send?.({
    answered: answered.take(),
    stored,
    refused,
    underWay,
    failures: Object.fromEntries(failures),
  })
})
const startMs = Date.now()
const sending: Promise<void>[] = []
for (let n = 0; n < bodies * task.minutes; n++) {
  const dueMs = Math.round(startMs + (n * minuteMs) / bodies)
  await wait(Math.max(0, dueMs - Date.now()))
  sending.push(
    send((n % bodies) * task.bodyReadings, 1 + Math.floor(n / bodies), dueMs, headerOf(n)),
  )
}
await Promise.all(sending)
process.send?.({
  ended: true,
  stored,
  refused,
  underWay,
  answered: answered.take(),
  failures: Object.fromEntries(failures),
})
process.disconnect?.()
await pool.close()
