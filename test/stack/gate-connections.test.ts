/** Connections that must end, reconnect, or wait: revocation, floods, storms, a gate that dies. */
import { connect as dial, type Socket } from 'node:net'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { partitionOf, sensorIdRules } from '../../core/air/sensor-id.ts'
import { askAccess, askConnections } from '../../operate/sensor-access.ts'
import { issueCredential, revokeCredential } from '../../operate/sensor-credentials.ts'
import {
  changeSensor,
  createSensor,
  newEntry,
  openRegistry,
  removeSensor,
} from '../../operate/sensor-registry.ts'
import { inParallel } from '../../runtime/in-parallel.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import type { OpenConnection } from '../../schemas/devices/open-connection.ts'
import { parseSeen } from '../../schemas/devices/seen.ts'
import { buckets, connectionsSubject, deniedSubject, rawStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { type Guarded, guardedNats, type TestGate } from '../support/gate.ts'
import { mqttClient } from '../support/mqtt-client.ts'

const id = 'NGR-LOS-IKJ-017'
const ikeja = { area: 'Ikeja', lat: 6.6, lon: 3.35, address: '', cadenceSeconds: 60 }

const connectionsOf = async (nats: Guarded, sensor: string): Promise<OpenConnection[]> =>
  (await nats.nc.request(connectionsSubject(sensor), '', { timeout: 10_000 })).json()

/** How many connections the gate ended: the server ends one before the gate knows that it has. */
const countedOf = (gate: TestGate, why: string): Promise<number> =>
  eventually('one is counted', async () => {
    const count = await gate.metric('airproof_gate_closed_total', `why="${why}"`)
    return count > 0 && count
  })

const ends = (nc: NatsConnection): Promise<unknown> => nc.closed()

test.each<[string, (nats: Guarded) => Promise<unknown>]>([
  ['revoked', (nats) => revokeCredential(nats.credentials, id, Date.now())],
  ['deleted', (nats) => nats.credentials.delete(id)],
  ['replaced at once', (nats) => issueCredential(nats.credentials, id, { nowMs: Date.now() })],
  [
    'that of a sensor that is removed',
    // by the dashboard, which may remove a credential and cannot read it
    async (nats) =>
      await removeSensor(
        await openRegistry(await nats.as('dashboard'), sensorIdRules()),
        sensorOf(id),
        Date.now(),
      ),
  ],
  [
    'that of a sensor that is another device now',
    async (nats) =>
      await changeSensor(await openRegistry(nats.nc, sensorIdRules()), sensorOf(id), (entry) => ({
        ...entry,
        device: { kind: 'tasmota', serial: 'roof' },
      })),
  ],
])('a credential that is %s ends what is open with it, and nothing else', async (_what, end) => {
  await using nats = await guardedNats()
  await using gate = await nats.startGate()
  const secret = await nats.addSensor(id)
  const otherSecret = await nats.addSensor('NGR-LOS-YAB-002')
  const nc = await nats.sensor(id, secret)
  const other = await nats.sensor('NGR-LOS-YAB-002', otherSecret)
  // publishes on it before, so it is not an idle connection
  await jetstream(nc).publish(`air.raw.${id}`, '{"n":1}')
  const client = await mqttClient(nats.mqttUrl, { id, secret })
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()))
  expect((await connectionsOf(nats, id)).map(({ protocol }) => protocol).toSorted()).toEqual([
    'mqtt',
    'nats',
  ])
  await end(nats)
  await Promise.all([ends(nc), closed])
  expect(() => nc.publish(`air.raw.${id}`, '{"n":2}')).toThrow(/closed/i)
  await client.endAsync(true)
  await jetstream(other).publish('air.raw.NGR-LOS-YAB-002', '{}')
  expect(await connectionsOf(nats, id)).toEqual([])
  await eventually(
    'it is counted',
    async () => (await gate.metric('airproof_gate_closed_total')) >= 2,
  )
})

