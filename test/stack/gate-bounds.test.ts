/** What one signed-in device can take of the shared server is bounded: tried on a real one. */
import { jetstream, jetstreamManager, type StreamConfig } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { MqttClient } from 'mqtt'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dayMs } from '../../core/time.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import {
  buckets,
  mailStream,
  rawStream,
  rejectedStream,
  topicsStream,
} from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { type Guarded, guardedNats, type TestGate } from '../support/gate.ts'
import { mqttClient } from '../support/mqtt-client.ts'
import { testNats } from '../support/nats.ts'

let nats: Guarded
let gate: TestGate
beforeAll(async () => {
  nats = await guardedNats()
  gate = await nats.startGate()
})
afterAll(async () => {
  await gate[Symbol.asyncDispose]()
  await nats[Symbol.asyncDispose]()
})

type Listed = { readonly data: { readonly connections: readonly { subscriptions: number }[] } }

/** Subscriptions that the server keeps for a user, over all of its connections. */
async function subscriptionsOf(user: string): Promise<number> {
  const system = await nats.as('system')
  const filter = JSON.stringify({ auth: true, user })
  const { data } = (await system.request('$SYS.REQ.SERVER.PING.CONNZ', filter)).json<Listed>()
  return data.connections.reduce((sum, { subscriptions }) => sum + subscriptions, 0)
}

async function bridge(id: string, name: string): Promise<MqttClient> {
  const device = { kind: 'zigbee2mqtt', serial: `${name}:roof` } as const
  const secret = await nats.addSensor(id, { device })
  return await mqttClient(nats.mqttUrl, { id, secret, clean: false })
}

test('a sensor on NATS has 50 subscriptions, and continues with those', async () => {
  const id = 'NGR-LOS-BND-001'
  const nc = await nats.sensor(id, await nats.addSensor(id))
  for (let i = 0; i < 5_000; i++)
    nc.subscribe(`_INBOX_${id}.own.${i}`, { callback: () => undefined })
  await nc.flush()
  expect(await subscriptionsOf(id)).toBe(50)
})

test('a device on MQTT has 1,000, and what QoS 1 leaves is deleted a day after it disconnects', async () => {
  const id = 'NGR-LOS-BND-002'
  const client = await bridge(id, 'many')
  await client.subscribeAsync('zigbee2mqtt/many/set', { qos: 1 })
  const manager = await jetstreamManager(nats.nc)
  const consumers = await Array.fromAsync(manager.consumers.list('$MQTT_msgs'))
  expect(consumers.map(({ config }) => config.inactive_threshold)).toEqual([86_400_000_000_000])
  const topics = Array.from({ length: 5_000 }, (_, i) => `zigbee2mqtt/many/${i}`)
  // the server ends the connection of one that goes beyond it, or of one whose session is too long
  await client.subscribeAsync(topics).catch(() => undefined)
  expect(await subscriptionsOf(id)).toBeLessThanOrEqual(1_000)
  await client.endAsync(true)
})

test('retained messages are few, short and not for ever, though no stream of them was there', async () => {
  const manager = await jetstreamManager(nats.nc)
  const { config } = await manager.streams.info('$MQTT_rmsgs')
  expect(config).toMatchObject({
    max_bytes: 256 * 1024 * 1024,
    max_msg_size: 16 * 1024,
    max_age: 7 * 86_400_000_000_000,
    max_msgs: 100_000,
    max_msgs_per_subject: 1,
    discard: 'new',
  })
  const client = await bridge('NGR-LOS-BND-003', 'big')
  const say = (topic: string, length: number): Promise<unknown> =>
    client.publishAsync(`zigbee2mqtt/big/${topic}`, 'x'.repeat(length), { retain: true, qos: 1 })
  const retained = async (): Promise<number> =>
    (await manager.streams.info('$MQTT_rmsgs')).state.messages
  const before = await retained()
  for (let i = 0; i < 5; i++) await say(`long/${i}`, 900_000)
  await say('short', 500)
  await eventually('the short one is kept', async () => (await retained()) === before + 1)
  expect(client.connected).toBe(true)
  await client.endAsync(true)
})

test('no stream of what devices send takes a message of a megabyte', async () => {
  const id = 'NGR-LOS-BND-004'
  const nc = await nats.sensor(id, await nats.addSensor(id))
  const body = JSON.stringify({ timestamp: new Date().toISOString(), x: 'x'.repeat(900_000) })
  await expect(jetstream(nc).publish(`air.raw.${id}`, body)).rejects.toThrow(/exceeds maximum/)
  const client = await bridge('NGR-LOS-BND-005', 'long')
  const before = await gate.metric('airproof_gate_topic_messages_total')
  await client.publishAsync('zigbee2mqtt/long/roof', body, { qos: 1 })
  await client.publishAsync('zigbee2mqtt/long/roof', '{}', { qos: 1 })
  const topicMessages = (): Promise<number> => gate.metric('airproof_gate_topic_messages_total')
  await eventually('the short one arrives', async () => (await topicMessages()) > before)
  expect(await topicMessages()).toBe(before + 1)
  await client.endAsync(true)
})

test('streams of an older version get the bounds they lack, and keep those an operator chose', async () => {
  await using server = await testNats()
  const nc = await server.connect()
  const manager = await jetstreamManager(nc)
  const old = { storage: 'file', num_replicas: 1 } as const
  await manager.streams.add({
    ...old,
    name: rawStream(0),
    subjects: ['air.raw.0.*'],
    max_bytes: 9e6,
  })
  await manager.streams.add({ ...old, name: '$MQTT_rmsgs', subjects: ['$MQTT.rmsgs.>'] })
  await new Kvm(nc).create(buckets.tokens, { history: 1, ttl: dayMs })
  await ensureStreams(nc)
  const boundsOf = async (name: string): Promise<Partial<StreamConfig>> => {
    const { max_bytes, max_msg_size, max_age, discard } = (await manager.streams.info(name)).config
    return { max_bytes, max_msg_size, max_age, discard }
  }
  expect(await boundsOf(rawStream(0))).toEqual({
    max_bytes: 9e6,
    max_msg_size: 135_168,
    max_age: 0,
    discard: 'new',
  })
  expect(await boundsOf('$MQTT_rmsgs')).toEqual({
    max_bytes: 268_435_456,
    max_msg_size: 16_384,
    max_age: 604_800_000_000_000,
    discard: 'new',
  })
  // the newest link works, however many strangers ask for
  expect(await boundsOf(`KV_${buckets.tokens}`)).toEqual({
    max_bytes: 67_108_864,
    max_msg_size: -1,
    max_age: 86_400_000_000_000,
    discard: 'old',
  })
  for (const name of [topicsStream, rejectedStream])
    expect((await boundsOf(name)).max_bytes).toBeGreaterThan(0)
  await nc.close()
})

test('only streams into which ids are sent keep them, but for buckets', async () => {
  await using server = await testNats()
  const nc = await server.connect()
  await ensureStreams(nc)
  const manager = await jetstreamManager(nc)
  const keeping: string[] = []
  for await (const { config } of manager.streams.list())
    if (config.duplicate_window > 100e6 && !/^(KV_|\$MQTT_)/.test(config.name))
      keeping.push(config.name.replace(/\d+$/, ''))
  expect([...new Set(keeping)].toSorted()).toEqual([mailStream, 'RAW_'])
  await nc.close()
})
