import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApi, testApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'

let api: TestApi
beforeAll(async () => {
  api = await testApi()
  await api.register({ id: 'NGR-LOS-IKJ-001' })
  await api.commit([{ sensor: 'NGR-LOS-IKJ-001', timeMs: Date.now() }])
  await eventually('it is listed', async () => {
    const { total } = (await (await api.get('/v1/sensors')).json()) as { total: number }
    return total === 1
  })
})
afterAll(() => api[Symbol.asyncDispose]())

type Failure = {
  status: string
  error: { code: string; message: string; details: Record<string, unknown> }
  request_id: string
}

const wrongValues: readonly [path: string, parameter: string][] = [
  ['/v1/sensors?limit=0', 'limit'],
  ['/v1/sensors?limit=1001', 'limit'],
  ['/v1/sensors?limit=1e2', 'limit'],
  ['/v1/sensors?limit=', 'limit'],
  ['/v1/sensors?limit=-1', 'limit'],
  ['/v1/sensors?status=asleep', 'status'],
  ['/v1/sensors?area=', 'area'],
  ['/v1/sensors?bbox=1,2,3', 'bbox'],
  ['/v1/sensors?bbox=3,7,4,6', 'bbox'],
  ['/v1/sensors?bbox=3,NaN,4,6', 'bbox'],
  ['/v1/sensors?near=91,3&radius=5', 'near'],
  ['/v1/sensors?near=6,3&radius=0', 'radius'],
  ['/v1/sensors?cursor=zzz', 'cursor'],
  ['/v1/readings?cursor=czpOR1ItTE9TLUlLSi0wMDE', 'cursor'],
  ['/v1/readings?limit=ten', 'limit'],
  ['/v1/readings?start_time=yesterday', 'start_time'],
  ['/v1/readings?start_time=2025-02-29T00:00:00Z', 'start_time'],
  ['/v1/readings?end_time=9999-01-01T00:00:00Z', 'end_time'],
  ['/v1/readings?start_time=2026-01-02T00:00:00Z&end_time=2026-01-01T00:00:00Z', 'end_time'],
  ['/v1/readings?start_time=2026-01-02T00:00:00Z&end_time=2026-01-02T00:00:00Z', 'end_time'],
  ['/v1/readings?shape=round', 'shape'],
  ['/v1/readings?format=xml', 'format'],
  ['/v1/readings?sensor_id=', 'sensor_id'],
  ['/v1/areas/Ikeja?interval=minute', 'interval'],
  ['/v1/areas/Ikeja?start_time=2020-01-01T00:00:00Z', 'start_time'],
  ['/v1/areas/Ikeja?start_time=2190-01-01T00:00:00Z', 'start_time'],
  ['/v1/areas/Ikeja?interval=hour&start_time=2025-01-01&end_time=2025-06-01', 'interval'],
]
test.each(wrongValues)('%s is a 400 that names %s and what is valid', async (path, name) => {
  const answer = await api.get(path)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toEqual({
    status: 'error',
    error: {
      code: 'bad_parameter',
      message: expect.stringContaining(name),
      details: { parameter: name, given: expect.any(String), expected: expect.any(String) },
    },
    request_id: answer.headers.get('x-request-id'),
  })
})

const missing: readonly [path: string, parameter: string][] = [
  ['/v1/sensors?near=6,3', 'radius'],
  ['/v1/sensors?radius=5', 'near'],
  ['/v1/readings/NGR-LOS-IKJ-001/verify', 'timestamp'],
  ['/v1/readings/NGR-LOS-IKJ-001/proof', 'timestamp'],
]
test.each(missing)('%s lacks %s, and the error names it', async (path, parameter) => {
  const { error } = (await (await api.get(path)).json()) as Failure
  expect(error).toMatchObject({ code: 'bad_parameter', details: { parameter, given: null } })
  expect(error.message).toMatch(`${parameter} is missing: give `)
})