const sensorOf = (text: string) => {
  const parsed = sensorIdRules().parse(text)
  if (parsed === undefined) throw new Error(`${text} is not an id`)
  return parsed
}

test.each<[string, (nats: Guarded) => Promise<unknown>]>([
  [
    'was removed by the command line',
    async (nats) =>
      await removeSensor(await openRegistry(nats.nc, sensorIdRules()), sensorOf(id), Date.now()),
  ],
  [
    'was removed by the dashboard',
    async (nats) =>
      await removeSensor(
        await openRegistry(await nats.as('dashboard'), sensorIdRules()),
        sensorOf(id),
        Date.now(),
      ),
  ],
  [
    'left its credential, as 0.1 let it',
    async (nats) => await (await new Kvm(nats.nc).open(buckets.sensors)).delete(id),
  ],
])(
  'the credential of a sensor that %s is not valid for the next sensor of its id',
  async (_how, remove) => {
    await using nats = await guardedNats()
    await using _gate = await nats.startGate()
    const former = await nats.addSensor(id)
    await (await nats.sensor(id, former)).close()
    await remove(nats)
    const entry = newEntry({ ...ikeja, id, fromMs: 0, nowMs: Date.now() })
    await createSensor(await openRegistry(await nats.as('dashboard'), sensorIdRules()), entry)
    await expect(nats.sensor(id, former)).rejects.toThrow(/authorization/i)
    const secret = await issueCredential(nats.credentials, id, { nowMs: Date.now() })
    await eventually('the new credential is valid', () =>
      nats.sensor(id, secret).catch(() => undefined),
    )
  },
)

test('a client that signs in with the new credential right after the change stays', async () => {
  await using nats = await guardedNats()
  await using _gate = await nats.startGate()
  await nats.addSensor(id)
  const secret = await issueCredential(nats.credentials, id, { nowMs: Date.now() })
  const nc = await eventually('it is let in', () => nats.sensor(id, secret).catch(() => undefined))
  // the gate's second look at the connections comes after a second
  const seen = performance.now() + 2_000
  await eventually('two seconds have gone', () => performance.now() > seen)
  expect((await jetstream(nc).publish(`air.raw.${id}`, '{}')).seq).toBe(1)
})

test('the end of an overlap ends the connections of the old credential, and no others', async () => {
  await using nats = await guardedNats()
  await using gate = await nats.startGate()
  const old = await nats.sensor(id, await nats.addSensor(id))
  const nowMs = Date.now()
  const secret = await issueCredential(nats.credentials, id, { nowMs, overlapMs: 3_000 })
  const calm = 'NGR-LOS-YAB-002'
  const other = await nats.sensor(calm, await nats.addSensor(calm))
  const next = await eventually('it is let in', () =>
    nats.sensor(id, secret).catch(() => undefined),
  )
  await jetstream(old).publish(`air.raw.${id}`, '{}')
  await ends(old)
  expect(Date.now()).toBeGreaterThanOrEqual(nowMs + 3_000)
  await jetstream(next).publish(`air.raw.${id}`, '{}')
  await jetstream(other).publish(`air.raw.${calm}`, '{}')
  expect(await countedOf(gate, 'outlived')).toBe(1)
})

test('connections of a credential that was revoked while no gate ran end with the next gate', async () => {
  await using nats = await guardedNats()
  const first = await nats.startGate()
  const open = await nats.sensor(id, await nats.addSensor(id))
  const calm = 'NGR-LOS-YAB-002'
  const other = await nats.sensor(calm, await nats.addSensor(calm))
  await first[Symbol.asyncDispose]()
  await revokeCredential(nats.credentials, id, Date.now())
  await using _second = await nats.startGate()
  await ends(open)
  expect((await jetstream(other).publish(`air.raw.${calm}`, '{}')).seq).toBe(1)
})

