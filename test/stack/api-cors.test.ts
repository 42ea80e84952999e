/** The API as pages of other origins see it, by the rules of the Fetch standard. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApi, testApi } from '../support/api.ts'

const perMinute = 120
const origin = 'https://page.example'

let api: TestApi
beforeAll(async () => {
  api = await testApi({ env: { AIRPROOF_OPEN_PROOFS_PER_MINUTE: String(perMinute) } })
  await api.register({ id: 'NGR-LOS-IKJ-001' })
  await api.commit([{ sensor: 'NGR-LOS-IKJ-001', timeMs: Date.now() }])
})
afterAll(() => api[Symbol.asyncDispose]())

const wordsOf = (answer: Response, name: string): readonly string[] =>
  (answer.headers.get(name) ?? '').toLowerCase().split(', ')

/** Every header too: `*` means all of them as long as there are no credentials. */
const mayRead = ({ headers }: Response): boolean =>
  headers.get('access-control-allow-origin') === '*' &&
  headers.get('access-control-expose-headers') === '*' &&
  !headers.has('access-control-allow-credentials')

test('a page of any origin reads answers and errors, and sees what is left of its quota', async () => {
  const { key: revoked } = await api.newKey({ revoked_at: '2026-01-01T00:00:00.000Z' })
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const cases: readonly [path: string, status: number, headers: Record<string, string>][] = [
    ['/v1/sensors', 200, {}],
    ['/v1/readings?format=csv', 200, {}],
    ['/v1/openapi.json', 200, {}],
    ['/.well-known/airproof.json', 200, {}],
    ['/proof/airproof-verify.js', 200, {}],
    ['/proof/NGR-LOS-IKJ-001/2020-01-01T00:00:00Z', 404, {}],
    ['/v1/sensors?limit=0', 400, {}],
    ['/v1/sensors', 401, bearer(revoked)],
    ['/v1/nothing', 404, {}],
    [`/v1/sensors?area=${'x'.repeat(5_000)}`, 414, {}],
  ]
  for (const [path, status, headers] of cases) {
    const answer = await api.get(path, { headers: { origin, ...headers } })
    await answer.body?.cancel()
    expect([path, answer.status, mayRead(answer)]).toEqual([path, status, true])
  }
  const stream = await api.get('/v1/stream', { headers: { origin } })
  await stream.body?.cancel()
  expect(mayRead(stream)).toBe(true)
})

test('a page may read why its bytes were not a request', async () => {
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  const received: Buffer[] = []
  socket.on('data', (bytes: Buffer) => received.push(bytes))
  socket.write(`GET /v1/sensors HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`)
  await once(socket, 'close')
  expect(Buffer.concat(received).toString()).toMatch(
    /^HTTP\/1\.1 431 .*access-control-allow-origin: \*\r\n.*"code":"headers_too_large"/s,
  )
})

test('what is not part of the interface is not shared', async () => {
  for (const path of ['/', '/outside']) {
    const answer = await fetch(`${api.url}${path}`, { headers: { origin } })
    await answer.body?.cancel()
    expect(answer.headers.has('access-control-allow-origin')).toBe(false)
    expect((await fetch(`${api.url}${path}`, { method: 'OPTIONS' })).status).not.toBe(204)
  }
})

const preflight = (path: string, method = 'GET'): Promise<Response> =>
  fetch(`${api.url}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization',
    },
  })

test('a preflight needs no key, costs nothing, and is answered before an error can be', async () => {
  const used = async (): Promise<string | null> => {
    const answer = await api.get('/v1/usage')
    await answer.body?.cancel()
    return answer.headers.get('x-ratelimit-remaining')
  }
  const before = await used()
  const asked = [
    ['/v1/sensors', 'GET'],
    ['/v1/webhooks', 'POST'],
    ['/v1/webhooks/wh_0000000', 'PATCH'],
    ['/v1/nothing', 'GET'],
    ['/proof/NGR-LOS-IKJ-001/2020-01-01T00:00:00Z', 'GET'],
    ['/.well-known/airproof.json', 'GET'],
  ] as const
  for (const [path, method] of asked) {
    const answer = await preflight(path, method)
    expect([path, answer.status, await answer.text()]).toEqual([path, 204, ''])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(wordsOf(answer, 'access-control-allow-methods')).toContain(method.toLowerCase())
    const allowed = wordsOf(answer, 'access-control-allow-headers')
    for (const name of ['authorization', 'if-none-match', 'idempotency-key', 'last-event-id'])
      expect(allowed).toContain(name)
    expect(answer.headers.get('access-control-max-age')).toBe('86400')
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
    expect(answer.headers.has('ratelimit')).toBe(false)
  }
  expect(await used()).toBe(before)
})

test('preflights are bounded by network, and a refused one says when to try again', async () => {
  const answers = await Promise.all(
    Array.from({ length: 2 * perMinute }, () => preflight('/v1/sensors')),
  )
  const refused = answers.find(({ status }) => status !== 204)
  expect(answers.filter(({ status }) => status === 204).length).toBeLessThan(perMinute + 20)
  expect(refused?.status).toBe(429)
  expect(refused && mayRead(refused)).toBe(true)
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
  // keys have a bound of their own
  expect((await api.get('/v1/sensors')).status).toBe(200)
})
