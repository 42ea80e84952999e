/**
 * A sensor may publish for itself and nothing else: everything else is denied, counted and named.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { partitionCount, partitionOf } from '../../core/air/sensor-id.ts'
import { issueCredential, newSecret, revokeCredential } from '../../operate/sensor-credentials.ts'
import { parseSeen } from '../../schemas/devices/seen.ts'
import { buckets, deniedSubject, rawStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { type Guarded, guardedNats, type TestGate } from '../support/gate.ts'
import { mqttClient } from '../support/mqtt-client.ts'

const [id, other] = ['NGR-LOS-IKJ-017', 'NGR-LOS-YAB-002']
const partition = partitionOf(id)
let nats: Guarded
let gate: TestGate
let secret: string

beforeAll(async () => {
  nats = await guardedNats()
  gate = await nats.startGate()
  secret = await nats.addSensor(id)
  await nats.addSensor(other)
})
const opened: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})
afterAll(async () => {
  await gate?.[Symbol.asyncDispose]()
  await nats?.[Symbol.asyncDispose]()
})

async function signedIn(): Promise<NatsConnection> {
  const nc = await nats.sensor(id, secret)
  opened.push(() => nc.close())
  return nc
}

async function mqttSignedIn(options: object = {}) {
  const client = await mqttClient(nats.mqttUrl, { id, secret, ...options })
  opened.push(() => client.endAsync(true))
  return client
}

const stored = async (only?: number): Promise<number> => {
  const manager = await jetstreamManager(nats.nc)
  let count = 0
  for (let p = 0; p < partitionCount; p++)
    if (only === undefined || only === p)
      count += (await manager.streams.info(rawStream(p))).state.messages
  return count
}

const seenOf = async (sensor: string) => {
  const entry = await (await new Kvm(nats.nc).open(buckets.seen)).get(sensor)
  return entry?.operation === 'PUT' ? parseSeen(entry.json()) : undefined
}

describe('signed in', () => {
  const publish = {
    nats: async () => void (await jetstream(await signedIn()).publish(`air.raw.${id}`, '{"n":1}')),
    mqtt: async () =>
      void (await (await mqttSignedIn()).publishAsync(`air/raw/${id}`, '{"n":2}', { qos: 1 })),
  }
  test.each(['nats', 'mqtt'] as const)('over %s a sensor stores in its partition', async (way) => {
    const before = await stored(partition)
    await publish[way]()
    await eventually('it is stored', async () => (await stored(partition)) === before + 1)
    expect((await eventually('it is seen', () => seenOf(id))).heard?.address).toBe('127.0.0.1')
  })

  test('it receives its receipts over both, and no others', async () => {
    const [nc, client] = [await signedIn(), await mqttSignedIn()]
    const received: string[] = []
    nc.subscribe(`air.ack.${id}`, {
      callback: (_, message) => void received.push(message.string()),
    })
    client.on('message', (topic, body) => void received.push(`${topic} ${body.toString()}`))
    await client.subscribeAsync(`air/ack/${id}`, { qos: 1 })
    await nc.flush()
    const pipeline = await nats.as('pipeline')
    pipeline.publish(`air.ack.${other}`, 'not yours')
    pipeline.publish(`air.ack.${id}`, 'yours')
    await eventually('both received it', () => received.length === 2)
    expect(received.toSorted()).toEqual([`air/ack/${id} yours`, 'yours'])
  })
})

describe('refused sign-ins', () => {
  const refusal = /authorization violation/i
  const tries = (user: string, password: string) => nats.sensor(user, password)
  const failures = (verdict: string) =>
    gate.metric('airproof_gate_sign_ins_total', `verdict="${verdict}"`)

  test.each<[string, string, () => Promise<readonly [string, string]>]>([
    ['a wrong key', 'wrong', async () => [id, newSecret()]],
    ['a mistyped key', 'mistyped', async () => [id, `${secret.slice(0, -1)}_`]],
    ['no key', 'mistyped', async () => [id, '']],
    ['another sensor’s key', 'wrong', async () => [other, secret]],
    ['a name that is not a sensor’s', 'unknown', async () => ['admin', secret]],
    ['a sensor without a key', 'unknown', async () => ['NGR-LOS-IKJ-999', secret]],
    [
      'a key that was replaced',
      'wrong',
      async () => {
        const was = await nats.addSensor('NGR-LOS-OLD-001')
        await issueCredential(nats.credentials, 'NGR-LOS-OLD-001', { nowMs: Date.now() })
        return ['NGR-LOS-OLD-001', was]
      },
    ],
    [
      'a key whose overlap is over',
      'expired',
      async () => {
        const was = await nats.addSensor('NGR-LOS-OLD-002')
        const nowMs = Date.now() - 60_000
        await issueCredential(nats.credentials, 'NGR-LOS-OLD-002', { nowMs, overlapMs: 1_000 })
        return ['NGR-LOS-OLD-002', was]
      },
    ],
    [
      'a revoked key',
      'revoked',
      async () => {
        const was = await nats.addSensor('NGR-LOS-OLD-003')
        await revokeCredential(nats.credentials, 'NGR-LOS-OLD-003', Date.now())
        return ['NGR-LOS-OLD-003', was]
      },
    ],
    [
      'a key whose sensor is not registered',
      'unregistered',
      async () => {
        const nowMs = Date.now()
        return [
          'NGR-LOS-GON-001',
          await issueCredential(nats.credentials, 'NGR-LOS-GON-001', { nowMs }),
        ]
      },
    ],
  ])('%s is refused over NATS and MQTT, and counted as %s', async (_what, verdict, make) => {
    const [user, password] = await make()
    const known = await eventually('the gate knows', async () => {
      const before = await failures(verdict)
      await expect(tries(user, password)).rejects.toThrow(refusal)
      return (await failures(verdict)) > before ? before : undefined
    })
    await expect(mqttClient(nats.mqttUrl, { id: user, secret: password })).rejects.toThrow(
      /not authorized/i,
    )
    await eventually('both are counted', async () => (await failures(verdict)) >= known + 2)
  })

  test('the reason is noted with the sensor', async () => {
    await expect(tries(other, newSecret())).rejects.toThrow(refusal)
    const seen = await eventually('it is noted', async () => (await seenOf(other))?.refused)
    expect(seen).toMatchObject({ reason: 'wrong' })
  })

  test('one of our own users with a sensor’s credential is refused by the server itself', async () => {
    await expect(tries('operator', secret)).rejects.toThrow(refusal)
  })

  test('a client without a user is refused', async () => {
    await expect(
      nats.sensor('', '', { user: undefined, pass: undefined } as object),
    ).rejects.toThrow(refusal)
  })

  test('an MQTT client id must be the sensor’s id', async () => {
    const before = await failures('client_id')
    for (const clientId of [other, 'anything'])
      await expect(mqttClient(nats.mqttUrl, { id, secret, clientId })).rejects.toThrow(
        /not authorized/i,
      )
    expect(await failures('client_id')).toBe(before + 2)
  })

  test('a replaced credential is valid for its overlap, beside the new one', async () => {
    const sensor = 'NGR-LOS-OVL-001'
    const was = await nats.addSensor(sensor)
    const first = await nats.sensor(sensor, was)
    const now = await issueCredential(nats.credentials, sensor, {
      nowMs: Date.now(),
      overlapMs: 3_600_000,
    })
    for (const key of [was, now]) await (await nats.sensor(sensor, key)).close()
    await first.flush()
    expect(first.isClosed()).toBe(false)
  })
})

describe('what is denied', () => {
  const otherPartition = (partition + 1) % partitionCount
  const subjects = [
    `air.raw.${other}`,
    `air.raw.${partitionOf(other)}.${other}`,
    `air.raw.${otherPartition}.${id}`,
    'air.raw.>',
    `air.again.${partition}.${id}`,
    'air.readings.0',
    `air.readings.${partition}`,
    `air.ack.${id}`,
    'air.events.rise.x',
    '$JS.API.STREAM.PURGE.READINGS',
    '$JS.API.STREAM.DELETE.READINGS',
    `$JS.API.DIRECT.GET.KV_credentials.$KV.credentials.${id}`,
    '$KV.sensors.x',
    `$KV.credentials.${id}`,
    '$SYS.REQ.SERVER.PING.CONNZ',
    '$MQTT.msgs.x',
    'gate.pause.x',
    `gate.connections.${id}`,
    'anything',
  ]
  test.each(subjects)(
    'a publish to %s over NATS: an error to the sensor, nothing stored',
    async (subject) => {
      const nc = await signedIn()
      const errors: string[] = []
      void (async () => {
        for await (const status of nc.status())
          if (status.type === 'error') errors.push(status.error.message)
      })()
      const [before, count] = [await stored(), nats.denied.length]
      nc.publish(subject, 'x')
      await eventually('the sensor receives it', () =>
        errors.some((line) => line.includes('Permissions Violation for Publish')),
      )
      const named = await eventually('the server names it', () => nats.denied[count])
      expect(named).toMatchObject({ who: id, what: 'publish' })
      expect(await stored()).toBe(before)
    },
  )

  test.each([
    '>',
    'air.>',
    'air.raw.>',
    `air.ack.${other}`,
    '$SYS.>',
    '$KV.>',
    '_INBOX.>',
    '$MQTT.>',
  ])('a subscription to %s over NATS', async (subject) => {
    const nc = await signedIn()
    const { promise, resolve } = Promise.withResolvers<Error | null>()
    nc.subscribe(subject, { callback: (error) => resolve(error) })
    expect((await promise)?.message).toContain('Permissions Violation for Subscription')
  })

  test.each(['#', '+/+', 'air/#', `air/ack/${other}`, 'air/raw/+', '$SYS/#'])(
    'a subscription to %s over MQTT',
    async (topic) => {
      const client = await mqttSignedIn()
      const received: string[] = []
      client.on('message', (on) => void received.push(on))
      const granted = await client.subscribeAsync(topic, { qos: 1 }).then(
        (grants) => grants.map(({ qos }) => qos),
        () => [128],
      )
      expect(granted).toEqual([128])
      nats.nc.publish(`air.ack.${other}`, 'x')
      await client.subscribeAsync(`air/ack/${id}`, { qos: 1 })
      nats.nc.publish(`air.ack.${id}`, 'x')
      await eventually('its own arrives', () => received.length > 0)
      expect(received).toEqual([`air/ack/${id}`])
    },
  )

  test.each([
    `air/raw/${other}`,
    'air/readings/0',
    '$JS/API/STREAM/PURGE/READINGS',
    `$KV/credentials/${id}`,
  ])('a publish to %s over MQTT stores nothing, though it is acknowledged', async (topic) => {
    const client = await mqttSignedIn()
    const [before, count] = [await stored(), nats.denied.length]
    await client.publishAsync(topic, 'x', { qos: 1 })
    await eventually('the server names it', () => nats.denied.length > count)
    expect(nats.denied.at(-1)).toMatchObject({ who: id, what: 'publish' })
    expect(await stored()).toBe(before)
  })

  test('QoS 2 ends the connection', async () => {
    const client = await mqttSignedIn()
    const closed = new Promise<void>((resolve) => client.once('close', () => resolve()))
    const before = await stored()
    client.publish(`air/raw/${id}`, 'x', { qos: 2 })
    await closed
    expect(await stored()).toBe(before)
  })

  test('a will to another’s topic is never published; one of QoS 2 is not a sign-in', async () => {
    const before = await stored()
    const received: string[] = []
    const all = nats.nc.subscribe('air.>', {
      callback: (_, { subject }) => void received.push(subject),
    })
    await nats.nc.flush()
    const client = await mqttSignedIn({ will: { topic: `air/raw/${other}`, payload: 'x', qos: 1 } })
    client.stream.destroy()
    const will = {
      topic: `air/raw/${id}`,
      payload: Buffer.from('x'),
      qos: 2 as const,
      retain: false,
    }
    await expect(mqttClient(nats.mqttUrl, { id, secret, will })).rejects.toThrow(/./)
    // the server has done with the first connection when it takes the next one
    await (await mqttSignedIn()).publishAsync(`air/raw/${id}`, '{"n":3}', { qos: 1 })
    await eventually('ours is stored', async () => (await stored()) === before + 1)
    all.unsubscribe()
    expect(received.filter((subject) => subject.includes(other))).toEqual([])
  })

  test('a retained message is stored only for the sensor’s own topic', async () => {
    const client = await mqttSignedIn()
    const count = nats.denied.length
    await client.publishAsync(`air/raw/${other}`, 'x', { qos: 1, retain: true })
    await eventually('it is denied', () => nats.denied.length > count)
    const manager = await jetstreamManager(nats.nc)
    const { state } = await manager.streams.info('$MQTT_rmsgs', { subjects_filter: '>' })
    expect(Object.keys(state.subjects ?? {}).filter((name) => name.includes(other))).toEqual([])
  })

  test('a body over the server’s megabyte is refused, and the next one is taken', async () => {
    const nc = await signedIn()
    expect(() => nc.publish(`air.raw.${id}`, new Uint8Array(1_100_000))).toThrow(/size|payload/i)
    const client = await mqttSignedIn()
    const closed = new Promise<void>((resolve) => client.once('close', () => resolve()))
    const before = await stored()
    client.publish(`air/raw/${id}`, Buffer.alloc(1_100_000), { qos: 1 })
    await closed
    expect(await stored()).toBe(before)
    await jetstream(nc).publish(`air.raw.${id}`, '{"n":4}')
  })

  test('denials that the log reader reports are counted for the sensor', async () => {
    const before = (await seenOf(id))?.denied?.count ?? 0
    nats.nc.publish(deniedSubject('test'), JSON.stringify({ [id]: 3, operator: 5, nonsense: 'x' }))
    await eventually('noted', async () => (await seenOf(id))?.denied?.count === before + 3)
    expect(await gate.metric('airproof_gate_denied_total')).toBe(3)
  })
})
