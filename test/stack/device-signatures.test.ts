/** Signed readings from a device to the store, over NATS and over HTTP, at format level 3. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCity } from '../../cli/simulate/run-city.ts'
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { type DeviceKey, readPublicKey } from '../../runtime/device-key.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import {
  createSigner,
  type Signer,
  signedBody,
  type Texts,
  textOf,
} from '../support/device-signer.ts'
import { eventually } from '../support/eventually.ts'
import { entryOf, type TestPipeline, testPipeline } from '../support/pipeline.ts'
import { testPush } from '../support/push.ts'
import { missing, startExample } from '../support/sensor-examples.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const texts = (pm25: string): Texts => [
  ['battery', '3.710'],
  ['pm25', pm25],
  ['temperature', '2.84e1'],
]
const signing = (id: string, { algorithm, publicKey }: DeviceKey, until?: string): SensorEntry =>
  entryOf(id, {
    keys: [
      {
        algorithm,
        public_key: publicKey,
        from: '2026-01-01T00:00:00Z',
        ...(until === undefined ? {} : { until }),
      },
    ],
    signature: 'required',
  })

const startMs = Date.now() - 60_000

/** What the store keeps of a reading, once it is there. */
const kept = (pipeline: TestPipeline, sensor: string, timeMs: number) =>
  eventually('the store has it', () => pipeline.store.signature(sensor as SensorId, timeMs))

test('what a device signed is stored with its signature; what it did not sign is refused, and kept', async () => {
  await using pipeline = await testPipeline()
  const signer = createSigner('p256')
  const id = 'NGR-LOS-SIG-001'
  await pipeline.register(signing(id, signer))
  const at = (i: number) => startMs + i * 1_000
  const body = (i: number, by: Pick<Signer, 'sign'> = signer) =>
    signedBody(by, { sensor: id, timeMs: at(i), values: texts('45.30') })
  const thief = createSigner('p256')
  await pipeline.publish(id, body(0))
  await pipeline.publish(id, `[${body(1)},${body(2, thief)},${body(3)}]`)
  await pipeline.publish(id, { timestamp: new Date(at(4)).toISOString(), pm25: 45.3 })
  // the same reading again: an ECDSA signature is another each time, and it is still a repeat
  await pipeline.publish(id, body(0))

  const { accepted, refused, duplicates } = await pipeline.outcomeOf(id)
  expect(accepted.map(({ timeMs }) => timeMs)).toEqual([at(0), at(1), at(3)])
  expect(duplicates).toBe(1)
  expect(refused.map(({ reason, why }) => [reason, why.slice(0, 30)])).toEqual([
    ['bad_signature', 'no key of the sensor signed th'],
    ['bad_signature', 'it has no sig, and the registr'],
  ])
  const { data } = await pipeline.kept(refused[0]!, partitionOf(id))
  expect(new TextDecoder().decode(data)).toBe(body(2, { sign: () => sigIn(data) }))
  for (const reading of accepted) {
    const { timeMs, device } = reading
    expect(device).toMatch(/^0x[0-9a-f]{64}$/)
    expect(await kept(pipeline, id, timeMs)).toEqual(reading.signed)
    expect(reading.signed?.text).toBe(textOf(id, timeMs, texts('45.30')))
  }
})

const sigIn = (data: Uint8Array): Buffer => {
  const { sig } = JSON.parse(new TextDecoder().decode(data)) as { sig: string }
  return Buffer.from(sig, 'base64')
}

test('over HTTP a signed reading is passed on with its numbers as they were sent, others beside it', async () => {
  await using pipeline = await testPipeline()
  await using push = await testPush({ nats: pipeline.nats })
  const signer = createSigner('ed25519')
  const id = 'NGR-LOS-SIG-002'
  const { keys } = signing(id, signer)
  const caller = await push.sensor(id, { ...(keys && { keys }) })
  const signed = (i: number) =>
    signedBody(signer, { sensor: id, timeMs: startMs + i, values: texts('45.30') })
  const plain = `{"timestamp":"${new Date(startMs + 2).toISOString()}","pm25":18.555}`
  expect(await push.post('/push/readings', signed(0), caller)).toMatchObject({
    status: 202,
    body: { stored: 1, timestamp: formatIso(startMs) },
  })
  expect(await push.post('/push/readings', `[${signed(1)},${plain}]`, caller)).toMatchObject({
    status: 202,
    body: { stored: 2 },
  })
  const untimed = signed(3).replace(/"timestamp":"[^"]*",/, '')
  expect(await push.post('/push/readings', untimed, caller)).toMatchObject({
    status: 400,
    body: { error: { code: 'schema' } },
  })
  const { accepted, refused } = await pipeline.outcomeOf(id)
  expect(refused).toEqual([])
  expect(
    accepted.map(({ values, signed: by }) => [values[0], by?.text.includes('pm25=45.30')]),
  ).toEqual([
    [4530, true],
    [4530, true],
    [1856, undefined],
  ])
})

