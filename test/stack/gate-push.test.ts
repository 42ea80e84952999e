import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatIso } from '../../core/iso-time.ts'
import { revokeCredential } from '../../operate/sensor-credentials.ts'
import { buckets } from '../../schemas/subjects.ts'
import airrohr from '../fixtures/devices/airrohr.json' with { type: 'json' }
import chirpstack from '../fixtures/devices/chirpstack.json' with { type: 'json' }
import purpleair from '../fixtures/devices/purpleair.json' with { type: 'json' }
import sensorCommunity from '../fixtures/devices/sensor-community.json' with { type: 'json' }
import { eventually } from '../support/eventually.ts'
import { basic, type Caller, type TestPush, testPush, ttnUplink } from '../support/push.ts'

let push: TestPush
beforeAll(async () => {
  push = await testPush()
})
afterAll(() => push[Symbol.asyncDispose]())

const [airrohrBody, communityBody, purpleairBody] = [airrohr, sensorCommunity, purpleair].map(
  ({ messages }) => messages[0]?.body,
)
const fields = { pm25: 'pm2_5', pm10: 'pm10', co2: 'co2', temperature: 'temperature' }
/** The network server's time as a test needs it: fixtures hold one of another day. */
const chirpAt = (at: string) => ({ ...chirpstack.messages[0]?.body, time: at })
const minuteAgo = (minutes = 1): string => formatIso(Date.now() - minutes * 60_000)
const anIso = expect.stringMatching(/^20\d\d-\d\d-\d\dT.*Z$/)

