/** Mistakes that used to look like answers, and answers that differed from their documentation. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { secondMs } from '../../core/time.ts'
import { siteOf } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { type Customer, type WebhookApi, wanted, webhookApi } from '../support/webhook-api.ts'

const wholeSecondMs = Math.floor(Date.now() / secondMs - 60) * secondMs
const sensor = 'NGR-LOS-IKJ-001'

let api: WebhookApi
let ada: Customer
beforeAll(async () => {
  api = await webhookApi()
  ada = await api.customer()
  await api.register({ id: sensor, sites: [siteOf('Ikeja', 6.6, 3.35)] })
  await api.register({ id: 'NGR-LOS-YAB-001', sites: [siteOf('Yaba', 6.5, 3.38)] })
  await api.register({ id: 'NGR-LOS-YAB-002', sites: [siteOf('Yaba', 6.51, 3.38)] })
  await api.commit([
    { sensor, timeMs: wholeSecondMs },
    { sensor: 'NGR-LOS-YAB-001', timeMs: wholeSecondMs + 157, area: 'Yaba' },
  ])
  await eventually('all are listed', async () => {
    const { total } = (await (await api.get('/v1/sensors')).json()) as { total: number }
    return total === 3
  })
})
afterAll(() => api[Symbol.asyncDispose]())

type Failure = { error: { code: string; message: string; details: Record<string, unknown> } }
const failed = async (answer: Response): Promise<Failure['error'] & { status: number }> => ({
  status: answer.status,
  ...((await answer.json()) as Failure).error,
})

describe('the header Accept', () => {
  test.each([
    ['/v1/sensors', 'application/json; charset=utf-8', 'application/json'],
    ['/v1/sensors', 'application/json;version=1', 'application/json'],
    ['/v1/readings', 'text/csv; charset=utf-8', 'text/csv'],
    ['/v1/readings', 'text/csv;q=0.1, application/geo+json;v=2;q=0.9', 'application/geo+json'],
    ['/v1/readings', 'application/json;q=0, */*;q=0.1', 'text/csv'],
    ['/v1/openapi.json', 'application/json; charset=utf-8', 'application/json'],
    ['/', 'text/html; charset=utf-8', 'text/html; charset=utf-8'],
  ])('at %s as %s is sent as %s', async (path, accept, type) => {
    const answer = await api.get(path, { headers: { accept } })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
  })

  test('may add parameters to problem details too', async () => {
    const accept = 'application/problem+json; charset=utf-8'
    const answer = await api.get('/v1/sensors?limit=0', { headers: { accept } })
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
  })

  test('is overruled by format=', async () => {
    for (const accept of ['text/html', 'application/json']) {
      const answer = await api.get('/v1/readings?format=csv&limit=1', { headers: { accept } })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv'])
    }
  })
})

