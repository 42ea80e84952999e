/** The examples for vendors, unchanged, against a city whose gate checks credentials. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import airgradient from '../fixtures/devices-mqtt/airgradient.json' with { type: 'json' }
import fahrenheit from '../fixtures/devices-mqtt/tasmota-fahrenheit.json' with { type: 'json' }
import { eventually } from '../support/eventually.ts'
import { type Guarded, guardedNats, type TestGate } from '../support/gate.ts'
import { type GuardedCity, guardedCity } from '../support/guarded-city.ts'
import { type Example, examples, missing, startExample } from '../support/sensor-examples.ts'

let nats: Guarded
let gate: TestGate
let city: GuardedCity
beforeAll(async () => {
  nats = await guardedNats()
  gate = await nats.startGate()
  city = await guardedCity(nats)
})
afterAll(async () => {
  await city[Symbol.asyncDispose]()
  await gate[Symbol.asyncDispose]()
  await nats[Symbol.asyncDispose]()
})

type Answer = { readonly readings: readonly { readonly pm25: number; readonly pm10: number }[] }
const readingsOf = async (id: string): Promise<Answer['readings']> => {
  const { readings } = (await city.get(`/v1/readings?sensor_id=${id}&limit=100`)) as Answer
  return readings
}

/** Registers the sensor, and returns the settings of an example. */
async function settingsOf(id: string): Promise<Record<string, string>> {
  const secret = await nats.addSensor(id, { receipts: true })
  const { hostname, port } = new URL(nats.mqttUrl)
  return {
    SENSOR_ID: id,
    SENSOR_KEY: secret,
    MQTT_URL: nats.mqttUrl,
    MQTT_HOST: hostname,
    MQTT_PORT: port,
    NATS_URL: nats.url,
    INTERVAL: '1',
  }
}

const names = Object.keys(examples) as Example[]
const idOf = (example: Example): string => `NGR-LOS-EXA-${100 + names.indexOf(example)}`

test.each(names)('whether %s can run here is known', (example) => {
  expect(missing(example) ?? example).toMatch(/./)
})

const receipt = /^{"timestamp":"[-\d]+T[:\d]+Z","stored":1,"refused":0}$/
const once = [
  { example: 'mosquitto/publish.sh', values: { pm25: 45.3, pm10: 78.2 }, printed: [] },
  {
    example: 'mosquitto/receipt.sh',
    values: { pm25: 46.1, pm10: 79 },
    printed: [expect.stringMatching(receipt)],
  },
] as const
describe.each(once)('$example', ({ example, values, printed }) => {
  test.skipIf(missing(example) !== undefined)(
    `publishes a reading that is in /v1 a moment later${missing(example) ?? ''}`,
    async () => {
      const id = idOf(example)
      await using run = await startExample(example, await settingsOf(id))
      expect({ ...(await run.exited), printed: run.printed }).toEqual({
        code: 0,
        signal: null,
        printed,
      })
      const [reading] = await eventually('it is in /v1', async () => {
        const readings = await readingsOf(id)
        return readings.length > 0 && readings
      })
      expect(reading).toMatchObject(values)
    },
  )
})

const lasting = ['python/sensor.py', 'node/sensor-mqtt.mjs', 'node/sensor-nats.mjs'] as const
describe.each(lasting)('%s', (example) => {
  test.skipIf(missing(example) !== undefined)(
    `publishes, and keeps nothing that is stored${missing(example) ?? ''}`,
    async () => {
      const id = idOf(example)
      await using run = await startExample(example, await settingsOf(id))
      await eventually(`two were stored: ${run.printed.join('\n')}`, () => {
        if (!run.isAlive()) throw new Error(`it ended: ${run.printed.join('\n')}`)
        return run.printed.filter((line) => /^stored .*, 0 kept$/.test(line)).length >= 2
      })
      const readings = await eventually('they are in /v1', async () => {
        const found = await readingsOf(id)
        return found.length >= 2 && found
      })
      for (const { pm10 } of readings) expect(pm10).toBe(78.2)
    },
  )
})

test('firmware with topics of its own appears in /v1 too, in our units', async () => {
  const printed = [
    { device: { kind: 'airgradient', serial: 'aabbccddeeff' }, ...airgradient },
    { device: { kind: 'tasmota', serial: 'tasmota_0A1B2D' }, ...fahrenheit },
  ] as const
  for (const [i, { device, topic, body, fields }] of printed.entries()) {
    const id = `NGR-LOS-EXD-${100 + i}`
    const password = await nats.addSensor(id, { device })
    const options = { protocolVersion: 4, clientId: id, username: id, password } as const
    const client = await connectAsync(nats.mqttUrl, options)
    await client.publishAsync(topic, JSON.stringify(body))
    const [reading] = await eventually(`${id} is in /v1`, async () => {
      const readings = await readingsOf(id)
      return readings.length > 0 && readings
    })
    expect(reading).toMatchObject(fields)
    await client.endAsync()
  }
})

test('with another sensor’s credential they are not let in, and keep trying', async () => {
  const { SENSOR_KEY: another = '' } = await settingsOf('NGR-LOS-EXB-001')
  const refused = (protocol: string): Promise<number> =>
    gate.metric('airproof_gate_sign_ins_total', `protocol="${protocol}",verdict="wrong"`)
  const here = lasting.filter((example) => missing(example) === undefined)
  await using runs = new AsyncDisposableStack()
  const ids = await Promise.all(
    here.map(async (example) => {
      const id = `NGR-LOS-EXC-${100 + names.indexOf(example)}`
      const settings = { ...(await settingsOf(id)), SENSOR_KEY: another }
      runs.use(await startExample(example, settings))
      return id
    }),
  )
  const mqttHere = here.filter((example) => !example.includes('nats')).length
  await eventually('each tried again', async () => {
    const [overNats, overMqtt] = [await refused('nats'), await refused('mqtt')]
    return overNats >= 2 && overMqtt >= mqttHere * 2
  })
  for (const id of ids) expect(await readingsOf(id)).toEqual([])
})

const text = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

test('the page for vendors links each example, and states which are run here', () => {
  const page = text('docs/sensors.md')
  const rows = page.split('\n').filter((line) => line.startsWith('|') && line.includes('examples/'))
  const linked = (isRun: boolean): readonly string[] =>
    rows
      .filter((row) => row.trimEnd().endsWith('| yes |') === isRun)
      .flatMap((row) => [...row.matchAll(/examples\/sensors\/([^)]+)/g)].map(([, path]) => path))
      .map(String)
  expect(linked(true).toSorted()).toEqual(names.toSorted())
  for (const path of linked(false)) expect(text(`examples/sensors/${path}`)).not.toBe('')
  expect(linked(false)).toHaveLength(3)
})

describe('the examples that cannot be run here', () => {
  test.each(['micropython/main.py', 'arduino/airproof_sensor/airproof_sensor.ino'])(
    '%s names the topics that the others name, and signs in as the sensor',
    (path) => {
      const source = text(`examples/sensors/${path}`)
      expect(source).toContain('"air/raw/"')
      expect(source).toContain('"air/ack/"')
      expect(source).toMatch(/MQTTClient\(SENSOR, HOST.*user=SENSOR|connect\(SENSOR, SENSOR, KEY\)/)
    },
  )
})
