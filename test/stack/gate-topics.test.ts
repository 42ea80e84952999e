/**
 * Devices that fix their own MQTT topics, against a real server that asks the gate for each
 * sign-in.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import { connectAsync, type MqttClient } from 'mqtt'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { lastMessage, nextMessage, type Stored } from '../../runtime/nats/stored-message.ts'
import type { Device } from '../../schemas/devices/sensor.ts'
import type { RawReading } from '../../schemas/log/raw-reading.ts'
import { rawStream, rawSubject, topicsStream } from '../../schemas/subjects.ts'
import airgradient from '../fixtures/devices-mqtt/airgradient.json' with { type: 'json' }
import esphome from '../fixtures/devices-mqtt/esphome.json' with { type: 'json' }
import tasmota from '../fixtures/devices-mqtt/tasmota.json' with { type: 'json' }
import fahrenheit from '../fixtures/devices-mqtt/tasmota-fahrenheit.json' with { type: 'json' }
import zigbee from '../fixtures/devices-mqtt/zigbee2mqtt.json' with { type: 'json' }
import { eventually } from '../support/eventually.ts'
import { type Guarded, guardedNats, type TestGate } from '../support/gate.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

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

const clients: MqttClient[] = []
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)))
})

/** Signs in over MQTT 3.1.1, as such firmware does. */
async function device(id: string, fixed: Device, { clientId = id } = {}): Promise<MqttClient> {
  const password = await nats.addSensor(id, { device: fixed })
  const client = await connectAsync(nats.mqttUrl, {
    protocolVersion: 4,
    username: id,
    password,
    clientId,
    reconnectPeriod: 0,
  })
  clients.push(client)
  return client
}

/** What RAW holds of a sensor. */
async function rawOf(id: string): Promise<readonly RawReading[]> {
  const partition = partitionOf(id)
  const readings: RawReading[] = []
  for (let from = 1; ; ) {
    const one = await nextMessage(nats.nc, rawStream(partition), rawSubject(partition, id), from)
    if (one === undefined) return readings
    readings.push(JSON.parse(new TextDecoder().decode(one.data)) as RawReading)
    from = one.seq + 1
  }
}

const firstOf = (id: string): Promise<RawReading> =>
  eventually(`a reading of ${id}`, async () => (await rawOf(id))[0])
const isRecent = ({ timestamp }: RawReading): boolean =>
  Math.abs(Date.parse(timestamp) - Date.now()) < 60_000

