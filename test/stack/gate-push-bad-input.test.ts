import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stuckAfter } from '../../core/air/quality.ts'
import { formatIso } from '../../core/iso-time.ts'
import { maxRawBytes, maxRawItems } from '../../schemas/log/raw-reading.ts'
import airrohr from '../fixtures/devices/airrohr.json' with { type: 'json' }
import purpleair from '../fixtures/devices/purpleair.json' with { type: 'json' }
import { eventually } from '../support/eventually.ts'
import { type Caller, type TestPush, testPush, ttnUplink } from '../support/push.ts'

let push: TestPush
let caller: Caller
beforeAll(async () => {
  push = await testPush()
  caller = await push.sensor('NGR-LOS-BAD-001')
})
afterAll(() => push[Symbol.asyncDispose]())

const secondsAgo = (seconds: number): string => formatIso(Date.now() - seconds * 1_000)
const listOf = (values: Readonly<Record<string, string>>) => ({
  esp8266id: '1',
  sensordatavalues: Object.entries(values).map(([value_type, value]) => ({ value_type, value })),
})

describe('bodies that are not a message', () => {
  test.each([
    ['nothing at all', ''],
    ['cut short', '{"esp8266id": "1", "sensordatavalues":[{"value_type":"SDS_P1"'],
    ['not JSON', 'SDS_P1=41.30'],
    ['NaN in place of a value', '{"sensordatavalues":[{"value_type":"SDS_P1","value":NaN}]}'],
  ])('%s is 400 not_json', async (_name, body) => {
    const answer = await push.post('/push/airrohr', body, caller)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'not_json' } } })
  })
  test.each([
    ['an array', []],
    ['no list of values', { esp8266id: '1' }],
    ['a list that is an object', { sensordatavalues: { SDS_P1: '1' } }],
  ])('airRohr: %s is 400 and names the key', async (_name, body) => {
    const answer = await push.post('/push/airrohr', body, caller)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'not_understood' } } })
    expect(answer.body.error?.message).toContain('sensordatavalues')
  })
  test('JSON is JSON, whatever its type says; a compressed or a multipart body is refused', async () => {
    const body = { timestamp: secondsAgo(1), pm25: 1 }
    const form = await push.post('/push/readings', body, caller, {
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(form.status).toBe(202)
    const zipped = await push.post('/push/readings', body, caller, { 'content-encoding': 'gzip' })
    expect(zipped.status).toBe(415)
    const parts = await push.post('/push/readings', body, caller, {
      'content-type': 'multipart/form-data; boundary=a',
    })
    expect(parts.status).toBe(415)
  })
  test('too large is 413, declared or not', async () => {
    const declared = await push.post('/push/readings', ' '.repeat(maxRawBytes + 1), caller)
    expect(declared).toMatchObject({
      status: 413,
      body: { error: { code: 'body_too_large', details: { longest_bytes: maxRawBytes } } },
    })
    // longer than all that it may send at once: no wait would help
    const endless = await open()
    endless.write(`${head('/push/readings')}content-length: 1000000000\r\n\r\n`)
    expect(await firstLine(endless)).toContain('413')
    endless.destroy()
    const socket = await open()
    socket.write(`${head('/push/readings')}transfer-encoding: chunked\r\n\r\n`)
    const chunk = ' '.repeat(16 * 1024)
    for (let sent = 0; sent <= maxRawBytes && socket.writable; sent += chunk.length)
      socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    expect(await firstLine(socket)).toContain('413')
    socket.destroy()
  })
  test('an empty array, and more than 500, are refused whole', async () => {
    const none = await push.post('/push/readings', [], caller)
    expect(none).toMatchObject({ status: 400, body: { error: { code: 'empty' } } })
    const many = Array.from({ length: maxRawItems + 1 }, () => ({ pm25: 1 }))
    const answer = await push.post('/push/readings', many, caller)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'too_many' } } })
  })
})

