/** Answers in each coding, as a client without a decoder of its own receives them. */
import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { minuteMs } from '../../core/time.ts'
import { type TestApi, testApi } from '../support/api.ts'

const sensor = 'NGR-LOS-IKJ-001'
const count = 1_000

let api: TestApi
beforeAll(async () => {
  api = await testApi()
  await api.register({ id: sensor })
  const startMs = Date.now() - count * 5 * minuteMs
  const told = Array.from({ length: count }, (_, i) => ({
    sensor,
    timeMs: startMs + i * 5 * minuteMs,
    pm25: 1_000 + ((i * 7_919) % 5_003),
    pm10: 2_000 + ((i * 7_907) % 6_007),
    co2: 41_000 + ((i * 7_901) % 9_001),
    temperature: 2_500 + ((i * 7_883) % 501),
    humidity: 6_000 + ((i * 7_879) % 2_003),
  }))
  await api.commit(told)
})
afterAll(() => api[Symbol.asyncDispose]())

type Received = { status: number; headers: IncomingHttpHeaders; body: Buffer }

/** Byte for byte: `fetch` would decode it. */
async function ask(
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<Received> {
  const asked = request(`${api.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${api.key}`, ...headers },
  })
  asked.end()
  const [answer] = await once(asked, 'response')
  const parts: Buffer[] = []
  for await (const part of answer) parts.push(part)
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }
}

const decoders = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }
const page = `/v1/readings?limit=${count}`

test.each(['json', 'csv', 'ndjson', 'geojson'])(
  '1,000 readings in %s: a quarter of the bytes at most, and the same ones',
  async (format) => {
    const path = `${page}&format=${format}`
    const plain = await ask(path, {})
    expect(plain.headers['content-encoding']).toBeUndefined()
    for (const [coding, decode] of Object.entries(decoders)) {
      const { headers, body } = await ask(path, { 'accept-encoding': coding })
      expect(headers).toMatchObject({
        'content-encoding': coding,
        'content-length': String(body.length),
        'content-type': plain.headers['content-type'],
        vary: 'Accept, Accept-Encoding, Authorization',
      })
      expect(decode(body).equals(plain.body)).toBe(true)
      // CSV has no names in its rows to save, and half of a row is its hash
      expect(body.length / plain.body.length).toBeLessThan(format === 'csv' ? 0.5 : 0.25)
    }
  },
)

test('what is short, a stream, an error or an answer with a secret is sent as it is', async () => {
  const accept = { 'accept-encoding': 'gzip, br, zstd' }
  const short = await ask('/v1/readings?limit=1', accept)
  expect(short.headers['content-encoding']).toBeUndefined()
  expect(short.headers.vary).toBe('Accept, Accept-Encoding, Authorization')
  expect((await ask('/v1/sensors?limit=0', accept)).headers['content-encoding']).toBeUndefined()
  const stream = await fetch(`${api.url}/v1/stream`, {
    headers: { authorization: `Bearer ${api.key}`, ...accept },
  })
  await stream.body?.cancel()
  expect([stream.status, stream.headers.has('content-encoding')]).toEqual([200, false])
})

test('HEAD has the headers of GET, except for a length that is not known', async () => {
  const accept = { 'accept-encoding': 'zstd' }
  const get = await ask(page, accept)
  const head = await ask(page, accept, 'HEAD')
  expect(head.body).toHaveLength(0)
  for (const name of ['content-encoding', 'content-type', 'vary', 'link', 'etag'])
    expect([name, head.headers[name]]).toEqual([name, get.headers[name]])
  expect(head.headers['content-length']).toBeUndefined()
})

test('a client that refuses every coding is told which there are', async () => {
  for (const path of ['/v1/readings', '/v1/stream', '/v1/openapi.json']) {
    const { status, headers, body } = await ask(path, {
      'accept-encoding': 'identity;q=0, deflate',
    })
    expect([path, status, headers['content-encoding']]).toEqual([path, 406, undefined])
    expect(JSON.parse(body.toString())).toMatchObject({
      error: {
        code: 'not_acceptable',
        details: { available: ['zstd', 'br', 'gzip', 'identity'] },
      },
    })
  }
  const refused = await ask('/v1/stream', { 'accept-encoding': 'gzip, identity;q=0' })
  expect(refused.status).toBe(406)
  const tiny = await ask('/v1/readings?limit=1', { 'accept-encoding': 'br, identity;q=0' })
  expect(tiny.headers['content-encoding']).toBe('br')
  expect(brotliDecompressSync(tiny.body).toString()).toContain('"count":1')
})

test('the tag of a coding is not the tag of another one', async () => {
  const tags = new Map<string, string>()
  for (const coding of ['identity', 'gzip', 'br', 'zstd']) {
    const { headers } = await ask('/v1/openapi.json', { 'accept-encoding': coding })
    tags.set(coding, headers.etag ?? '')
  }
  expect(new Set(tags.values()).size).toBe(4)
  for (const [asked, tag] of tags) {
    for (const coding of tags.keys()) {
      const headers = { 'accept-encoding': coding, 'if-none-match': tag }
      const { status, body } = await ask('/v1/openapi.json', headers)
      expect([asked, coding, status]).toEqual([asked, coding, asked === coding ? 304 : 200])
      expect(body.length === 0).toBe(asked === coding)
    }
  }
})
