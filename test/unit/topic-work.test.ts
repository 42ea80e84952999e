import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { type QuantityName, quantityNames } from '../../core/air/quantities.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import type { DeviceMatch } from '../../gate/device-index.ts'
import type { PublishVerdict } from '../../gate/push/publish-raw.ts'
import { createJoiner, type Joined } from '../../gate/topics/join-parts.ts'
import { createTopicWork } from '../../gate/topics/topic-work.ts'
import { parseSensor, type RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { Device } from '../../schemas/devices/sensor.ts'
import type { RawReading } from '../../schemas/log/raw-reading.ts'
import airgradient from '../fixtures/devices-mqtt/airgradient.json' with { type: 'json' }
import tasmota from '../fixtures/devices-mqtt/tasmota.json' with { type: 'json' }
import zigbee from '../fixtures/devices-mqtt/zigbee2mqtt.json' with { type: 'json' }
import { entryOf } from '../support/pipeline.ts'

const part = (quantity: QuantityName, timeMs: number, over = {}) => ({
  sensor: 'A',
  quantity,
  value: 1,
  timeMs,
  token: `${quantity} ${timeMs}`,
  ...over,
})

describe('numbers that come one by one', () => {
  it('become one reading of the first one’s time, when the window is over', () => {
    const joiner = createJoiner<string>()
    expect(joiner.take(part('pm25', 1_000, { value: 22.9 }), 0)).toEqual([])
    expect(joiner.take(part('temperature', 4_000, { value: 29 }), 3_000)).toEqual([])
    expect(joiner.due(9_999)).toEqual([])
    expect(joiner.due(10_000)).toEqual([
      {
        sensor: 'A',
        fields: { pm25: 22.9, temperature: 29 },
        timeMs: 1_000,
        tokens: ['pm25 1000', 'temperature 4000'],
      },
    ])
    expect(joiner.due(99_999)).toEqual([])
  })

  it('are complete at once when nothing more can come', () => {
    const joiner = createJoiner<string>()
    const [last, ...others] = quantityNames
    for (const name of others) expect(joiner.take(part(name, 1_000), 0)).toEqual([])
    expect(joiner.take(part(last!, 1_002), 0)).toMatchObject([{ timeMs: 1_000 }])
  })

  it('begin the next reading when one comes a second time, or long after the first', () => {
    const joiner = createJoiner<string>()
    joiner.take(part('pm25', 1_000, { value: 1 }), 0)
    expect(joiner.take(part('pm25', 2_000, { value: 2 }), 0)).toMatchObject([
      { fields: { pm25: 1 }, timeMs: 1_000 },
    ])
    expect(joiner.take(part('pm10', 12_001), 0)).toMatchObject([
      { fields: { pm25: 2 }, timeMs: 2_000 },
    ])
  })

  it('are held of a bounded number of sensors', () => {
    const joiner = createJoiner<string>({ most: 2 })
    joiner.take(part('pm25', 1), 0)
    joiner.take(part('pm25', 1, { sensor: 'B' }), 0)
    expect(joiner.take(part('pm25', 1, { sensor: 'C' }), 0)).toMatchObject([{ sensor: 'A' }])
    expect(joiner.abandon()).toHaveLength(2)
  })

  it('are each in exactly one reading, whatever comes in whatever order', () => {
    const anyPart = fc.record({
      sensor: fc.constantFrom('A', 'B', 'C'),
      quantity: fc.constantFrom<QuantityName>('pm25', 'pm10', 'humidity'),
      value: fc.integer(),
      timeMs: fc.nat(30_000),
      stepMs: fc.nat(6_000),
    })
    fc.assert(
      fc.property(fc.array(anyPart, { maxLength: 60 }), (parts) => {
        const joiner = createJoiner<number>({ most: 2 })
        const closed: Joined<number>[] = []
        let nowMs = 0
        parts.forEach((one, token) => {
          nowMs += one.stepMs
          closed.push(...joiner.take({ ...one, token }, nowMs), ...joiner.due(nowMs))
        })
        const seen = [...closed.flatMap(({ tokens }) => tokens), ...joiner.abandon()]
        expect(seen.toSorted((a, b) => a - b)).toEqual(parts.map((_, token) => token))
        for (const { tokens, fields, sensor } of closed)
          for (const token of tokens) {
            const printed = parts[token]
            expect(printed?.sensor).toBe(sensor)
            expect(printed && fields[printed.quantity]).toBe(printed?.value)
          }
      }),
    )
  })
})

type Answer = 'ack' | `again in ${number | undefined}`

const sensorWith = (id: string, device: Device): RegisteredSensor => {
  const sensor = parseSensor(entryOf(id, { device }), sensorIdRules())
  if (sensor === undefined) throw new Error(`${id} is not a sensor`)
  return sensor
}

/** The work with a RAW that takes what `takes` says. */
function workWith(found: (kind: string, serial: string) => DeviceMatch) {
  const published: { readonly sensor: string; readonly reading: RawReading }[] = []
  const counted: Record<string, number> = {}
  const failures: unknown[] = []
  const reported: string[] = []
  const state: { verdict: PublishVerdict; nowMs: number } = { verdict: 'stored', nowMs: 0 }
  const work = createTopicWork({
    devices: { find: found },
    publish: (sensor, body) => {
      if (state.verdict === 'stored')
        published.push({ sensor, reading: JSON.parse(body) as RawReading })
      return Promise.resolve(state.verdict)
    },
    count: (outcome, by) => (counted[outcome] = (counted[outcome] ?? 0) + by),
    failed: (_loop, error) => void failures.push(error),
    log: pino({ level: 'warn' }, { write: (line) => void reported.push(line) }),
    nowMs: () => state.nowMs,
  })
  const say = async (
    subject: string,
    body: unknown,
    { atMs = 1_763_708_400_000, redelivered = false, deliveryCount = 1 } = {},
  ): Promise<Answer[]> => {
    const answers: Answer[] = []
    const data =
      body instanceof Uint8Array
        ? body
        : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
    await work.take({
      subject,
      data,
      redelivered,
      info: { deliveryCount },
      timestampNanos: BigInt(atMs) * 1_000_000n + 999n,
      ack: () => void answers.push('ack'),
      nak: (ms) => void answers.push(`again in ${ms}`),
    })
    await Promise.resolve()
    await Promise.resolve()
    return answers
  }
  return { work, say, published, counted, failures, reported, state }
}

const air = sensorWith('NGR-LOS-TOP-001', { kind: 'airgradient', serial: 'aabbccddeeff' })
const tas = sensorWith('NGR-LOS-TOP-002', { kind: 'tasmota', serial: 'tasmota_0A1B2C' })
const zig = sensorWith('NGR-LOS-TOP-003', { kind: 'zigbee2mqtt', serial: 'home-7:balcony' })
const esp = sensorWith('NGR-LOS-TOP-004', { kind: 'esphome', serial: 'yard-air' })
const all = (kind: string): DeviceMatch =>
  [air, tas, zig, esp].find(({ device }) => device?.kind === kind) ?? 'unknown_device'

describe('a message on a device’s own topic', () => {
  it('is published as its sensor’s, stamped by the broker where the device has no clock', async () => {
    const { say, published } = workWith(all)
    expect(await say('airgradient.readings.aabbccddeeff', airgradient.body)).toEqual(['ack'])
    expect(published).toEqual([
      {
        sensor: air.id,
        reading: {
          timestamp: '2025-11-21T07:00:00Z',
          time_assigned: true,
          ...airgradient.fields,
        },
      },
    ])
  })

  it('comes again until RAW takes it, and then is the very same reading', async () => {
    const { say, published, state, counted } = workWith(all)
    state.verdict = 'full'
    expect(await say('airgradient.readings.aabbccddeeff', airgradient.body)).toEqual([
      'again in 2000',
    ])
    state.verdict = 'stored'
    const again = { redelivered: true }
    await say('airgradient.readings.aabbccddeeff', airgradient.body, again)
    await say('airgradient.readings.aabbccddeeff', airgradient.body, again)
    expect(published).toHaveLength(2)
    expect(published[0]).toEqual(published[1])
    expect(counted).toEqual({ not_stored: 1, stored: 2 })
  })

  it('is left out, counted and done with where nothing can become of it', async () => {
    const devices = (kind: string, serial: string): DeviceMatch =>
      serial === 'twice' ? 'ambiguous_device' : all(kind === 'tasmota' ? 'tasmota' : 'no')
    const { say, published, counted } = workWith(devices)
    const sensor = 'tele.tasmota_0A1B2C.SENSOR'
    expect(await say('zigbee2mqtt.home-7.nobody', zigbee.body)).toEqual(['ack'])
    expect(await say('tele.twice.SENSOR', tasmota.body)).toEqual(['ack'])
    expect(await say(sensor, '{"SDS0X1":')).toEqual(['ack'])
    expect(await say(sensor, '[1]')).toEqual(['ack'])
    expect(await say(sensor, { Time: '2026-01-31T08:00:00' })).toEqual(['ack'])
    expect(await say(sensor, new Uint8Array(16 * 1024 + 1))).toEqual(['ack'])
    expect(published).toEqual([])
    expect(counted).toEqual({
      unknown_device: 1,
      ambiguous_device: 1,
      not_json: 1,
      not_understood: 1,
      nothing: 1,
      too_large: 1,
    })
  })

  it('of a bridge that names devices without end, however long, is logged in one short line', async () => {
    const { say, counted, reported } = workWith(() => 'unknown_device')
    for (let i = 0; i < 50; i++)
      await say(`zigbee2mqtt.home-7.${'x'.repeat(60_000)}${i}`, zigbee.body)
    expect(counted).toEqual({ unknown_device: 50 })
    expect(reported).toHaveLength(1)
    expect(reported.join('').length).toBeLessThan(1_000)
    await say('zigbee2mqtt.home-8.nobody', zigbee.body)
    expect(reported).toHaveLength(2)
  })

  it('of a Zigbee bridge that repeats what it knows is no news', async () => {
    const { say, published, counted } = workWith(all)
    const topic = 'zigbee2mqtt.home-7.balcony'
    const at = { atMs: Date.parse('2026-01-31T08:00:00Z') }
    await say(topic, zigbee.body, at)
    await say(topic, zigbee.body, at)
    await say(topic, { ...zigbee.body, last_seen: '2026-01-31T06:00:00Z' }, at)
    expect(published).toMatchObject([{ reading: { timestamp: zigbee.time, pm25: 17 } }])
    expect(published[0]?.reading).not.toHaveProperty('time_assigned')
    await say(topic, { ...zigbee.body, last_seen: '2026-01-31T07:01:00Z' }, at)
    expect(published).toHaveLength(2)
    expect(counted).toEqual({ stored: 2, repeated: 2 })
    // it was not stored the first time: it is no repeat of anything
    await say(topic, zigbee.body, { ...at, redelivered: true })
    expect(published).toHaveLength(3)
  })

  it('from the future does not make what the device measures after it old news', async () => {
    const { say, published, counted } = workWith(all)
    const topic = 'zigbee2mqtt.home-7.balcony'
    const atMs = Date.parse('2026-01-31T07:00:00Z')
    await say(topic, { ...zigbee.body, last_seen: '2027-01-31T07:00:00Z' }, { atMs })
    for (let minute = 1; minute <= 3; minute++) {
      const timeMs = atMs + minute * 60_000
      await say(topic, { ...zigbee.body, last_seen: timeMs }, { atMs: timeMs })
    }
    // the first goes on too: the pipeline refuses it as `future`, and keeps it
    expect(published.map(({ reading }) => reading.timestamp)).toEqual([
      '2027-01-31T07:00:00Z',
      '2026-01-31T07:01:00Z',
      '2026-01-31T07:02:00Z',
      '2026-01-31T07:03:00Z',
    ])
    expect(counted).toEqual({ stored: 4 })
  })

  it('whose handling fails is counted and done with, and the next one is taken', async () => {
    let isBroken = true
    const { say, published, counted, failures } = workWith((kind) => {
      if (isBroken) throw new RangeError('a fault of ours')
      return all(kind)
    })
    expect(await say('airgradient.readings.aabbccddeeff', airgradient.body)).toEqual(['ack'])
    isBroken = false
    expect(await say('airgradient.readings.aabbccddeeff', airgradient.body)).toEqual(['ack'])
    expect(published).toHaveLength(1)
    expect(counted).toEqual({ failed: 1, stored: 1 })
    expect(failures).toEqual([new RangeError('a fault of ours')])
  })

  it('that finds no room comes again ever later, so that a day of it is within `max_deliver`', async () => {
    const { say, state } = workWith(all)
    state.verdict = 'away'
    const again = async (deliveryCount: number): Promise<Answer | undefined> => {
      const options = { redelivered: true, deliveryCount }
      return (await say('airgradient.readings.aabbccddeeff', airgradient.body, options))[0]
    }
    expect([await again(2), await again(6), await again(2_000)]).toEqual([
      'again in 4000',
      'again in 60000',
      'again in 60000',
    ])
  })

  it('of an SDS011 that repeats its last sample loses its particles, and only these', async () => {
    const { say, published, counted } = workWith(all)
    for (let i = 0; i < 25; i++)
      await say('tele.tasmota_0A1B2C.SENSOR', tasmota.body, { atMs: 1_763_708_400_000 + i })
    expect(published.filter(({ reading }) => reading.pm25 !== undefined)).toHaveLength(23)
    expect(published.at(-1)?.reading).toMatchObject({ temperature: 29.6, co2: 655 })
    expect(counted).toEqual({ stored: 25, frozen: 2 })
  })
})

describe('ESPHome’s numbers', () => {
  it('are acknowledged with their reading, not before', async () => {
    const { work, say, published, state } = workWith(all)
    const first = await say('esphome.yard-air.sensor.pm25.state', '22.9')
    const other = await say('esphome.yard-air.sensor.wifi_signal.state', '-61')
    const second = await say('esphome.yard-air.sensor.humidity.state', '70.5')
    const none = await say('esphome.yard-air.sensor.co2.state', 'nan')
    expect([first, other, second, none]).toEqual([[], ['ack'], [], ['ack']])
    state.nowMs = 10_000
    work.tick()
    await work.end()
    expect([first, second]).toEqual([['ack'], ['ack']])
    expect(published).toMatchObject([
      { sensor: esp.id, reading: { pm25: 22.9, humidity: 70.5, time_assigned: true } },
    ])
  })

  it('come again when the gate ends before their reading is complete', async () => {
    const { work, say, published } = workWith(all)
    const answers = await say('esphome.yard-air.sensor.pm25.state', '22.9')
    await work.end()
    expect(answers).toEqual(['again in undefined'])
    expect(published).toEqual([])
  })
})
