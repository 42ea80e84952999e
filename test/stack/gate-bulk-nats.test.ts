/** A gateway that speaks NATS signs in to a real server, and may send to one subject alone. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { jetstreamManager } from '@nats-io/jetstream'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import {
  createApplication,
  openApplications,
  removeApplication,
  renewApplication,
} from '../../operate/applications.ts'
import { rawStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { type Guarded, guardedNats, type TestGate } from '../support/gate.ts'
import { mqttClient } from '../support/mqtt-client.ts'

const [first, second, foreign] = ['NGR-LOS-IKJ-017', 'NGR-LOS-IKJ-018', 'NGR-LOS-YAB-002']
let nats: Guarded
let gate: TestGate
let gateway: NatsConnection

const secretOf = async (id: string, kind: 'gateway' | 'ttn' = 'gateway'): Promise<string> => {
  const parts = kind === 'gateway' ? { sensors: ['NGR-LOS-IKJ-'] } : { fields: { pm25: 'pm25' } }
  return createApplication(await openApplications(nats.nc), { id, kind, ...parts }, Date.now())
}

beforeAll(async () => {
  nats = await guardedNats()
  gate = await nats.startGate()
  for (const id of [first, second, foreign]) await nats.addSensor(id)
  gateway = await nats.sensor('north', await secretOf('north'))
})
afterAll(async () => {
  await gate?.[Symbol.asyncDispose]()
  await nats?.[Symbol.asyncDispose]()
})

const reading = (id: string, seconds: number) => ({
  sensor_id: id,
  timestamp: formatIso(Date.now() - seconds * 1_000),
  pm25: 18.5,
})
const request = async (body: unknown): Promise<Msg> =>
  await gateway.request('air.bulk.north', typeof body === 'string' ? body : JSON.stringify(body), {
    timeout: 20_000,
  })
const messagesOf = async (id: string): Promise<number> =>
  (await (await jetstreamManager(nats.nc)).streams.info(rawStream(partitionOf(id)))).state.messages

test.each([
  ['as an array', JSON.stringify],
  ['as a line each', (all: readonly unknown[]) => all.map((one) => JSON.stringify(one)).join('\n')],
])('readings sent %s are answered when they are in their streams', async (_name, form) => {
  const before = await messagesOf(first)
  const answer = await request(form([reading(first, 9), reading(second, 9)]))
  expect(answer.json()).toEqual({ stored: 2 })
  expect(answer.headers).toBeUndefined()
  expect(await messagesOf(first)).toBeGreaterThan(before)
})

test('each that is refused is named as over HTTP, and the others are stored', async () => {
  const twice = reading(first, 5)
  const lines = [twice, twice, reading(foreign, 5), reading('NGR-LOS-IKJ-999', 5), { pm25: 1 }]
  const body = `${lines.map((one) => JSON.stringify(one)).join('\n')}\n{"sensor_id":"${first}","ti`
  const answer = (await request(body)).json<{
    stored: number
    refused: { item: number; code: string }[]
  }>()
  // that one is a double is for the pipeline to find: it changes nothing
  expect(answer.stored).toBe(2)
  expect(answer.refused.map(({ item, code }) => [item, code])).toEqual([
    [2, 'foreign_sensor'],
    [3, 'unknown_sensor'],
    [4, 'schema'],
    [5, 'not_json'],
  ])
})

test.each([
  ['an array cut short', `[{"sensor_id":"${first}"`, 'not_json'],
  ['an empty array', '[]', 'empty'],
  ['nothing', '', 'not_json'],
])('%s is an error in words', async (_name, body, code) => {
  const answer = await request(body)
  expect(answer.json()).toMatchObject({ status: 'error', error: { code } })
  expect(answer.headers?.get('Nats-Service-Error-Code')).toBe('400')
})

test('the example of docs/sensors.md sends two readings', async () => {
  const [, code = ''] =
    /### A gateway.*?```js\n(.*?)```/s.exec(readFileSync('docs/sensors.md', 'utf8')) ?? []
  const applications = await openApplications(nats.nc)
  const overlapMs = 60_000
  const key = await renewApplication(applications, 'north', { nowMs: Date.now(), overlapMs })
  const env = { NATS_URL: nats.url, GATEWAY_KEY: key }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', code],
    { env },
  )
  expect(JSON.parse(stdout)).toEqual({ stored: 2 })
})

test('a body beyond what NATS takes is not sent', async () => {
  await expect(request(' '.repeat(1_100_000))).rejects.toThrow(/size|payload/i)
})

describe('a gateway that was taken over', () => {
  const mapped = `air.raw.${partitionOf(first)}.${first}`
  test.each([
    [`air.raw.${first}`, mapped],
    [mapped, mapped],
    ['air.raw.north', `air.raw.${partitionOf('north')}.north`],
    [`air.ack.${first}`, `nobody.${first}`],
    ['air.bulk.south', 'air.bulk.south'],
    ['air.bulk', 'air.bulk'],
    ['air.bulk.north.x', 'air.bulk.north.x'],
    ['air.again.0.north', 'air.again.0.north'],
    ['$JS.API.INFO', '$JS.API.INFO'],
  ])('may not publish to %s', async (subject, named) => {
    const [before, count] = [await messagesOf(first), nats.denied.length]
    gateway.publish(subject, JSON.stringify(reading(first, 4)))
    await eventually('the server names it', () =>
      nats.denied
        .slice(count)
        .some((one) => one.who === 'north' && one.what === 'publish' && one.subject === named),
    )
    expect(await messagesOf(first)).toBe(before)
  })

  test('receives nothing that another gateway sends or is sent', async () => {
    const south = await nats.sensor('south', await secretOf('south'))
    const received: string[] = []
    for (const subject of ['>', 'air.bulk.*', 'air.bulk.south', '_INBOX_south.>', '_INBOX.>'])
      gateway.subscribe(subject, { callback: (error) => void (error ?? received.push(subject)) })
    await gateway.flush()
    const sent = JSON.stringify([reading(second, 4)])
    expect((await south.request('air.bulk.south', sent)).json()).toEqual({ stored: 1 })
    await gateway.flush()
    expect(received).toEqual([])
  })
})

test('an application of another kind, a wrong secret or MQTT is not let in', async () => {
  const roofs = await secretOf('roofs', 'ttn')
  await expect(nats.sensor('roofs', roofs)).rejects.toThrow(/authorization/i)
  const hub = await secretOf('hub')
  await expect(nats.sensor('north', hub)).rejects.toThrow(/authorization/i)
  await expect(mqttClient(nats.mqttUrl, { id: 'hub', secret: hub })).rejects.toThrow(/authoriz/i)
})

test.each(['pipeline', 'operator', 'system'])(
  'no application is called %s, and one of an earlier version is not let in',
  async (id) => {
    await expect(secretOf(id)).rejects.toThrow(/is the name of a process of airproof/)
    const secret = await secretOf(`former-${id}`)
    const applications = await openApplications(nats.nc)
    const entry = (await applications.get(`former-${id}`))?.json<object>()
    await applications.put(id, JSON.stringify({ ...entry, id }))
    await expect(nats.sensor(id, secret)).rejects.toThrow(/authorization/i)
  },
)

test('the connection of an application that is removed ends', async () => {
  const west = await nats.sensor('west', await secretOf('west'))
  await removeApplication(await openApplications(nats.nc), 'west')
  await west.closed()
  expect(west.isClosed()).toBe(true)
})
