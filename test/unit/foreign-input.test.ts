/**
 * Whatever a device sends, on whatever way: its handling never throws, it ends as a named reason or as
 * a reading that can be believed, and the true message after it is taken as if nothing had been.
 */
import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, inject, it, test } from 'vitest'
import { hardRanges, quantityNames } from '../../core/air/quantities.ts'
import { partitionOf, sensorIdRules } from '../../core/air/sensor-id.ts'
import { valueOf } from '../../core/air/values.ts'
import { parseTopic } from '../../core/device-topics.ts'
import { refusalReasons } from '../../core/state/log-message.ts'
import { futureToleranceMs } from '../../core/time.ts'
import { readAuthRequest } from '../../gate/callout/auth-request.ts'
import { bulkEndpoint } from '../../gate/push/bulk-endpoint.ts'
import { deviceEndpoints } from '../../gate/push/device-endpoints.ts'
import type { Endpoint, PushRequest } from '../../gate/push/endpoint.ts'
import { PushError } from '../../gate/push/push-error.ts'
import { arrivalClock } from '../../gate/push/raw-item.ts'
import { readingsEndpoint } from '../../gate/push/readings-endpoint.ts'
import { parseSpoolLine } from '../../gate/push/spool-line.ts'
import { uplinkEndpoints } from '../../gate/push/uplink-endpoints.ts'
import { createTopicWork } from '../../gate/topics/topic-work.ts'
import { type Believed, judgeMessage } from '../../pipeline/decide/judge.ts'
import { itemsOf } from '../../pipeline/intake/item-bytes.ts'
import type { Application } from '../../schemas/devices/application.ts'
import { parseSensor } from '../../schemas/devices/registered-sensor.ts'
import type { Device } from '../../schemas/devices/sensor.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import type { RawFault } from '../../schemas/log/raw-reading.ts'
import airrohr from '../fixtures/devices/airrohr.json' with { type: 'json' }
import chirpstack from '../fixtures/devices/chirpstack.json' with { type: 'json' }
import purpleair from '../fixtures/devices/purpleair.json' with { type: 'json' }
import sensorCommunity from '../fixtures/devices/sensor-community.json' with { type: 'json' }
import ttn from '../fixtures/devices/ttn.json' with { type: 'json' }
import airgradient from '../fixtures/devices-mqtt/airgradient.json' with { type: 'json' }
import tasmota from '../fixtures/devices-mqtt/tasmota.json' with { type: 'json' }
import zigbee from '../fixtures/devices-mqtt/zigbee2mqtt.json' with { type: 'json' }
import { oddBody, oddValue } from '../support/odd-json.ts'
import { entryOf } from '../support/pipeline.ts'

const runs = { numRuns: inject('drawsAnew') ? 5_000 : 150 }
const nowMs = Date.parse('2026-11-21T07:30:00Z')
const earliestMs = Date.UTC(2015, 0, 1)
const id = 'NGR-LOS-IKJ-001'
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const sensorAs = (device?: Device) => {
  const found = parseSensor(entryOf(id, device && { device }), sensorIdRules())
  if (found === undefined) throw new Error('no sensor')
  return found
}

/** What the pipeline makes of a raw message. */
function judged(body: Uint8Array): readonly (Believed | RawFault)[] {
  const sensor = sensorAs()
  const level = { current: () => newestLevel }
  const known = { partition: partitionOf(id), sensorOf: () => sensor, earliestMs, level }
  const raw = { seq: 1, arrivedMs: nowMs, sensor: id, isAgain: false, data: body }
  return judgeMessage(raw, { ...known, mayBeLate: () => true }).items
}

const isWithin = (value: number | null, { low, high }: { low: number; high: number }): boolean =>
  value === null || (value >= low && value <= high)

/** A reading within every bound, or a reason of the list. */
const isInOrder = (item: Believed | RawFault): boolean =>
  'reason' in item
    ? refusalReasons.includes(item.reason) && item.reason !== 'not_judged' && item.why.length <= 200
    : isWithin(item.timeMs, { low: earliestMs, high: nowMs + futureToleranceMs }) &&
      quantityNames.every((name) => isWithin(valueOf(item.values, name), hardRanges[name]))

const outOfOrder = (body: Uint8Array): readonly unknown[] =>
  judged(body).filter((item) => !isInOrder(item))

const good = JSON.stringify({ timestamp: '2026-11-21T07:00:00Z', pm25: 18.5 })
const isTaken = (body: string): boolean => judged(bytes(body)).every((item) => !('reason' in item))