test('times have milliseconds, whole seconds too, in every format', async () => {
  const time = new Date(wholeSecondMs).toISOString()
  for (const format of ['json', 'csv', 'ndjson', 'geojson']) {
    const text = await (await api.get(`/v1/readings?format=${format}`)).text()
    const times = text.match(/\d{4}-\d{2}-\d{2}T[^",]*/g) ?? []
    expect(times).toContain(time)
    for (const one of times)
      expect([format, one]).toEqual([format, expect.stringMatching(/T.{8}\.\d{3}Z$/)])
  }
  for (const path of [
    '/v1/sensors',
    `/v1/sensors/${sensor}/status`,
    '/v1/areas/Ikeja?interval=hour',
    `/v1/readings/${sensor}/verify?timestamp=${time}`,
    // and both forms name the reading
    `/v1/readings/${sensor}/verify?timestamp=${time.replace('.000', '')}`,
    '/v1/usage',
  ]) {
    const answer = await api.get(path)
    expect([path, answer.status]).toEqual([path, 200])
    const times = (await answer.text()).match(/"\d{4}-\d{2}-\d{2}T[^"]*"/g) ?? []
    expect(times.length).toBeGreaterThan(0)
    for (const one of times)
      expect([path, one]).toEqual([path, expect.stringMatching(/\.\d{3}Z"$/)])
  }
})

test('a constant answer has an ETag, and is 304 to a client that has it, which costs nothing', async () => {
  const { key } = await api.customer('free')
  const headers = { authorization: `Bearer ${key}` }
  const used = async (): Promise<number> =>
    ((await (await api.get('/v1/usage', { headers })).json()) as { used: number }).used
  for (const path of [
    '/',
    '/v1/docs',
    '/v1/openapi.json',
    '/v1/aqi/scale',
    '/v1/network',
    '/.well-known/airproof.json',
    '/proof/airproof-verify.js',
  ]) {
    const first = await api.get(path, { headers })
    const etag = first.headers.get('etag') ?? ''
    expect([path, etag, first.headers.get('cache-control')]).toEqual([
      path,
      expect.stringMatching(/^"[\da-f]{32}-\w+(?:-\w+)?"$/),
      path === '/v1/aqi/scale' ? 'private, no-cache' : 'no-cache',
    ])
    const before = await used()
    const again = await api.get(path, { headers: { ...headers, 'if-none-match': `"x", ${etag}` } })
    expect([path, again.status, await again.text()]).toEqual([path, 304, ''])
    expect(again.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const other = await api.get(path, { headers: { ...headers, 'if-none-match': '"x"' } })
    expect(other.status).toBe(200)
    const paid = path === '/v1/aqi/scale' ? 1 : 0
    await eventually('it was refunded', async () => (await used()) === before + paid)
  }
})

describe('an area that does not exist', () => {
  test.each(['/v1/areas/Nowhere', '/v1/sensors?area=Nowhere', '/v1/stream?area=Nowhere'])(
    'is 404 at %s',
    async (path) => {
      const failure = await failed(await api.get(path))
      expect(failure).toMatchObject({ status: 404, code: 'area_not_found' })
      expect(failure.details).toEqual({ area_name: 'Nowhere' })
    },
  )
  test('is a wrong field of a body', async () => {
    const { status, body } = await ada.say('POST', '', { ...wanted, filters: { area: 'Nowhere' } })
    expect([status, body.error.code]).toEqual([400, 'invalid_body'])
    expect(body.error.details.fields).toMatchObject([{ field: 'filters.area' }])
  })
})

describe('a place', () => {
  test.each([
    ['bbox=3.4,6.5,3.3,6.7', 'bbox', 'west ≤ east'],
    ['bbox=6.4,3.3,6.7,3.5', 'bbox', 'swapped'],
    ['near=3.35,6.6&radius=1000', 'near', 'swapped'],
    ['bbox=170,-10,200,400', 'bbox', 'north'],
    ['bbox=181,6,190,7', 'bbox', 'west'],
  ])('%s is refused, with its reason', async (query, parameter, reason) => {
    const failure = await failed(await api.get(`/v1/sensors?${query}`))
    expect(failure).toMatchObject({ status: 400, code: 'bad_parameter', details: { parameter } })
    expect(failure.message).toContain(reason)
  })

  test.each([
    ['bbox=3.3,6.55,3.4,6.7', 1],
    ['bbox=-10,40,10,50', 0],
    ['bbox=3.3,-90,363,90', 3],
    ['bbox=170,6,363.36,7', 1],
    ['near=6.6,3.35&radius=1000', 1],
    ['near=6.9,3.3&radius=1000', 0],
    ['near=51.5,-0.1&radius=5000', 0],
  ])('%s has %i sensors', async (query, total) => {
    const answer = await api.get(`/v1/sensors?${query}`)
    expect([answer.status, ((await answer.json()) as { total: number }).total]).toEqual([
      200,
      total,
    ])
  })
})

test('CSV has one shape, so a shape with it is refused', async () => {
  for (const query of ['?format=csv&shape=nested', '?shape=flat']) {
    const answer = await api.get(`/v1/readings${query}`, { headers: { accept: 'text/csv' } })
    expect(await failed(answer)).toMatchObject({ status: 400, details: { parameter: 'shape' } })
  }
})

describe('a webhook', () => {
  test('is changed as a merge patch under its own media type', async () => {
    const { id } = await ada.create()
    const type = { 'content-type': 'application/merge-patch+json' }
    const { status, body } = await ada.say('PATCH', `/${id}`, { description: 'x' }, type)
    expect([status, body.webhook?.description]).toEqual([200, 'x'])
    const made = await ada.say('POST', '', wanted, type)
    expect([made.status, made.body.error.code]).toEqual([415, 'unsupported_media_type'])
  })

  test('is not changed by an empty body', async () => {
    const { id, updated_at } = await ada.create()
    const { status, body } = await ada.say('PATCH', `/${id}`)
    expect([status, body.error.details.fields]).toMatchObject([
      400,
      [{ field: 'body', given: null }],
    ])
    expect((await ada.say('PATCH', `/${id}`, {})).status).toBe(200)
    const { body: after } = await ada.say('GET', `/${id}`)
    expect(after.webhook.updated_at).toBe(updated_at)
  })

  test('with an empty Idempotency-Key is refused: its client thinks that it has one', async () => {
    const { status, body } = await ada.say('POST', '', wanted, { 'idempotency-key': '' })
    expect([status, body.error.code]).toEqual([400, 'bad_idempotency_key'])
  })

  test('gets every wrong field named at once, by form and by meaning', async () => {
    const wrong = {
      url: 'x',
      events: [],
      filters: { area: 'Nowhere', sensor_id: 'x', aqi_threshold: 500 },
    }
    const { status, body } = await ada.say('POST', '', wrong)
    expect(status).toBe(400)
    const fields = body.error.details.fields.map(({ field }: { field: string }) => field).toSorted()
    expect(fields).toEqual([
      'events',
      'filters.aqi_threshold',
      'filters.area',
      'filters.sensor_id',
      'url',
    ])
  })

  test('whose filters can never match is refused, created or changed', async () => {
    const filters = { sensor_id: sensor, area: 'Yaba' }
    const { status, body } = await ada.say('POST', '', { ...wanted, filters })
    expect([status, body.error.details.fields]).toMatchObject([
      400,
      [{ field: 'filters.area', expected: expect.stringContaining('Ikeja') }],
    ])
    const { id } = await ada.create({ filters: { sensor_id: sensor, area: 'Ikeja' } })
    const patched = await ada.say('PATCH', `/${id}`, { filters: { area: 'Yaba' } })
    expect([patched.status, patched.body.error.code]).toEqual([400, 'invalid_body'])
    const other = { sensor_id: 'NGR-LOS-YAB-001', area: 'Yaba' }
    expect((await ada.say('PATCH', `/${id}`, { filters: other })).status).toBe(200)
    // a sensor that does not exist yet may be added
    const { body: made } = await ada.say('POST', '', {
      ...wanted,
      filters: { sensor_id: 'NGR-LOS-YAB-999', area: 'Ikeja' },
    })
    expect(made.webhook.armed_now).toBe(true)
  })
})

test('lists with pages have them as a header too', async () => {
  const sensors = await api.get('/v1/sensors?limit=1')
  const { next_cursor: cursor } = (await sensors.json()) as { next_cursor: string }
  expect(sensors.headers.get('link')).toBe(`</v1/sensors?limit=1&cursor=${cursor}>; rel="next"`)
  // cached answers have it too
  expect((await api.get('/v1/sensors?limit=1')).headers.get('link')).toContain(cursor)
  expect((await api.get('/v1/sensors')).headers.get('link')).toBeNull()
  const { id } = await ada.create()
  for (let attempt = 1; attempt <= 2; attempt++) await api.logAttempt(id, { attempt })
  const page = await ada.say('GET', `/${id}/deliveries?limit=1`)
  const next = encodeURIComponent(page.body.next_cursor)
  expect(page.headers.get('link')).toBe(
    `</v1/webhooks/${id}/deliveries?limit=1&cursor=${next}>; rel="next"`,
  )
})

/** The answer to bytes that need not be a request. */
async function say(text: string): Promise<string> {
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const received: Buffer[] = []
  socket.on('data', (bytes: Buffer) => received.push(bytes))
  socket.write(text)
  await once(socket, 'close')
  return Buffer.concat(received).toString()
}

test.each([
  ['not HTTP', 'hello\r\n\r\n', 400, 'bad_request'],
  ['no Host', 'GET /v1/docs HTTP/1.1\r\n\r\n', 400, 'bad_request'],
  ['two Hosts', 'GET /v1/docs HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n', 400, 'bad_request'],
  ['two Hosts of HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n', 400, 'bad_request'],
  [
    'long headers',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    'headers_too_large',
  ],
])('%s gets an error in the envelope, with an id', async (_what, text, status, code) => {
  const received = await say(text)
  const [, id] = /^x-request-id: (\S+)/im.exec(received) ?? []
  expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(JSON.parse(received.slice(received.indexOf('{')))).toMatchObject({
    status: 'error',
    error: { code },
    request_id: id,
  })
})

test('armed_now predicts the next rise: an index that was above and is not far below is not armed', async () => {
  const risen = 'NGR-LOS-IKJ-901'
  await api.register({ id: risen })
  let timeMs = wholeSecondMs - 600 * secondMs
  const push = async (...indices: number[]): Promise<void> => {
    for (const aqi of indices) await api.commit([{ sensor: risen, timeMs: (timeMs += 1_000), aqi }])
  }
  const armed = async (filters: object): Promise<boolean> =>
    (await ada.create({ filters: { aqi_threshold: 100, ...filters } })).armed_now
  await eventually('it is listed', async () => {
    return (await api.get(`/v1/sensors/${risen}/status`)).status === 200
  })
  expect(await armed({ sensor_id: risen })).toBe(true)
  await push(71, 105, 97)
  // at 97 the next rise above 100 is not sent; the one above 105 is
  expect(await armed({ sensor_id: risen })).toBe(false)
  expect(await armed({ sensor_id: 'NGR-LOS-901', aqi_threshold: 105 })).toBe(true)
  expect(await armed({ area: 'Ikeja' })).toBe(false)
  expect(await armed({ area: 'Yaba' })).toBe(true)
  await push(90)
  expect(await armed({ sensor_id: risen })).toBe(false)
  await push(90)
  expect(await armed({ sensor_id: risen })).toBe(true)
})
