/**
 * A child of `bench/nation.ts`: gateways that post the first reading of every sensor as fast as it is taken, and
 * then, after the message `go`, one every `everySeconds`, in bodies of many sensors. What is not stored is sent again,
 * as a gateway does, so none is lost on the way in.
 */
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import { inParallel } from '../../runtime/in-parallel.ts'
import { Delays, nationOf, pm25Of, risingPlaces } from './city.ts'

export type GatewayTask = {
  readonly push: string
  readonly sensors: number
  readonly headers: readonly string[]
  readonly bodyReadings: number
  readonly everySeconds: number
  readonly minutes: number
}

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

type Sent = {
  readonly places: readonly number[]
  readonly pm25: (place: number) => number
  readonly dueMs: number
  readonly header: string
}

async function send({ places, pm25, dueMs, header }: Sent): Promise<void> {
  underWay++
  const timestamp = new Date(dueMs).toISOString()
  const lines = places.map((place) => {
    const value = pm25(place)
    return `{"sensor_id":"${nation.ids[place]}","timestamp":"${timestamp}","pm25":${value},"pm10":${value * 1.5},"temperature":29.4,"humidity":71.2}`
  })
  const body = lines.join('\n')
  while (!(await post(body, header))) await wait(againMs)
  answered.add(Date.now() - dueMs)
  underWay--
}

const bodies = Math.ceil(nation.ids.length / task.bodyReadings)
const headerOf = (n: number): string => task.headers[n % task.headers.length] ?? ''
// the first reading of each: an event that it is online, which is synced like the reading
const firsts = Array.from({ length: bodies }, (_, n) => n)
const placesOf = (body: number): readonly number[] => {
  const from = body * task.bodyReadings
  const length = Math.min(task.bodyReadings, nation.ids.length - from)
  return Array.from({ length }, (_, i) => from + i)
}
await inParallel(firsts, connections, (n) =>
  send({ places: placesOf(n), pm25: () => 8, dueMs: Date.now(), header: headerOf(n) }),
)
// their alerts come after all those events
const places = risingPlaces(nation)
await send({ places, pm25: () => 160, dueMs: Date.now(), header: headerOf(0) })
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
const everyMs = task.everySeconds * 1_000
const rounds = Math.round((task.minutes * 60) / task.everySeconds)
const startMs = Date.now()
const sending: Promise<void>[] = []
for (let n = 0; n < bodies * rounds; n++) {
  const dueMs = Math.round(startMs + (n * everyMs) / bodies)
  await wait(Math.max(0, dueMs - Date.now()))
  const minute = Math.floor(((n / bodies) * task.everySeconds) / 60)
  const pm25 = (place: number): number => pm25Of(place, minute)
  sending.push(send({ places: placesOf(n % bodies), pm25, dueMs, header: headerOf(n) }))
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
