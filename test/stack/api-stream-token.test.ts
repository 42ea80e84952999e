/** A stream as a page of another origin opens it: with an address, and no header of its own. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../../api/app.ts'
import { openHttpServer } from '../../api/open-server.ts'
import { formatIso } from '../../core/iso-time.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import { type TestApi, testApi } from '../support/api.ts'
import { listenTo } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'

const sensor = 'NGR-LOS-IKJ-001'
const burst = 40

let api: TestApi
beforeAll(async () => {
  // as every process of one installation is given the same
  const secret = { AIRPROOF_SECRET: newSecretKey() }
  api = await testApi({ env: { AIRPROOF_BURST_PREMIUM: String(burst), ...secret } })
  await api.register({ id: sensor })
  await api.commit([{ sensor, timeMs: Date.now() - 60_000 }])
})
afterAll(() => api[Symbol.asyncDispose]())

type Token = { readonly token: string; readonly url: string; readonly expires_at: string }

/** A key that the process has learnt of. */
const newKey = async (fields: Parameters<TestApi['newKey']>[0]) => {
  const made = await api.newKey(fields)
  const headers = { authorization: `Bearer ${made.key}` }
  await eventually('the key is known', async () => {
    const { status, body } = await api.get('/v1/areas', { method: 'HEAD', headers })
    await body?.cancel()
    return status === 200
  })
  return made
}
const askToken = (key: string): Promise<Response> =>
  api.get('/v1/stream/token', { method: 'POST', headers: { authorization: `Bearer ${key}` } })
const tokenOf = async (key: string): Promise<Token> =>
  (await askToken(key)).json() as Promise<Token>
const left = async (key: string): Promise<number> => {
  const answer = await api.get('/v1/usage', { headers: { authorization: `Bearer ${key}` } })
  await answer.body?.cancel()
  return Number(answer.headers.get('x-ratelimit-remaining'))
}
const open = (url: string) => listenTo(`${api.url}${url}`, { origin: 'https://page.example' })
/** What a page may read of a refusal. */
const refusal = async (url: string, headers = {}) => {
  const answer = await fetch(`${api.url}${url}`, { headers })
  const { error } = (await answer.json()) as { error: { code: string } }
  return [answer.status, error.code, answer.headers.get('access-control-allow-origin')]
}

test('a token opens a stream without a header, which is charged like any other', async () => {
  const { key } = await newKey({ account: 'account-2' })
  const before = await left(key)
  const { token, url, expires_at } = await tokenOf(key)
  expect(url).toBe(`/v1/stream?token=${token}`)
  expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(50_000)
  expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(60_000)
  expect(await left(key)).toBe(before)
  using stream = await open(`${url}&area=Ikeja`)
  expect(stream.status).toBe(200)
  expect(stream.headers['access-control-allow-origin']).toBe('*')
  await api.commit([{ sensor, timeMs: Date.now() - 30_000 }])
  await eventually('it is sent', () => stream.events.length === 1)
  await eventually('it is charged', async () => (await left(key)) === before - 1)
})

test('a token is good for streams only, alone, and as long as its key', async () => {
  const { key, hash } = await newKey({ account: 'account-3' })
  const { token, url } = await tokenOf(key)
  expect(await refusal(`/v1/sensors?token=${token}`)).toEqual([401, 'missing_key', '*'])
  const bearer = { authorization: `Bearer ${token}` }
  expect(await refusal('/v1/sensors', bearer)).toEqual([401, 'invalid_key', '*'])
  expect(await refusal(url, { authorization: `Bearer ${key}` })).toEqual([
    400,
    'bad_parameter',
    '*',
  ])
  for (const other of ['', key, `${token}A`])
    expect(await refusal(`/v1/stream?token=${other}`)).toEqual([401, 'invalid_token', '*'])
  // another process opens it too
  await api.stopApi()
  await api.startApi()
  using stream = await open(url)
  expect(stream.status).toBe(200)
  const entry = await api.keys.get(hash)
  const revoked = { ...entry?.json<object>(), revoked_at: formatIso(Date.now()) }
  await api.keys.put(hash, JSON.stringify(revoked))
  await eventually('it ends', () => stream.isClosed())
  expect(stream.events.at(-1)).toMatchObject({ event: 'end', data: { code: 'revoked_key' } })
  expect(await refusal(url)).toEqual([401, 'revoked_key', '*'])
})

test('an account makes as many as its requests of a minute, and opens ten streams', async () => {
  const { key } = await newKey({ account: 'account-4' })
  const { url } = await tokenOf(key)
  using streams = new DisposableStack()
  for (let i = 0; i < 10; i++) expect(streams.use(await open(url)).status).toBe(200)
  expect(await refusal(url)).toEqual([429, 'too_many_streams', '*'])
  const made = await eventually('the minute is used up', async () => {
    const answer = await askToken(key)
    await answer.clone().arrayBuffer()
    return answer.status !== 200 && answer
  })
  expect([made.status, made.headers.has('retry-after')]).toEqual([429, true])
})

test('the dashboard’s own key has no tokens', async () => {
  const { key } = await newKey({ internal: true })
  expect((await askToken(key)).status).toBe(404)
})

test('what a process logs of a request has no token in it', async () => {
  const seen: string[] = []
  const app = createApp({
    digest: () => 'same',
    admit: async (_, __, token) => {
      if (token !== undefined) throw new Error('something failed')
      throw new Error('no token')
    },
    observe: (one) => seen.push(JSON.stringify({ ...one, cause: String(one.cause) })),
    routes: [
      {
        path: '/v1/stream',
        params: ['token'],
        types: ['text/event-stream'],
        takesToken: true,
        answer: () => {
          throw new Error('no request is let in')
        },
      },
    ],
  })
  const handle = app.callback()
  await using server = await openHttpServer({
    host: '127.0.0.1',
    port: 0,
    listener: (request, response) => void handle(request, response),
  })
  for (const url of ['/v1/stream', '/v1/nothing', `/v1/${'x'.repeat(5_000)}`])
    await (await fetch(`${server.url}${url}?token=aqs_secret`)).arrayBuffer()
  expect(seen.map((one) => (JSON.parse(one) as { status: number }).status)).toEqual([500, 404, 414])
  expect(seen[0]).toContain('something failed')
  expect(seen.join('')).not.toContain('aqs_')
})