test('a sensor’s last contact stays on record when it has left', async () => {
  await using nats = await guardedNats()
  await using _gate = await nats.startGate()
  const secret = await nats.addSensor(id)
  const client = await mqttClient(nats.mqttUrl, { id, secret })
  await client.endAsync()
  const kv = await new Kvm(nats.nc).open(buckets.seen)
  const seen = await eventually('both are noted', async () => {
    const entry = await kv.get(id)
    const parsed = entry?.operation === 'PUT' ? parseSeen(entry.json()) : undefined
    return parsed?.left === undefined ? undefined : parsed
  })
  expect(seen).toMatchObject({
    heard: { protocol: 'mqtt', address: '127.0.0.1' },
    left: { reason: expect.stringMatching(/closed/i) },
  })
  // the dashboard gets the same from the gate, with the state of the key and not its hash
  const dashboard = await nats.as('dashboard')
  const access = await askAccess(dashboard, id)
  expect(access).toEqual({ key: 'good', key_at: expect.any(String), seen })
  expect(await askConnections(dashboard, id)).toEqual([])
  await revokeCredential(nats.credentials, id, Date.now())
  await eventually('it is revoked', async () => (await askAccess(dashboard, id))?.key === 'revoked')
  expect(await askAccess(dashboard, 'NGR-LOS-IKJ-999')).toEqual({ key: 'none', seen: {} })
})

test('a sensor that floods must pause; what was acknowledged is stored, and others continue', async () => {
  await using nats = await guardedNats()
  await using gate = await nats.startGate()
  const bounds = { flood: { per_second: 1, burst: 50 } }
  const secret = await nats.addSensor(id, bounds)
  const calm = 'NGR-LOS-YAB-002'
  const other = await nats.sensor(calm, await nats.addSensor(calm, bounds))
  const nc = await nats.sensor(id, secret)
  let acknowledged = 0
  let isOpen = true
  void ends(nc).then(() => {
    isOpen = false
  })
  while (isOpen) {
    await jetstream(nc)
      .publish(`air.raw.${id}`, JSON.stringify({ n: acknowledged }))
      .then(
        () => {
          acknowledged += 1
        },
        () => undefined,
      )
  }
  expect(acknowledged).toBeGreaterThan(50)
  await jetstream(other).publish(`air.raw.${calm}`, '{}')
  await expect(nats.sensor(id, secret)).rejects.toThrow(/authorization violation/i)
  expect(await gate.metric('airproof_gate_sign_ins_total', 'verdict="paused"')).toBe(1)
  const manager = await jetstreamManager(nats.nc)
  const { state } = await manager.streams.info(rawStream(partitionOf(id)), {
    subjects_filter: `air.raw.*.${id}`,
  })
  expect(Object.values(state.subjects ?? {})[0]).toBeGreaterThanOrEqual(acknowledged)
})

test('a sensor that reconnects between two looks floods like one that stays', async () => {
  await using nats = await guardedNats()
  await using gate = await nats.startGate()
  const secret = await nats.addSensor(id, { flood: { per_second: 0.01, burst: 50 } })
  const visit = async (): Promise<void> => {
    const nc = await nats.sensor(id, secret)
    for (let i = 0; i < 5; i++) nc.publish(`air.raw.${id}`, '{}')
    await nc.close()
  }
  let visits = 0
  // a look may end a visit at any moment; only then it is refused
  const isRefusal = (error: unknown): boolean => /authorization violation/i.test(String(error))
  let refused: unknown
  for (; refused === undefined && visits < 100; visits++)
    await visit().catch((error: unknown) => {
      if (isRefusal(error)) refused = error
    })
  expect(refused).toBeDefined()
  expect(visits).toBeGreaterThan(8)
  expect(await gate.metric('airproof_gate_sign_ins_total', 'verdict="paused"')).toBe(1)
})

test('endless denials are a flood: the servers do not count subscriptions', async () => {
  await using nats = await guardedNats()
  await using gate = await nats.startGate()
  const nc = await nats.sensor(id, await nats.addSensor(id))
  nats.nc.publish(deniedSubject('test'), JSON.stringify({ [id]: 10_000 }))
  await ends(nc)
  expect(await countedOf(gate, 'flood')).toBe(1)
})