describe('the pipeline', () => {
  const ours = {
    sensor_id: id,
    timestamp: '2026-11-21T07:00:00Z',
    pm25: 18.5,
    humidity: 70,
    time_assigned: true,
    measurements: { pm10: 30, co2: 455, temperature: 28.4 },
  }
  it('makes a reading or a named reason of every raw message', () => {
    const one = oddBody(ours, ['timestamp'])
    const many = fc.array(one, { maxLength: 5 }).map((all) => `[${all.join(',')}]`)
    const anything = fc.oneof(
      one.map(bytes),
      many.map(bytes),
      fc.uint8Array(),
      fc.tuple(one.map(bytes), fc.nat()).map(([whole, cut]) => whole.subarray(0, cut)),
    )
    fc.assert(
      fc.property(anything, (data) => {
        expect(outOfOrder(data)).toEqual([])
        const [first] = judged(data)
        const isWhole = first !== undefined && 'reason' in first && first.reason === 'not_json'
        // what is refused is kept, item by item
        expect(isWhole || itemsOf(data).length > 0).toBe(true)
        expect(isTaken(good)).toBe(true)
      }),
      runs,
    )
  })
})

describe('a device’s own topics', () => {
  const kinds = [
    { device: { kind: 'airgradient', serial: 'aabbccddeeff' }, more: ['serialno'], ...airgradient },
    {
      device: { kind: 'tasmota', serial: 'tasmota_0A1B2C' },
      more: ['Time', 'TempUnit'],
      ...tasmota,
    },
    {
      device: { kind: 'zigbee2mqtt', serial: 'home-7:0x00158d0001dc126a' },
      more: ['last_seen'],
      ...zigbee,
    },
  ] as const

  /** The gate's work, with a RAW that takes everything. */
  function workOf(device: Device) {
    const sensor = sensorAs(device)
    const published: string[] = []
    const failures: unknown[] = []
    const answers: string[] = []
    const work = createTopicWork({
      devices: {
        find: (kind, serial) =>
          kind === device.kind && serial === device.serial ? sensor : 'unknown_device',
      },
      publish: (_sensor, body) => {
        published.push(body)
        return Promise.resolve('stored')
      },
      count: () => undefined,
      failed: (_loop, error) => void failures.push(error),
      log: pino({ level: 'silent' }),
      nowMs: () => 0,
    })
    const say = (subject: string, text: string, atMs: number): Promise<void> =>
      work.take({
        subject,
        data: bytes(text),
        redelivered: false,
        info: { deliveryCount: 1 },
        timestampNanos: BigInt(atMs) * 1_000_000n,
        ack: () => void answers.push('ack'),
        nak: () => void answers.push('nak'),
      })
    return { work, say, published, failures, answers }
  }

  test.each(kinds)(
    '$device.kind: every body is done with',
    async ({ device, more, topic, body }) => {
      const subject = topic.replaceAll('/', '.')
      const anyBody = oddBody(body, more)
      await fc.assert(
        fc.asyncProperty(fc.array(anyBody, { minLength: 1, maxLength: 3 }), async (odd) => {
          const { work, say, published, failures, answers } = workOf(device)
          for (const text of odd) await say(subject, text, nowMs)
          const atMs = nowMs + 2 * futureToleranceMs
          const last = { ...body, ...('last_seen' in body ? { last_seen: atMs } : {}) }
          await say(subject, JSON.stringify(last), atMs)
          await work.end()
          expect(failures).toEqual([])
          expect(answers).toEqual(Array.from({ length: odd.length + 1 }, () => 'ack'))
          expect(published.flatMap((one) => outOfOrder(bytes(one)))).toEqual([])
          expect(JSON.parse(published.at(-1) ?? '')).toMatchObject({ humidity: expect.any(Number) })
        }),
        runs,
      )
    },
  )

  it('ESPHome: every text on every topic is done with', async () => {
    const text = fc.oneof(oddValue(), fc.string(), fc.constantFrom('nan', '1e5', '22.9', '-0'))
    const name = fc.constantFrom('pm25', 'co2', '__proto__', 'constructor', 'humidity', '\u0000')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, text), { maxLength: 8 }), async (odd) => {
        const { work, say, published, failures } = workOf({ kind: 'esphome', serial: 'yard' })
        for (const [part, value] of odd)
          await say(`esphome.yard.sensor.${part}.state`, value, nowMs)
        for (const value of ['41', '42']) await say('esphome.yard.sensor.pm10.state', value, nowMs)
        await work.end()
        expect(failures).toEqual([])
        expect(published.flatMap((one) => outOfOrder(bytes(one)))).toEqual([])
        expect(JSON.parse(published.at(-1) ?? '')).toMatchObject({ pm10: 41 })
      }),
      runs,
    )
  })

  it('names a device or none for every subject', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (subject) => {
        expect(parseTopic(subject)?.kind ?? 'none').toMatch(/^[a-z0-9]+$/)
      }),
      runs,
    )
  })
})