describe('a device that fixes its own topics', () => {
  it('AirGradient: signs in with its own client id, and its values are unchanged', async () => {
    const id = 'NGR-LOS-DEV-001'
    const own = { client_id: 'ESP32_ddEEFF' }
    const monitor = await device(
      id,
      { kind: 'airgradient', serial: 'aabbccddeeff', options: own },
      { clientId: own.client_id },
    )
    await monitor.publishAsync(airgradient.topic, JSON.stringify(airgradient.body))
    const reading = await firstOf(id)
    expect(reading).toMatchObject({ ...airgradient.fields, time_assigned: true })
    expect(isRecent(reading)).toBe(true)
  })

  it('Tasmota: °C as they are, °F converted, and the zoned time kept', async () => {
    const [celsiusId, fahrenheitId] = ['NGR-LOS-DEV-002', 'NGR-LOS-DEV-003']
    const one = await device(celsiusId, { kind: 'tasmota', serial: 'tasmota_0A1B2C' })
    const other = await device(fahrenheitId, { kind: 'tasmota', serial: 'tasmota_0A1B2D' })
    await one.publishAsync(tasmota.topic, JSON.stringify(tasmota.body))
    await other.publishAsync(fahrenheit.topic, JSON.stringify(fahrenheit.body))
    const reading = await firstOf(celsiusId)
    expect(reading).toMatchObject({ ...tasmota.fields, time_assigned: true })
    expect(isRecent(reading)).toBe(true)
    expect(await firstOf(fahrenheitId)).toEqual({
      ...fahrenheit.fields,
      timestamp: fahrenheit.time,
    })
  })

  it('ESPHome: its numbers, retained as it sends them, become one reading', async () => {
    const id = 'NGR-LOS-DEV-004'
    const node = await device(id, {
      kind: 'esphome',
      serial: 'yard-air',
      options: esphome.options,
    })
    for (const { topic, body } of esphome.messages)
      await node.publishAsync(topic, body, { retain: true })
    // the next round of the same device closes the reading before its window does
    const [first] = esphome.messages
    await node.publishAsync(first?.topic ?? '', '99', { retain: true })
    expect(await firstOf(id)).toMatchObject({ ...esphome.fields, time_assigned: true })
    expect(await rawOf(id)).toHaveLength(1)
  })

  it('Zigbee2MQTT: one sign-in of the bridge is enough for all of its sensors', async () => {
    const [id, otherId] = ['NGR-LOS-DEV-005', 'NGR-LOS-DEV-006']
    await nats.addSensor(otherId, { device: { kind: 'zigbee2mqtt', serial: 'home-7:roof' } })
    const serial = 'home-7:0x00158d0001dc126a'
    const bridge = await device(id, { kind: 'zigbee2mqtt', serial })
    await bridge.publishAsync('zigbee2mqtt/home-7/bridge/state', '{}', { retain: true, qos: 1 })
    // it ends where this is refused
    await bridge.subscribeAsync('zigbee2mqtt/home-7/#')
    await bridge.publishAsync(zigbee.topic, JSON.stringify(zigbee.body))
    const other = JSON.stringify({ ...zigbee.body, pm25: 18 })
    await bridge.publishAsync('zigbee2mqtt/home-7/roof', other)
    expect(await firstOf(id)).toEqual({ ...zigbee.fields, timestamp: zigbee.time })
    expect(await firstOf(otherId)).toMatchObject({ pm25: 18 })
    expect(nats.denied.filter(({ who }) => who === id)).toEqual([])
    for (const foreign of ['zigbee2mqtt/#', 'zigbee2mqtt/home-8/#', 'zigbee2mqtt/+/roof'])
      await expect(bridge.subscribeAsync(foreign)).rejects.toThrow(/Unspecified error/)
  })

  it('publishes nothing in the name of another, on its topics or on those of a plain sensor', async () => {
    const [id, victim] = ['NGR-LOS-DEV-007', 'NGR-LOS-DEV-008']
    await nats.addSensor(victim, { device: { kind: 'tasmota', serial: 'tasmota_victim' } })
    const rogue = await device(id, { kind: 'tasmota', serial: 'tasmota_rogue' })
    const body = JSON.stringify(tasmota.body)
    const topics = [
      'tele/tasmota_victim/SENSOR',
      'tele/+/SENSOR'.replace('+', '*'),
      'airgradient/readings/aabbccddeeff',
      'esphome/yard-air/sensor/pm25/state',
      `air/raw/${victim}`,
      `air/raw/${partitionOf(victim)}/${victim}`,
    ]
    // an acknowledgement means nothing: the server sends it for denied messages too
    for (const topic of topics) await rogue.publishAsync(topic, body, { qos: 1 })
    await rogue.publishAsync('tele/tasmota_rogue/SENSOR', body, { qos: 1 })
    expect(await firstOf(id)).toMatchObject(tasmota.fields)
    expect(await rawOf(victim)).toEqual([])
    await eventually('each denial is named', () => {
      const denied = nats.denied.filter(({ who, what }) => who === id && what === 'publish')
      return denied.length === topics.length
    })
  })

  it('receives nothing of what it subscribes to, and stays connected', async () => {
    const id = 'NGR-LOS-DEV-009'
    const plug = await device(id, { kind: 'tasmota', serial: 'tasmota_0A1B2E' })
    const topics = ['cmnd/tasmota_0A1B2E/#', 'cmnd/tasmotas/#', 'tele/#', '#']
    for (const topic of topics) {
      // 0x80 in the SUBACK
      await expect(plug.subscribeAsync(topic)).rejects.toThrow(/Unspecified error/)
    }
    await plug.publishAsync('tele/tasmota_0A1B2E/SENSOR', JSON.stringify(tasmota.body))
    expect(await firstOf(id)).toMatchObject(tasmota.fields)
  })

  it('is of no sensor where two claim it, and is counted as such', async () => {
    const [id, other] = ['NGR-LOS-DEV-010', 'NGR-LOS-DEV-011']
    const twice: Device = { kind: 'airgradient', serial: '001122334455' }
    await nats.addSensor(other, { device: twice })
    const monitor = await device(id, twice)
    const before = await gate.metric('airproof_gate_topic_messages_total', 'ambiguous_device')
    const body = JSON.stringify({ ...airgradient.body, serialno: twice.serial })
    await monitor.publishAsync('airgradient/readings/001122334455', body)
    await eventually('it is counted', async () => {
      const now = await gate.metric('airproof_gate_topic_messages_total', 'ambiguous_device')
      return now === before + 1
    })
    expect([...(await rawOf(id)), ...(await rawOf(other))]).toEqual([])
  })
})