const otherFailures: readonly [what: string, path: string, status: number, code: string][] = [
  ['an unknown parameter', '/v1/sensors?colour=red', 400, 'unknown_parameter'],
  ['a repeated parameter', '/v1/sensors?limit=1&limit=2', 400, 'repeated_parameter'],
  ['a query that is not UTF-8', '/v1/sensors?area=%FF%FE', 400, 'bad_encoding'],
  ['a torn escape', '/v1/sensors?area=%E', 400, 'bad_encoding'],
  ['a path that is not UTF-8', '/v1/areas/%C3%28', 400, 'bad_encoding'],
  ['a long address', `/v1/sensors?area=${'x'.repeat(5_000)}`, 414, 'url_too_long'],
  ['an unknown address', '/v1/nothing', 404, 'not_found'],
  ['an address outside', '/outside', 404, 'not_found'],
  ['an unknown area', '/v1/areas/%E2%98%83', 404, 'area_not_found'],
  ['sensors of an unknown area', '/v1/sensors?area=Nowhere', 404, 'area_not_found'],
  ['a stream of an unknown area', '/v1/stream?area=Nowhere', 404, 'area_not_found'],
  ['a malformed sensor id', '/v1/sensors/%00/status', 404, 'sensor_not_found'],
]
test.each(otherFailures)('%s gets an error in the envelope', async (_what, path, status, code) => {
  const answer = await api.get(path)
  expect(answer.status).toBe(status)
  const failure = (await answer.json()) as Failure
  expect(failure).toMatchObject({ status: 'error', error: { code } })
  expect(failure.request_id).toMatch(/^[0-9a-f-]{36}$/)
})

test('other methods are 405 with Allow, on every kind of address', async () => {
  for (const path of ['/v1/sensors', '/v1/readings', '/v1/areas/Ikeja', '/v1/docs']) {
    for (const method of ['POST', 'DELETE', 'PUT']) {
      const answer = await api.get(path, { method })
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toBe('GET, HEAD')
    }
  }
})

test('HEAD has the headers of GET, without a body', async () => {
  for (const path of ['/v1/sensors', '/v1/readings', '/v1/areas/Ikeja', '/v1/nothing']) {
    const get = await api.get(path)
    const head = await api.get(path, { method: 'HEAD' })
    const length = (await get.arrayBuffer()).byteLength
    expect(head.status).toBe(get.status)
    expect(head.headers.get('content-length')).toBe(String(length))
    expect((await head.arrayBuffer()).byteLength).toBe(0)
  }
})

test('a media type that is not available is 406, and problem details are sent on request', async () => {
  const wanted = await api.get('/v1/sensors', { headers: { accept: 'image/png' } })
  expect(wanted.status).toBe(406)
  expect(await wanted.json()).toMatchObject({
    error: { code: 'not_acceptable', details: { available: ['application/json'] } },
  })
  const problem = await api.get('/v1/sensors?limit=0', {
    headers: { accept: 'application/problem+json' },
  })
  expect(problem.headers.get('content-type')).toBe('application/problem+json')
  expect(await problem.json()).toMatchObject({
    title: 'Bad Request',
    status: 400,
    code: 'bad_parameter',
    details: { parameter: 'limit' },
  })
  const fine = await api.get('/v1/sensors', { headers: { accept: 'application/problem+json' } })
  expect(fine.status).toBe(200)
})

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** What is received until the other side closes. */
async function say(text: string | Buffer): Promise<string> {
  const socket = await open()
  const received: Buffer[] = []
  socket.on('data', (bytes: Buffer) => received.push(bytes))
  socket.write(text)
  await once(socket, 'close')
  return Buffer.concat(received).toString()
}

const head = (line: string, more = ''): string => `${line}\r\nHost: a\r\n${more}\r\n`