/** `broken`: it was accepted, and the pipeline would refuse it. @throws what is no PushError */
function outcomeOf(endpoint: Endpoint, request: PushRequest): string {
  try {
    const { messages, answer } = endpoint.prepare(request)
    if (JSON.stringify(answer).length > 200_000) return 'too long an answer'
    if (messages.length === 0) return 'nothing'
    return messages.every(({ body }) => isTaken(body)) ? 'taken' : 'broken'
  } catch (error) {
    if (error instanceof PushError) return String(error.status)
    throw error
  }
}

describe('a push', () => {
  const fields = { pm25: 'pm25', pm10: 'pm2_5', temperature: 'a.b', humidity: '__proto__' }
  const judging = { nowMs: () => nowMs, earliestMs, arrival: arrivalClock(() => nowMs) }
  const sensor = sensorAs()
  const applicationOf = (name: string): Application => ({
    id: name,
    kind: name === 'bulk' ? 'gateway' : name === 'ttn' ? 'ttn' : 'chirpstack',
    fields,
    credential: { hash: '', created_at: '' },
    created_at: '',
  })
  const level = { current: () => newestLevel }
  const ofApplications = { ...judging, applicationOf, flood: () => undefined }
  const endpoints: readonly Endpoint[] = [
    readingsEndpoint({ ...judging, sensorOf: () => sensor }),
    ...deviceEndpoints({ ...judging, sensorOf: () => sensor }),
    ...uplinkEndpoints({ ...ofApplications, devices: { find: () => sensor } }),
    bulkEndpoint({ ...ofApplications, sensorOf: () => sensor, level }),
  ]
  const bodies: Readonly<Record<string, readonly object[]>> = {
    readings: [{ timestamp: '2026-11-21T07:00:00Z', pm25: 18.5, measurements: { co2: 1 } }],
    airrohr: airrohr.messages.map(({ body }) => body),
    'sensor-community': sensorCommunity.messages.map(({ body }) => body),
    purpleair: purpleair.messages.map(({ body }) => body),
    ttn: ttn.messages.map(({ body }) => body),
    chirpstack: chirpstack.messages.map(({ body }) => body),
    bulk: [
      { sensor_id: id, timestamp: '2026-11-21T07:00:00Z', pm25: 18.5 },
      [{ sensor_id: id, timestamp: '2026-11-21T07:00:00Z', pm25: 18.5 }, { sensor_id: 1 }],
    ],
  }
  const keys = ['timestamp', 'SensorId', 'DateTime', 'esp8266id', 'received_at', 'time', 'object']

  test.each(endpoints)('$name: is answered in words, or becomes a raw message', (endpoint) => {
    const body = fc
      .constantFrom(...(bodies[endpoint.name] ?? []))
      .chain((one) => oddBody(one, keys))
    const header = fc.option(fc.constantFrom('1', '5', '__proto__', 'constructor', 'x'.repeat(9e3)))
    fc.assert(
      fc.property(body, header, (text, printed) => {
        let parsed: unknown
        try {
          parsed = endpoint.body.parse(text)
        } catch {
          return
        }
        const request = {
          caller: endpoint.caller === 'application' ? endpoint.name : id,
          body: parsed,
          text,
          header: () => printed ?? undefined,
          query: () => printed ?? undefined,
        }
        // what the pipeline refuses for sure is refused here, where the sender still hears it
        expect(outcomeOf(endpoint, request)).toMatch(/^(nothing|taken|400)$/)
      }),
      runs,
    )
  })
})

describe('what else is read of strangers', () => {
  it('a question of the server about a sign-in is one, or is none', () => {
    const claims = oddBody({
      nats: {
        server_id: { id: 'S' },
        user_nkey: 'U',
        client_info: { id: 1, host: 'h', type: 'mqtt', mqtt_id: 'm' },
        connect_opts: { user: id, pass: 'p', lang: 'node', version: '1' },
      },
    })
    const token = claims.map((text) => `a.${Buffer.from(text).toString('base64url')}.c`)
    fc.assert(
      fc.property(fc.oneof(token, fc.string()), (text) => {
        expect(readAuthRequest(text)?.user ?? 'none').toEqual(expect.any(String))
      }),
      runs,
    )
  })

  it('a line of the spool is one, or is damaged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (line) => {
        expect(parseSpoolLine(line)?.sensor ?? 'none').not.toBe('')
      }),
      runs,
    )
  })
})