describe('what a device sent while no gate was there', () => {
  it('becomes a reading of the time it was sent, once, when a gate is back', async () => {
    const id = 'NGR-LOS-DEV-012'
    const monitor = await device(id, { kind: 'airgradient', serial: 'a0a1a2a3a4a5' })
    const body = { ...airgradient.body, serialno: 'a0a1a2a3a4a5' }
    const topic = 'airgradient/readings/a0a1a2a3a4a5'
    await monitor.publishAsync(topic, JSON.stringify({ ...body, pm02: 1 }), { retain: true })
    await firstOf(id)
    await gate[Symbol.asyncDispose]()
    await monitor.publishAsync(topic, JSON.stringify({ ...body, pm02: 2 }), { retain: true })
    const kept = (): Promise<Stored | undefined> =>
      lastMessage(nats.nc, topicsStream, topic.replaceAll('/', '.'))
    const waiting = await eventually('it waits', kept)
    gate = await nats.startGate()
    await eventually('both are there', async () => (await rawOf(id)).length === 2)
    const [, missed] = await rawOf(id)
    expect(missed).toMatchObject({ pm25: 2, time_assigned: true })
    // the broker's time of the message, to the ms, not that of the gate
    expect(Date.parse(missed?.timestamp ?? '')).toBe(waiting.timeMs)
    await eventually('nothing is left', async () => (await kept()) === undefined)
    // a gate that is back does not receive again what the server retains
    expect(await rawOf(id)).toHaveLength(2)
  })

  it('is taken over by a second gate when the first ends', async () => {
    const id = 'NGR-LOS-DEV-013'
    using folder = temporaryFolder()
    await using second = await nats.startGate({ AIRPROOF_DATA: folder.path })
    const plug = await device(id, { kind: 'tasmota', serial: 'tasmota_0A1B2F' })
    const topic = 'tele/tasmota_0A1B2F/SENSOR'
    await plug.publishAsync(topic, JSON.stringify(tasmota.body))
    await firstOf(id)
    await gate[Symbol.asyncDispose]()
    await plug.publishAsync(topic, JSON.stringify({ ...tasmota.body, SDS0X1: { PM10: 5 } }))
    await eventually('the second works', async () => (await rawOf(id)).length === 2)
    const stored = await second.metric('airproof_gate_topic_messages_total', 'stored')
    expect(stored).toBeGreaterThanOrEqual(1)
    gate = await nats.startGate()
  })
})

describe('a Zigbee bridge that starts again', () => {
  it('sends old states, which are left out', async () => {
    const id = 'NGR-LOS-DEV-014'
    const bridge = await device(id, { kind: 'zigbee2mqtt', serial: 'home-9:balcony' })
    const say = (last_seen: string, pm25: number): Promise<unknown> =>
      bridge.publishAsync(
        'zigbee2mqtt/home-9/balcony',
        JSON.stringify({ ...zigbee.body, pm25, last_seen }),
        { retain: true },
      )
    await say('2026-01-31T06:00:00Z', 17)
    await say('2026-01-31T06:00:00Z', 17)
    await say('2026-01-31T05:00:00Z', 12)
    await say('2026-01-31T06:05:00Z', 19)
    await eventually('the last is there', async () => (await rawOf(id)).some((r) => r.pm25 === 19))
    expect((await rawOf(id)).map(({ pm25 }) => pm25)).toEqual([17, 19])
  })
})

describe('a bridge that sends what cannot be read', () => {
  it('delays no other device, loses none of their readings, and is served again itself', async () => {
    const [bad, calm] = ['NGR-LOS-DEV-015', 'NGR-LOS-DEV-016']
    const bridge = await device(bad, { kind: 'zigbee2mqtt', serial: 'home-10:roof' })
    const monitor = await device(calm, { kind: 'airgradient', serial: 'b0b1b2b3b4b5' })
    const topic = 'zigbee2mqtt/home-10/roof'
    const odd = [
      '9000000000000001',
      '8640000000000001',
      '-9e15',
      '1e308',
      '1763708400000000',
      `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
      '"275760-09-13T00:00:00.001Z"',
      '{}',
    ]
    for (let round = 0; round < 40; round++) {
      const lastSeen = odd[round % odd.length] ?? ''
      await bridge.publishAsync(topic, `{"pm25":5,"last_seen":${lastSeen}}`, { qos: 1 })
      await bridge.publishAsync(topic, '{"pm25":1e308,"temperature":-0', { qos: 1 })
      const body = JSON.stringify({ serialno: 'b0b1b2b3b4b5', pm02: round })
      await monitor.publishAsync('airgradient/readings/b0b1b2b3b4b5', body, { qos: 1 })
    }
    const good = JSON.stringify({ ...zigbee.body, last_seen: Date.now() })
    await bridge.publishAsync(topic, good, { qos: 1 })
    await eventually('all of the other are stored', async () => (await rawOf(calm)).length === 40)
    expect((await rawOf(calm)).map(({ pm25 }) => pm25)).toEqual(
      Array.from({ length: 40 }, (_, round) => round),
    )
    expect(await firstOf(bad)).toMatchObject({ pm25: zigbee.body.pm25 })
    const manager = await jetstreamManager(nats.nc)
    await eventually('nothing is left, and nothing is delivered again', async () => {
      const { num_ack_pending, num_pending } = await manager.consumers.info(topicsStream, 'gate')
      return num_ack_pending + num_pending === 0
    })
    expect(await gate.metric('airproof_gate_input_failed_total')).toBe(0)
  })
})