test('bytes that are not HTTP get an error in the envelope, and the connection is closed', async () => {
  expect(await say('hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*"code":"bad_request"/s)
  expect(await say(head(`GET /v1/sensors?area=${'x'.repeat(20_000)} HTTP/1.1`))).toMatch(
    /^HTTP\/1\.1 414 .*"code":"url_too_long"/s,
  )
  expect(await say(head('GET /v1/sensors HTTP/1.1', `X-Long: ${'x'.repeat(20_000)}\r\n`))).toMatch(
    /^HTTP\/1\.1 431 .*"code":"headers_too_large"/s,
  )
})

test('an unknown Expect header changes nothing', async () => {
  const more = 'Expect: a miracle\r\nConnection: close\r\n'
  const received = await say(head('GET /v1/sensors HTTP/1.1', more))
  expect(received).toMatch(/^HTTP\/1\.1 401 .*x-request-id: .*"code":"missing_key"/s)
})

test('raw bytes in an address are 400, not a crash', async () => {
  const line = Buffer.concat([
    Buffer.from('GET /v1/areas/'),
    Buffer.from([0xff, 0xe2, 0x98]),
    Buffer.from(' HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
  ])
  expect(await say(line)).toMatch(/^HTTP\/1\.1 400 /)
})

test('clients that disconnect in the middle leave the process as it was', async () => {
  const request = head(
    'GET /v1/readings?limit=1000 HTTP/1.1',
    `Authorization: Bearer ${api.key}\r\n`,
  )
  for (let i = 0; i < 50; i++) {
    const socket = await open()
    socket.write(i % 2 === 0 ? request : request.slice(0, 40))
    socket.destroy()
  }
  expect((await api.get('/v1/readings')).status).toBe(200)
  expect((await fetch(`${api.adminUrl}/health`)).status).toBe(200)
})

/** What they answer without a time or a year, or for a time at which nothing was measured. */
const aboutOneTime: Readonly<Record<string, number>> = {
  '/v1/sensors/{sensor_id}/report': 400,
  '/v1/areas/{area_name}/report': 400,
  '/v1/readings/{sensor_id}/verify': 400,
  '/v1/readings/{sensor_id}/proof': 400,
  '/proof/{sensor_id}/{timestamp}': 404,
}

test('the document names every address with its parameters, and the page needs no other host', async () => {
  const answer = await fetch(`${api.url}/v1/openapi.json`)
  const document = (await answer.json()) as {
    openapi: string
    paths: Record<string, { get: { parameters?: { name: string; in: string }[] } }>
  }
  expect(document.openapi).toBe('3.1.0')
  const free = Object.entries(document.paths).filter(
    ([path, methods]) => 'get' in methods && !path.startsWith('/v1/webhooks'),
  )
  for (const [path, { get }] of free) {
    const address = path
      .replace('{sensor_id}', 'NGR-LOS-IKJ-001')
      .replace('{area_name}', 'Ikeja')
      .replace('{timestamp}', '2020-01-01T00:00:00Z')
    const status = aboutOneTime[path] ?? 200
    expect([path, (await api.get(address)).status]).toEqual([path, status])
    const failure = (await (await api.get(`${address}?no_such=1`)).json()) as Failure
    const names = (get.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name)
    expect(failure.error.details['known']).toEqual(expect.arrayContaining(names))
    expect(failure.error.details['known']).toHaveLength(names.length)
  }
  const page = await (await fetch(`${api.url}/v1/docs`)).text()
  expect(page).toContain('/v1/sensors/{sensor_id}/status')
  expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
})

test('the first address leads to the documentation', async () => {
  const json = await fetch(`${api.url}/`)
  expect(await json.json()).toEqual({
    status: 'success',
    docs: '/v1/docs',
    openapi: '/v1/openapi.json',
  })
  const page = await fetch(`${api.url}/`, { headers: { accept: 'text/html,*/*;q=0.8' } })
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await page.text()).toContain('href="/v1/docs"')
})

test('the page lists the values of a parameter', async () => {
  const page = await (await fetch(`${api.url}/v1/docs`)).text()
  expect(page).toContain('<code>online</code>, <code>offline</code>')
  expect(page).toContain('<code>1</code> to <code>1000</code>; <code>100</code> unless given')
  expect(page).toContain('for example <code>2026-01-31T08:00:00Z</code>')
})

test('the scale has the table of every index', async () => {
  const { categories } = (await (await api.get('/v1/aqi/scale')).json()) as {
    categories: { category: string; pm25: { low: number; high: number } }[]
  }
  expect(categories).toHaveLength(6)
  expect(categories[2]).toMatchObject({
    category: 'unhealthy_sensitive',
    aqi: { low: 101, high: 150 },
    pm25: { low: 35.5, high: 55.4, unit: 'µg/m³' },
    pm10: { low: 155, high: 254 },
  })
})

test('another index is another answer at the same address, and an unknown one is refused', async () => {
  type Scale = { name: string; highest: number; categories: { category: string }[] }
  const european = (await (await api.get('/v1/aqi/scale?index=eu')).json()) as Scale
  expect(european).toMatchObject({ name: 'European Air Quality Index', highest: 6 })
  expect(european.categories.at(-1)).toMatchObject({
    category: 'extremely_poor',
    aqi: { low: 6, high: 6 },
    pm25: { low: 140.01, high: null, unit: 'µg/m³' },
  })
  const ours = await api.get('/v1/aqi/scale?index=us')
  expect(await ours.text()).toBe(await (await api.get('/v1/aqi/scale')).text())
  for (const path of ['aqi/scale', 'readings', 'sensors', 'areas/Lagos']) {
    expect((await api.get(`/v1/${path}?index=eu`)).status).toBe(200)
    const refused = await api.get(`/v1/${path}?index=mars`)
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({ error: expect.objectContaining({ code: 'bad_parameter' }) }),
    ])
  }
})
