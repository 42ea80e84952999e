/**
 * A server acknowledges what a stream stored on whatever subject the message names for it, and
 * checks no permission for that: a sensor must not be able to have it written where it may not.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { createApplication, openApplications } from '../../operate/applications.ts'
import { rawStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { type Guarded, guardedNats, type TestGate } from '../support/gate.ts'

const [id, other] = ['NGR-LOS-IKJ-017', 'NGR-LOS-YAB-002']
const ownStream = rawStream(partitionOf(id))
const probe = 'PROBE'
let nats: Guarded
let gate: TestGate
let sensor: NatsConnection
let neighbour: NatsConnection
let gateway: NatsConnection

beforeAll(async () => {
  nats = await guardedNats()
  gate = await nats.startGate()
  sensor = await nats.sensor(id, await nats.addSensor(id))
  neighbour = await nats.sensor(other, await nats.addSensor(other))
  const applications = await openApplications(nats.nc)
  const north = { id: 'north', kind: 'gateway' } as const
  gateway = await nats.sensor('north', await createApplication(applications, north, Date.now()))
  // a stream of the account with only known publishers
  const manager = await jetstreamManager(nats.nc)
  await manager.streams.add({ name: probe, subjects: ['probe.>'] })
  for (let n = 0; n < 20; n++) await jetstream(nats.nc).publish('probe.x', 'x')
})
afterAll(async () => {
  await gate?.[Symbol.asyncDispose]()
  await nats?.[Symbol.asyncDispose]()
})

/** The last sequence of each stream, except those that our own processes write meanwhile. */
async function streams(): Promise<Readonly<Record<string, string>>> {
  const manager = await jetstreamManager(nats.nc)
  const sequences: Record<string, string> = {}
  for await (const { config, state } of manager.streams.list())
    if (!['KV_leases', 'KV_seen'].includes(config.name))
      sequences[config.name] = `${state.first_seq} ${state.last_seq} ${state.messages}`
  return sequences
}

/** What changed, of all streams, when the sensor had published once, and once more as it should. */
async function changedBy(options: { readonly reply?: string; readonly headers?: MsgHdrs }) {
  const before = await streams()
  sensor.publish(`air.raw.${id}`, '{"n":1}', options)
  // acknowledged after the first acknowledgement was sent
  await jetstream(sensor).publish(`air.raw.${id}`, '{"n":2}')
  const after = await streams()
  return Object.keys(after).filter((name) => after[name] !== before[name])
}

/** The same of a gateway: the gate answers it, and what it answers the gateway can choose in part. */
async function changedByGateway(options: { readonly reply: string }) {
  const sent = `{"sensor_id":"${id}","timestamp":"${new Date().toISOString()}","pm25":1}`
  const answered = () => gate.metric('airproof_push_requests_total', 'endpoint="bulk_nats"')
  const [before, count] = [await streams(), await answered()]
  gateway.publish('air.bulk.north', sent, options)
  await eventually('the gate has answered', async () => (await answered()) > count)
  // its answer takes the same way after that one
  await gateway.request('air.bulk.north', sent)
  const after = await streams()
  expect(await answered()).toBe(count + 2)
  return Object.keys(after).filter((name) => after[name] !== before[name])
}

const internal = [
  'probe.injected',
  'air.readings.0',
  'air.state.x',
  'air.events.rise.x',
  `air.raw.${other}`,
  `air.raw.${partitionOf(other)}.${other}`,
  `air.rejected.x`,
  'airgradient.readings.aabbccddeeff',
  'mail.x',
  `$KV.credentials.${other}`,
  `$KV.sensors.${other}`,
  `$JS.API.STREAM.PURGE.${probe}`,
  `$JS.API.STREAM.MSG.DELETE.${probe}`,
  `$JS.API.STREAM.DELETE.${probe}`,
  'air.again.0.north',
  'air.bulk.south',
  'air.bulk.north',
  'gate.spent',
  'notifier.ask.0',
]

describe('the acknowledgement of a reading reaches no stream and no bucket', () => {
  test.each(internal)('requested on %s', async (reply) => {
    expect(await changedBy({ reply })).toEqual([ownStream])
  })

  test('nor does another sensor receive it as a receipt', async () => {
    const received: string[] = []
    neighbour.subscribe(`air.ack.${other}`, {
      callback: (_, message) => void received.push(message.string()),
    })
    await neighbour.flush()
    expect(await changedBy({ reply: `air.ack.${other}` })).toEqual([ownStream])
    await neighbour.flush()
    const pipeline = await nats.as('pipeline')
    pipeline.publish(`air.ack.${other}`, 'a true one')
    await eventually('the true one arrives', () => received.includes('a true one'))
    expect(received).toEqual(['a true one'])
  })
})

describe('the answer to a gateway reaches no stream, no bucket and no process', () => {
  test.each(internal)('requested on %s', async (reply) => {
    expect(await changedByGateway({ reply })).toEqual([ownStream])
  })

  test.each([`air.ack.${other}`, `_INBOX_pipeline.x`, '_INBOX_gate.x', '_INBOX_operator.x'])(
    'nor is it received on %s',
    async (reply) => {
      const received: string[] = []
      const callback = () => void received.push(reply)
      const receivers = [neighbour, nats.nc]
      if (reply.includes('pipeline')) receivers.push(await nats.as('pipeline'))
      if (reply.includes('gate')) receivers.push(await nats.as('gate'))
      const receiver = receivers.at(reply.startsWith('air.ack') ? 0 : -1) ?? neighbour
      receiver.subscribe(reply, { callback })
      await receiver.flush()
      expect(await changedByGateway({ reply })).toEqual([ownStream])
      await receiver.flush()
      expect(received).toEqual([])
    },
  )

  test.each(['probe.traced', 'air.readings.0', '$KV.sensors.x'])('traced to %s', async (to) => {
    const traced = headers()
    traced.set('Nats-Trace-Dest', to)
    gateway.publish('air.bulk.north', '[]', { headers: traced })
    expect(await changedByGateway({ reply: 'nobody.x' })).toEqual([ownStream])
  })
})

describe('headers that a stream obeys do not help a sensor', () => {
  test.each([
    ['Nats-Rollup', 'all'],
    ['Nats-Rollup', 'sub'],
    ['Nats-TTL', '1s'],
    ['Nats-Incr', '1'],
    ['Nats-Schedule', '@at 2030-01-01T00:00:00Z'],
    ['Nats-Expected-Stream', 'READINGS'],
    ['Nats-Batch-Id', 'x'],
    ['Nats-Trace-Dest', 'probe.traced'],
    ['Nats-Trace-Dest', 'air.readings.0'],
  ])('%s: %s', async (name, value) => {
    const sentHeaders = headers()
    sentHeaders.set(name, value)
    if (name === 'Nats-Schedule') sentHeaders.set('Nats-Schedule-Target', 'air.readings.0')
    if (name === 'Nats-Batch-Id') sentHeaders.set('Nats-Batch-Sequence', '1')
    const manager = await jetstreamManager(nats.nc)
    const first = (await manager.streams.info(ownStream)).state
    expect(await changedBy({ headers: sentHeaders })).toEqual([ownStream])
    const { state } = await manager.streams.info(ownStream)
    expect(state.first_seq).toBe(first.first_seq)
    expect(state.messages).toBeGreaterThan(first.messages)
  })
})