describe('each format, as the firmware sends it', () => {
  test('airRohr: P2 is PM2.5, and the time of arrival is used instead of a clock', async () => {
    const caller = await push.sensor('NGR-LOS-AIR-001', {
      device: { kind: 'airrohr', serial: '1234567' },
    })
    const beforeMs = Date.now()
    const answer = await push.post('/push/airrohr', airrohrBody, caller, {
      'user-agent': 'NRZ-2024-135/1234567/aabbccddeeff',
      'x-sensor': 'esp8266-1234567',
    })
    expect(answer).toMatchObject({ status: 202, body: { stored: 1, time_assigned: true } })
    const [raw] = await push.rawOf(caller.id)
    expect(raw).toEqual({
      timestamp: answer.body['timestamp'],
      pm25: 22.85,
      pm10: 41.3,
      temperature: 29.41,
      humidity: 71.06,
      pressure: 1008.73,
      time_assigned: true,
    })
    const timeMs = Date.parse(String(answer.body['timestamp']))
    expect(timeMs).toBeGreaterThanOrEqual(beforeMs)
    expect(timeMs).toBeLessThanOrEqual(Date.now())
  })

  test('sensor.community: the two requests of a cycle are two readings with times of their own', async () => {
    const caller = await push.sensor('NGR-LOS-AIR-002')
    const climate = sensorCommunity.messages.find(({ pin }) => pin === '11')?.body
    const answers = await Promise.all([
      push.post('/push/sensor-community', communityBody, caller, { 'x-pin': '1' }),
      push.post('/push/sensor-community', climate, caller, { 'x-pin': '11' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([202, 202])
    const times = answers.map(({ body }) => body['timestamp'])
    expect(new Set(times).size).toBe(2)
    expect((await push.rawOf(caller.id)).toSorted(byFields)).toEqual([
      {
        timestamp: anIso,
        temperature: 29.41,
        humidity: 71.06,
        pressure: 1008.73,
        time_assigned: true,
      },
      { timestamp: anIso, pm25: 22.85, pm10: 41.3, time_assigned: true },
    ])
  })

  test('PurpleAir: °F become °C, its clock counts', async () => {
    const caller = await push.sensor('NGR-LOS-AIR-003', {
      device: { kind: 'purpleair', serial: 'A0:B1:02:03:C4:D5' },
    })
    const at = minuteAgo()
    const body = { ...purpleairBody, DateTime: at.replaceAll('-', '/').replace('Z', 'z') }
    const answer = await push.post('/push/purpleair', body, caller)
    expect(answer).toMatchObject({ status: 202, body: { stored: 1, timestamp: at } })
    expect(await push.rawOf(caller.id)).toEqual([
      {
        timestamp: at,
        pm25: 24.55,
        pm10: 31.25,
        temperature: 31.11,
        humidity: 52,
        pressure: 1009.4,
      },
    ])
  })

  test('The Things Stack: the sensor is the one with the device EUI; a copy is the same reading', async () => {
    const { id } = await push.sensor('NGR-LOS-AIR-004', {
      device: { kind: 'ttn', serial: '70B3D57ED0000001' },
    })
    const application = await push.application({ id: 'roofs', kind: 'ttn', fields })
    const at = minuteAgo()
    const body = ttnUplink({ at })
    const headers = { 'x-downlink-apikey': 'NNSXS.SECRET-OF-TTN' }
    const answers = [
      await push.post('/push/ttn', body, application, headers),
      await push.post('/push/ttn', body, application, headers),
    ]
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 202,
        body: { stored: 1, sensor_id: id, timestamp: at },
      })
    const raw = {
      timestamp: at,
      pm25: 19.2,
      pm10: 27,
      co2: 455,
      temperature: 29.1,
    }
    expect(await push.rawOf(id)).toEqual([raw, raw])
    expect(push.logged()).not.toContain('NNSXS')
  })

  test('ChirpStack: event=up is a reading, any other event is accepted and ignored', async () => {
    const { id } = await push.sensor('NGR-LOS-AIR-005', {
      device: { kind: 'chirpstack', serial: '70B3D57ED0000001' },
    })
    const table = { pm25: 'pm25', pm10: 'pm10' }
    const application = await push.application({ id: 'poles', kind: 'chirpstack', fields: table })
    const at = minuteAgo()
    const up = await push.post('/push/chirpstack?event=up', chirpAt(at), application)
    const join = await push.post('/push/chirpstack?event=join', { deviceInfo: {} }, application)
    expect(up).toMatchObject({ status: 202, body: { stored: 1 } })
    expect(join).toMatchObject({ status: 202, body: { stored: 0 } })
    expect(await push.rawOf(id)).toEqual([{ timestamp: at, pm25: 19.2, pm10: 27 }])
  })

  test('our own shape: one reading, nested or flat, rounded as the pipeline does', async () => {
    const caller = await push.sensor('NGR-LOS-AIR-006')
    const at = minuteAgo()
    const reading = { sensor_id: caller.id, timestamp: at, pm25: 1.005, pm10: null, x: 1 }
    const answer = await push.post('/push/readings', reading, caller)
    expect(answer).toMatchObject({ status: 202, body: { stored: 1, timestamp: at } })
    await push.post('/push/readings', { timestamp: at, measurements: { co2: 455 } }, caller)
    expect(await push.rawOf(caller.id)).toEqual([
      { timestamp: at, pm25: 1.01 },
      { timestamp: at, co2: 455 },
    ])
  })

  test('an array is one raw message, and its bad items are named and do not affect the others', async () => {
    const caller = await push.sensor('NGR-LOS-AIR-007')
    const [first, second] = [minuteAgo(2), minuteAgo(1)]
    const answer = await push.post(
      '/push/readings',
      [
        { timestamp: first, pm25: 1 },
        { timestamp: second.replace('Z', ''), pm25: 2 },
        { timestamp: second, pm25: '3' },
        { pm25: 4 },
        { timestamp: second, pm25: 5 },
      ],
      caller,
    )
    expect(answer).toMatchObject({
      status: 202,
      body: {
        stored: 2,
        refused: [
          { item: 1, field: 'timestamp', code: 'no_offset' },
          { item: 2, field: 'pm25', code: 'schema' },
          { item: 3, code: 'schema', why: expect.stringContaining('timestamp') },
        ],
      },
    })
    expect(await push.rawOf(caller.id)).toEqual([
      [
        { timestamp: first, pm25: 1 },
        { timestamp: second, pm25: 5 },
      ],
    ])
  })

  test('a single reading without a time gets the arrival', async () => {
    const caller = await push.sensor('NGR-LOS-AIR-008')
    const answer = await push.post('/push/readings', { pm25: 7 }, caller)
    expect(answer).toMatchObject({ status: 202, body: { stored: 1 } })
    expect(await push.rawOf(caller.id)).toEqual([
      { timestamp: anIso, pm25: 7, time_assigned: true },
    ])
  })
})

const byFields = (a: unknown, b: unknown): number =>
  Object.keys(b as object).length - Object.keys(a as object).length ||
  (JSON.stringify(a).includes('pm25') ? -1 : 1)

describe('the credential', () => {
  test('is taken as Basic, as Bearer, in the path and in the query', async () => {
    const caller = await push.sensor('NGR-LOS-KEY-001')
    const { id, secret } = caller
    const body = { pm25: 7 }
    const answers = [
      await push.post('/push/readings', body, caller),
      await push.post('/push/readings', body, undefined, {
        authorization: `Bearer ${id}:${secret}`,
      }),
      await push.post(`/push/readings/${id}/${secret}`, body),
      await push.post(`/push/readings/${id}/${secret}/`, body),
      await push.post(`/push/readings?id=${id}&key=${secret}`, body),
    ]
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202])
    expect(push.logged()).not.toContain(secret)
  })

  test('wrong, absent, malformed or another’s is 401 with what to do', async () => {
    const [own, other] = [
      await push.sensor('NGR-LOS-KEY-002'),
      await push.sensor('NGR-LOS-KEY-003'),
    ]
    const application = await push.application({ id: 'sheds', kind: 'ttn', fields })
    const headers: readonly (readonly [string, Caller | undefined, Record<string, string>])[] = [
      ['missing_credential', undefined, {}],
      ['malformed_credential', undefined, { authorization: 'Digest nonsense' }],
      ['malformed_credential', undefined, { authorization: `Bearer ${own.secret}` }],
      ['mistyped_credential', { ...own, secret: `${own.secret.slice(0, -1)}!` }, {}],
      ['wrong_credential', { id: own.id, secret: other.secret }, {}],
      ['unknown_credential', { id: 'NGR-LOS-KEY-999', secret: own.secret }, {}],
      ['unknown_credential', application, {}],
    ]
    for (const [code, caller, more] of headers) {
      const answer = await push.post('/push/readings', { pm25: 7 }, caller, more)
      expect(answer).toMatchObject({ status: 401, body: { error: { code } } })
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm="airproof"/)
    }
    const asApplication = await push.post('/push/ttn', ttnUplink({ at: minuteAgo() }), own)
    expect(asApplication).toMatchObject({ status: 401 })
    expect(await push.rawOf(own.id)).toEqual([])
    expect(push.logged()).not.toContain(own.secret)
  })

  test('stops working when it is revoked, and its contacts are noted', async () => {
    const noted: unknown[] = []
    await using watched = await testPush({
      nats: push.nats,
      seen: {
        contacted: (id, heard) => void noted.push([id, heard]),
        refused: (id, reason) => void noted.push([id, reason]),
      },
    })
    const caller = await watched.sensor('NGR-LOS-KEY-010')
    const agent = { 'user-agent': 'NRZ-2024-135/1234567/aabbccddeeff' }
    expect((await watched.post('/push/airrohr', airrohrBody, caller, agent)).status).toBe(202)
    await revokeCredential(await new Kvm(push.nc).open(buckets.credentials), caller.id, Date.now())
    await eventually('it is revoked', async () => {
      const { status, body } = await watched.post('/push/airrohr', airrohrBody, caller)
      return status === 401 && body.error?.code === 'revoked_credential'
    })
    const address = expect.stringContaining('127.0.0.1')
    expect(noted).toContainEqual([
      caller.id,
      { protocol: 'http', address, client: agent['user-agent'] },
    ])
    expect(noted).toContainEqual([caller.id, 'revoked'])
  })

  test('leaves no note of ids that are not a sensor’s, whatever secret is sent', async () => {
    const noted: string[] = []
    const note = (id: string): void => void noted.push(id)
    await using watched = await testPush({
      nats: push.nats,
      seen: { contacted: note, refused: note },
    })
    const caller = await watched.sensor('NGR-LOS-KEY-011')
    for (const id of ['NGR-LOS-KEY-998', 'invented', 'no > key', caller.id]) {
      const answer = await watched.post('/push/readings', { pm25: 7 }, { id, secret: 'nonsense' })
      expect(answer.status).toBe(401)
    }
    expect(noted).toEqual([caller.id])
  })

  test('is valid only for its own sensor', async () => {
    const caller = await push.sensor('NGR-LOS-KEY-004', {
      device: { kind: 'airrohr', serial: '7654321' },
    })
    const foreign = await push.post(
      '/push/readings',
      { sensor_id: 'NGR-LOS-KEY-003', pm25: 7 },
      caller,
    )
    expect(foreign.body.error).toMatchObject({ code: 'sensor_mismatch' })
    const device = await push.post('/push/airrohr', airrohrBody, caller)
    expect(device).toMatchObject({ status: 400, body: { error: { code: 'wrong_device' } } })
    const headed = await push.post('/push/sensor-community', communityBody, caller, {
      'x-sensor': 'esp8266-1234567',
      'x-pin': '1',
    })
    expect(headed).toMatchObject({ status: 400, body: { error: { code: 'wrong_device' } } })
    expect(await push.rawOf(caller.id)).toEqual([])
  })

  test('of an application does not reach devices that are not its own, or of another kind', async () => {
    await push.sensor('NGR-LOS-KEY-005', { device: { kind: 'ttn', serial: 'AAAA000000000001' } })
    const prefix = { devices: ['BBBB'] }
    const application = await push.application({ id: 'trees', kind: 'ttn', fields, ...prefix })
    const bodyOf = (devEui: string) => ttnUplink({ at: minuteAgo(), devEui })
    const foreign = await push.post('/push/ttn', bodyOf('AAAA000000000001'), application)
    expect(foreign).toMatchObject({ status: 400, body: { error: { code: 'foreign_device' } } })
    const unknown = await push.post('/push/ttn', bodyOf('BBBB000000000002'), application)
    expect(unknown).toMatchObject({ status: 400, body: { error: { code: 'unknown_device' } } })
    const twins = ['NGR-LOS-KEY-006', 'NGR-LOS-KEY-007']
    for (const id of twins)
      await push.sensor(id, { device: { kind: 'ttn', serial: 'BBBB000000000003' } })
    const twin = await push.post('/push/ttn', bodyOf('BBBB000000000003'), application)
    expect(twin).toMatchObject({ status: 400, body: { error: { code: 'ambiguous_device' } } })
    const id = 'NGR-LOS-KEY-008'
    await push.sensor(id, { device: { kind: 'ttn', serial: 'bbbb000000000004' } })
    const small = await push.post('/push/ttn', bodyOf('BBBB000000000004'), application)
    expect(small).toMatchObject({ status: 202, body: { stored: 1, sensor_id: id } })
    const other = await push.post('/push/chirpstack', chirpstack.messages[0]?.body, application)
    expect(other).toMatchObject({ status: 403, body: { error: { code: 'wrong_kind' } } })
  })
})

test('GET /push explains, and never a secret is in its answers', async () => {
  const answer = await fetch(`${push.url}/push`)
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(await answer.text()).toContain('POST /push/airrohr')
  expect((await fetch(`${push.url}/push`, { method: 'HEAD' })).status).toBe(200)
  expect((await fetch(`${push.url}/push/airrohr`)).headers.get('allow')).toBe('POST')
  expect((await fetch(`${push.url}/push/airrohr`)).status).toBe(405)
  expect((await fetch(`${push.url}/elsewhere`)).status).toBe(404)
  expect(basic({ id: 'a', secret: 'b' })).toBe('Basic YTpi')
})

test('pushes are counted by endpoint and outcome', async () => {
  const caller = await push.sensor('NGR-LOS-CNT-001')
  const count = (outcome: string) =>
    push.metric('airproof_push_requests_total', `endpoint="purpleair",outcome="${outcome}"`)
  const [stored, refused] = [await count('stored'), await count('not_understood')]
  await push.post('/push/purpleair', { ...purpleairBody, DateTime: undefined }, caller)
  await push.post('/push/purpleair', {}, caller)
  expect(await count('stored')).toBe(stored + 1)
  expect(await count('not_understood')).toBe(refused + 1)
})