describe('values and clocks', () => {
  test.each([
    ['too_old', { timestamp: '1970-01-01T00:00:10Z', pm25: 1 }, 'timestamp'],
    ['no_offset', { timestamp: '2026-11-21T07:00:00', pm25: 1 }, 'timestamp'],
    ['schema', { timestamp: 'yesterday', pm25: 1 }, 'timestamp'],
    ['schema', { timestamp: '2026-11-21T07:00:00Z', pm25: '18.5' }, 'pm25'],
    ['schema', 7, 'the'],
    ['before_site', { timestamp: '2016-11-21T07:00:00Z', pm25: 1 }, 'timestamp'],
    ['out_of_range', { timestamp: '2021-11-21T07:00:00Z', temperature: 302.4 }, 'temperature'],
    ['out_of_range', { timestamp: '2021-11-21T07:00:00Z' }, 'pm25'],
  ])('our shape: %s is 400 and names the field', async (code, body, field) => {
    const answer = await push.post('/push/readings', body, caller)
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code, details: { faults: [{ item: 0, code }] } } },
    })
    expect(answer.body.error?.message).toContain(field)
  })
  test('a clock that is an hour ahead is refused with the reason', async () => {
    const ahead = formatIso(Date.now() + 3_600_000)
    const answer = await push.post('/push/readings', { timestamp: ahead, pm25: 1 }, caller)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'future' } } })
  })
  test('a device whose clock says 1970 has none: the time of arrival is used, and the answer says so', async () => {
    const sensor = await push.sensor('NGR-LOS-BAD-002')
    const body = { ...purpleair.messages[0]?.body, DateTime: '1970/01/01T00:00:10z' }
    const answer = await push.post('/push/purpleair', body, sensor)
    expect(answer).toMatchObject({
      status: 202,
      body: {
        time_assigned: true,
        ignored: [{ key: 'time', why: expect.stringContaining('1970-01-01T00:00:10Z') }],
      },
    })
    expect(await push.rawOf(sensor.id)).toMatchObject([{ pm25: 24.55, time_assigned: true }])
  })
  test('a network server whose clock says 1970 is refused', async () => {
    await push.sensor('NGR-LOS-BAD-003', { device: { kind: 'ttn', serial: '70B3D57ED0000001' } })
    const fields = { pm25: 'pm2_5' }
    const application = await push.application({ id: 'clocks', kind: 'ttn', fields })
    const uplink = ttnUplink({ at: '1970-01-01T00:00:10Z' })
    const answer = await push.post('/push/ttn', uplink, application)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'too_old' } } })
  })
  test('units mixed up: what cannot be true is refused where nothing else is left, and named', async () => {
    const sensor = await push.sensor('NGR-LOS-BAD-004')
    const kelvin = await push.post(
      '/push/airrohr',
      listOf({ BME280_temperature: '302.41', BME280_humidity: '710.6' }),
      sensor,
    )
    expect(kelvin).toMatchObject({ status: 400, body: { error: { code: 'out_of_range' } } })
    expect(kelvin.body.error?.message).toContain('temperature 302.41, humidity 710.6')
    // beside a value that can be true it is the pipeline's to drop, flag and keep
    const mixed = listOf({ SDS_P2: '22.85', BME280_temperature: '302.41' })
    expect((await push.post('/push/airrohr', mixed, sensor)).status).toBe(202)
    expect(await push.rawOf(sensor.id)).toMatchObject([{ pm25: 22.85, temperature: 302.41 }])
  })
  test('a valid message without a quantity of ours is 202, stored 0, with the reason', async () => {
    const sensor = await push.sensor('NGR-LOS-BAD-005')
    const counts = airrohr.messages.find(({ name }) => name.includes('PPD42NS'))?.body
    const answer = await push.post('/push/airrohr', counts, sensor)
    expect(answer).toMatchObject({ status: 202, body: { stored: 0, ignored: [{ key: 'P1' }, {}] } })
    expect(await push.rawOf(sensor.id)).toEqual([])
  })
  test('an SDS011 that repeats itself for ever is left out, its box continues', async () => {
    const sensor = await push.sensor('NGR-LOS-BAD-006')
    const body = listOf({ SDS_P1: '41.30', SDS_P2: '22.85', BME280_temperature: '29.41' })
    for (let i = 0; i < stuckAfter; i++) await push.post('/push/airrohr', body, sensor)
    const raws = await push.rawOf(sensor.id)
    expect(raws).toHaveLength(stuckAfter)
    expect(raws.at(-2)).toMatchObject({ pm25: 22.85, temperature: 29.41 })
    expect(raws.at(-1)).not.toHaveProperty('pm25')
    expect(raws.at(-1)).toMatchObject({ temperature: 29.41 })
  })
})