test('a registry that is rewritten afterwards changes nothing of what was accepted: key and text are its own', async () => {
  await using pipeline = await testPipeline()
  const [signer, other] = [createSigner('ed25519'), createSigner('ed25519')]
  const id = 'NGR-LOS-SIG-003'
  await pipeline.register(signing(id, signer))
  const body = signedBody(signer, { sensor: id, timeMs: startMs, values: texts('7') })
  await pipeline.publish(id, body)
  const { accepted } = await pipeline.outcomeOf(id)
  expect(accepted[0]?.signed?.publicKey).toBe(signer.publicKey)

  await pipeline.register(signing(id, other))
  const late = signedBody(signer, { sensor: id, timeMs: startMs + 1, values: texts('7') })
  await eventually('the pipeline has the rewritten entry', async () => {
    await pipeline.publish(id, late)
    const { refused } = await pipeline.outcomeOf(id)
    return refused.some(({ reason }) => reason === 'bad_signature')
  })
  // also after it was read again from the log
  await pipeline.stop()
  await pipeline.start()
  expect(await kept(pipeline, id, startMs)).toMatchObject({ publicKey: signer.publicKey })
})

test('five sensors of the demonstration sign, with the same keys after a restart, and all of them is accepted', async () => {
  using folder = temporaryFolder()
  await using pipeline = await testPipeline()
  const run = () =>
    runCity(pipeline.nc, {
      sensors: 8,
      seed: 1,
      firstNumber: 1,
      network: { name: 'Lagos', idPrefix: 'NGR-LOS', box: undefined },
      // a sensor's six hours before it began are one message
      cadenceMs: 60_000,
      isDemonstration: true,
      hasFaults: false,
      keysFolder: folder.path,
      forMs: 50,
      nowMs: Date.now,
      note: () => undefined,
      stop: new AbortController().signal,
    })
  expect(await run()).toMatchObject({ registered: 8 })
  const keys = (): string[] =>
    readdirSync(folder.path).map((name) => readFileSync(join(folder.path, name), 'utf8'))
  const first = keys()
  expect(first).toHaveLength(5)
  expect(await run()).toMatchObject({ registered: 0 })
  expect(keys()).toEqual(first)

  const readings = (await pipeline.judged()).flatMap((message) => message.readings)
  const refused = (await pipeline.judged()).flatMap((message) => message.refused)
  expect(refused).toEqual([])
  const signing = new Map(readings.map(({ sensor, signed }) => [sensor, signed?.algorithm]))
  expect(signing.size).toBe(8)
  expect([...signing.values()].filter((algorithm) => algorithm === 'ed25519')).toHaveLength(3)
  expect([...signing.values()].filter((algorithm) => algorithm === 'p256')).toHaveLength(2)
  expect(readings.filter(({ signed }) => signed).length).toBeGreaterThanOrEqual(5 * 360)
})

test.skipIf(missing('python/signed.py') !== undefined)(
  `the example in Python makes a key, and its signed reading is accepted${missing('python/signed.py') ?? ''}`,
  async () => {
    using folder = temporaryFolder()
    await using pipeline = await testPipeline()
    await using push = await testPush({ nats: pipeline.nats })
    const id = 'NGR-LOS-SIG-004'
    const keyFile = { KEY_FILE: join(folder.path, 'sensor.key') }
    await using first = await startExample('python/signed.py', keyFile, ['--public-key'])
    expect(await first.exited).toMatchObject({ code: 0 })
    const key = readPublicKey(first.printed[0] ?? '')
    if (typeof key === 'string') throw new Error(`${key}: ${first.printed.join(' ')}`)
    const { keys } = signing(id, key)
    const { secret } = await push.sensor(id, { ...(keys && { keys }), signature: 'required' })

    const settings = { ...keyFile, SENSOR_ID: id, SENSOR_KEY: secret, PUSH_URL: push.url }
    await using second = await startExample('python/signed.py', settings)
    expect({ ...(await second.exited), printed: second.printed }).toMatchObject({ code: 0 })
    const { accepted, refused } = await pipeline.outcomeOf(id)
    expect(refused).toEqual([])
    expect(accepted).toMatchObject([
      { values: [4530, 7820, null, 2840, null], signed: { algorithm: 'ed25519' } },
    ])
  },
)