test('a refused client writes nothing about a sensor', async () => {
  await using nats = await guardedNats()
  await using _gate = await nats.startGate()
  const secret = await nats.addSensor(id)
  const stranger = 'NGR-LOS-YAB-999'
  await expect(nats.sensor(stranger, secret)).rejects.toThrow(/authorization violation/i)
  await (await nats.sensor(id, secret)).close()
  const seen = await new Kvm(nats.nc).open(buckets.seen)
  await eventually('its end is noted', async () => (await seen.get(id))?.string().includes('left'))
  expect(await seen.get(stranger)).toBeNull()
})

test('long messages count as several, though they are few', async () => {
  await using nats = await guardedNats()
  await using gate = await nats.startGate()
  const secret = await nats.addSensor(id, { flood: { per_second: 1, burst: 50 } })
  const nc = await nats.sensor(id, secret)
  const body = 'x'.repeat(100_000)
  for (let i = 0; i < 20; i++) await jetstream(nc).publish(`air.raw.${id}`, body)
  await ends(nc)
  expect(await countedOf(gate, 'flood')).toBe(1)
})

test('a sensor has one budget over HTTP and NATS, and pauses on both', async () => {
  await using nats = await guardedNats()
  const port = await freePort()
  await using _gate = await nats.startGate({ AIRPROOF_PUSH_PORT: String(port) })
  const bounds = { flood: { per_second: 0.01, burst: 50 } }
  const secret = await nats.addSensor(id, bounds)
  const nc = await nats.sensor(id, secret)
  const push = async (): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${port}/push/readings`, {
      method: 'POST',
      body: '{"pm25":1}',
      headers: { authorization: `Bearer ${id}:${secret}`, connection: 'close' },
    })
    await answer.text()
    return answer.status
  }
  for (let i = 0; i < 30; i++) {
    expect(await push()).toBe(202)
    await jetstream(nc).publish(`air.raw.${id}`, '{}')
  }
  // neither way alone was too much
  await ends(nc)
  await expect(nats.sensor(id, secret)).rejects.toThrow(/authorization violation/i)
  expect(await push()).toBe(429)
})

test('of too many connections of one sensor the oldest are closed', async () => {
  await using nats = await guardedNats()
  await using _gate = await nats.startGate()
  const secret = await nats.addSensor(id)
  const all: NatsConnection[] = []
  for (let i = 0; i < 12; i++) all.push(await nats.sensor(id, secret))
  await eventually('eight are left', async () => (await connectionsOf(nats, id)).length === 8)
  expect(all.map((nc) => nc.isClosed()).slice(-8)).toEqual(Array.from({ length: 8 }, () => false))
})

test('with the gate killed open connections stay, and new ones wait for the next gate', async () => {
  await using nats = await guardedNats()
  const first = await nats.startGate()
  const secret = await nats.addSensor(id)
  const open = await nats.sensor(id, secret)
  const late = ['NGR-LOS-LAT-001', 'NGR-LOS-LAT-002', 'NGR-LOS-LAT-003']
  const secrets = new Map<string, string>()
  for (const one of late) secrets.set(one, await nats.addSensor(one))
  // in mid-connect: they have sent the request, or are about to, while it ends
  const connecting = late.map((one) =>
    nats.sensor(one, secrets.get(one) ?? '', {
      reconnect: true,
      maxReconnectAttempts: -1,
      waitOnFirstConnect: true,
      ignoreAuthErrorAbort: true,
    }),
  )
  await first[Symbol.asyncDispose]()
  await jetstream(open).publish(`air.raw.${id}`, '{}')
  await using _second = await nats.startGate()
  const back = await Promise.all(connecting)
  for (const nc of back) await nc.flush()
  expect(back).toHaveLength(late.length)
})

test('two gates share the work, and one without the other does all of it', async () => {
  await using nats = await guardedNats()
  const first = await nats.startGate()
  await using second = await nats.startGate({ AIRPROOF_DATA: `${nats.folder}/second` })
  const secrets = await manySensors(nats, 40)
  await inParallel([...secrets], 10, async ([one, key]) => {
    await (await nats.sensor(one, key)).close()
  })
  const counts = await Promise.all(
    [first, second].map((gate) => gate.metric('airproof_gate_sign_ins_total', 'verdict="ok"')),
  )
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40)
  await first[Symbol.asyncDispose]()
  const [one = '', key = ''] = [...secrets][0] ?? []
  await (await nats.sensor(one, key)).close()
})

async function manySensors(nats: Guarded, count: number): Promise<Map<string, string>> {
  const ids = Array.from({ length: count }, (_, i) => `NGR-LOS-MNY-${String(i).padStart(4, '0')}`)
  const secrets = new Map<string, string>()
  await inParallel(ids, 50, async (one) => void secrets.set(one, await nats.addSensor(one)))
  return secrets
}

test('1,000 sensors that connect at once, and once more, are all let in', async () => {
  await using nats = await guardedNats()
  await using gate = await nats.startGate()
  const secrets = await manySensors(nats, 1_000)
  for (const round of [1, 2]) {
    const connections = await Promise.all(
      [...secrets].map(([one, key]) =>
        nats.sensor(one, key, {
          reconnect: true,
          maxReconnectAttempts: -1,
          waitOnFirstConnect: true,
          ignoreAuthErrorAbort: true,
          reconnectTimeWait: 100,
          timeout: 60_000,
        }),
      ),
    )
    expect(
      await gate.metric('airproof_gate_sign_ins_total', 'verdict="ok"'),
    ).toBeGreaterThanOrEqual(round * 1_000)
    await Promise.all(connections.map((nc) => nc.close()))
  }
})

test('silent connections are bounded and closed; signed-in sensors continue', async () => {
  await using nats = await guardedNats({ maxConnections: 60 })
  await using _gate = await nats.startGate()
  const secret = await nats.addSensor(id)
  const nc = await nats.sensor(id, secret)
  const silent = (port: number): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = dial(port, '127.0.0.1', () => resolve(socket))
      socket.once('error', reject)
      socket.on('error', () => undefined)
      socket.resume()
    })
  const sockets: Socket[] = []
  try {
    for (let i = 0; i < 100; i++) {
      const url = new URL(i % 2 === 0 ? nats.url : nats.mqttUrl)
      sockets.push(await silent(Number(url.port)))
    }
    await jetstream(nc).publish(`air.raw.${id}`, '{}')
    await eventually('the server closes those that never signed in', () =>
      sockets.every((socket) => socket.readableEnded || socket.destroyed),
    )
    const again = await nats.sensor(id, secret)
    expect((await jetstream(again).publish(`air.raw.${id}`, '{}')).seq).toBe(2)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})

test('where the stream is full the sensor receives the error over NATS, and MQTT’s acknowledgement means nothing', async () => {
  await using nats = await guardedNats({ rawMaxBytes: 64 * 1024 })
  await using _gate = await nats.startGate()
  const secret = await nats.addSensor(id)
  const nc = await nats.sensor(id, secret)
  const stream = rawStream(partitionOf(id))
  const body = JSON.stringify({ x: 'x'.repeat(10_000) })
  const fill = async (): Promise<unknown> => {
    for (;;) await jetstream(nc).publish(`air.raw.${id}`, body)
  }
  await expect(fill()).rejects.toThrow(/maximum bytes exceeded/)
  const manager = await jetstreamManager(nats.nc)
  const before = (await manager.streams.info(stream)).state.messages
  const client = await mqttClient(nats.mqttUrl, { id, secret })
  await client.publishAsync(`air/raw/${id}`, body, { qos: 1 })
  expect((await manager.streams.info(stream)).state.messages).toBe(before)
  await client.endAsync(true)
})