describe('too much and too slow', () => {
  test('more often than a sensor may is 429 with a wait, and harms no other', async () => {
    const sensor = await push.sensor('NGR-LOS-BAD-007', {
      flood: { per_second: 0.001, burst: 5 },
    })
    const other = await push.sensor('NGR-LOS-BAD-008')
    const burst = Array.from({ length: 8 }, () => push.post('/push/readings', { pm25: 1 }, sensor))
    const answers = await Promise.all(burst)
    const flooded = answers.filter(({ status }) => status === 429)
    expect(flooded.length).toBeGreaterThanOrEqual(3)
    expect(Number(flooded[0]?.headers.get('retry-after'))).toBeGreaterThan(100)
    expect(flooded[0]?.body.error?.code).toBe('flood')
    expect((await push.post('/push/readings', { pm25: 1 }, other)).status).toBe(202)
  })
  test('a body of unannounced length counts as long as it is', async () => {
    const flood = { flood: { per_second: 0.001, burst: 20 } }
    const sensor = await push.sensor('NGR-LOS-BAD-009', flood)
    const chunked = async (): Promise<number> => {
      const { status } = await fetch(`${push.url}/push/readings/${sensor.id}/${sensor.secret}`, {
        method: 'POST',
        body: new Blob([`{"pm25":1}${' '.repeat(120_000)}`]).stream(),
        duplex: 'half',
      })
      return status
    }
    expect([await chunked(), await chunked(), await chunked()]).toEqual([202, 202, 429])
  })
  test('an application that posts without end is 429, and harms no sensor', async () => {
    // its bound does not fill again: how fast the machine is does not matter
    await using still = await testPush({ nats: push.nats, clockMs: () => 0 })
    const application = await still.application({
      id: 'endless',
      kind: 'ttn',
      fields: { pm25: 'pm2_5' },
    })
    const other = await still.sensor('NGR-LOS-BAD-010')
    using sockets = new DisposableStack()
    // each announces as much as eight messages
    await eventually('it must wait', async () => {
      const more = await Promise.all(Array.from({ length: 200 }, () => open(still.url)))
      for (const socket of more) {
        sockets.defer(() => socket.destroy())
        socket.write(`${head('/push/ttn', application)}content-length: 131072\r\n\r\n{`)
      }
      return (await still.post('/push/ttn', {}, application)).status === 429
    })
    expect((await still.post('/push/readings', { pm25: 1 }, other)).status).toBe(202)
  })
  test.each([
    ['its body', () => `${head('/push/readings')}content-length: 1000\r\n\r\n{"pm25"`],
    ['its headers', () => 'POST /push/readings HTTP/1.1\r\nhost: a\r\nx-a: '],
  ])(
    'a client that never ends %s receives 408, and its connection is closed',
    async (_name, begun) => {
      await using impatient = await testPush({
        nats: push.nats,
        limits: { requestMs: 200, idleMs: 60_000 },
      })
      const socket = await open(impatient.url)
      const closed = once(socket, 'close')
      socket.write(begun())
      expect(await firstLine(socket)).toContain('408')
      await closed
    },
  )
  test('an address that is too long, and one that is not encoded, are refused', async () => {
    const long = await push.post(`/push/readings/${'a'.repeat(3_000)}/b`, {})
    expect(long).toMatchObject({ status: 414 })
    const broken = await push.post('/push/readings/%ff/b', {})
    expect(broken).toMatchObject({ status: 400, body: { error: { code: 'bad_encoding' } } })
  })
})

const head = (path: string, { id, secret } = caller): string =>
  `POST ${path}/${id}/${secret} HTTP/1.1\r\nhost: a\r\n`

async function open(url = push.url): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

async function firstLine(socket: Socket): Promise<string> {
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return bytes.toString().split('\r\n', 1)[0] ?? ''
}
