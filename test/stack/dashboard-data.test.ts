/** The API behind `/data/v1`, as the pages of strangers and of accounts see it. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { Kvm } from '@nats-io/kv'
import { expect, test, vi } from 'vitest'
import { changeAccount, openAccountBook } from '../../operate/account-book.ts'
import { listenOn } from '../../runtime/http/listen.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import type { KeyRecord } from '../../schemas/people/account.ts'
import { buckets } from '../../schemas/subjects.ts'
import { testApi } from '../support/api.ts'
import { testDashboard } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { accountOf, goodPassword, newPerson } from '../support/people.ts'
import { testSmtp } from '../support/smtp.ts'

const json = { headers: { accept: 'application/json' } }

test('what the map shows is open to anyone within a limit; the rest needs its account', async () => {
  await using api = await testApi()
  await api.register({ id: 'NGR-LOS-IKJ-001' })
  await api.commit([{ sensor: 'NGR-LOS-IKJ-001', timeMs: Date.now() }])
  await using dashboard = await testDashboard({
    nats: api.nats,
    env: { AIRPROOF_API_URL: api.url },
  })
  const stranger = dashboard.browser()
  const first = await eventually('the API knows our key', async () => {
    const answer = await stranger.get('/data/v1/sensors?limit=5', json)
    return answer.status === 200 && answer
  })
  expect(JSON.parse(first.text)).toMatchObject({ status: 'success', count: 1 })
  for (const path of [
    'readings?limit=1',
    'areas',
    'areas/Ikeja',
    'aqi/scale',
    'sensors/NGR-LOS-IKJ-001/status',
  ])
    expect([path, (await stranger.get(`/data/v1/${path}`, json)).status]).toEqual([path, 200])
  for (const path of ['usage', 'webhooks', 'webhooks/wh_0000000'])
    expect([path, (await stranger.get(`/data/v1/${path}`, json)).status]).toEqual([path, 401])
  expect((await stranger.get('/data/v1/openapi.json', json)).status).toBe(404)
  // for our own pages only: a page of another origin reads nothing here
  for (const path of ['/data/v1/sensors', '/data/v1/usage']) {
    const { headers } = await stranger.get(path, { headers: { origin: 'https://page.example' } })
    expect([path, headers.has('access-control-allow-origin')]).toEqual([path, false])
  }
  // the client's own key and account mean nothing on the way
  const claimed = {
    accept: 'application/json',
    authorization: 'Bearer nonsense',
    'airproof-account': 'acc_x',
  }
  expect((await stranger.get('/data/v1/areas', { headers: claimed })).status).toBe(200)
  // as the API packed it: fetch unpacks it, and tells how it came
  const scale = await stranger.get('/data/v1/aqi/scale', json)
  expect(scale.headers.get('content-encoding')).toMatch(/^(?:br|gzip|zstd)$/)
  const plain = { accept: 'application/json', 'accept-encoding': 'identity' }
  const unpacked = await stranger.get('/data/v1/aqi/scale', { headers: plain })
  expect(unpacked.headers.get('content-encoding')).toBeNull()
  expect(unpacked.text).toBe(scale.text)
})

test('200 readers of one address open the city at once', async () => {
  await using api = await testApi()
  await using dashboard = await testDashboard({
    nats: api.nats,
    env: { AIRPROOF_API_URL: api.url },
  })
  const stranger = dashboard.browser()
  await eventually(
    'the API knows our key',
    async () => (await stranger.get('/data/v1/aqi/scale', json)).status === 200,
  )
  const wave = async (count: number) =>
    Promise.all(Array.from({ length: count }, () => stranger.get('/data/v1/aqi/scale', json)))
  const seen = new Set<number>()
  // five each
  for (let left = 5; left > 0; left--) for (const { status } of await wave(200)) seen.add(status)
  expect(seen).toEqual(new Set([200]))
})

test('far more than 200 readers of one address are told when to come back', async () => {
  await using nats = await testNats()
  await using dashboard = await testDashboard({
    nats,
    env: { AIRPROOF_API_URL: 'http://127.0.0.1:9' },
  })
  const stranger = dashboard.browser()
  // for its clock all of them come at once, on a busy machine too; a whole ms: sums of it are exact
  using _clock = vi.spyOn(performance, 'now').mockReturnValue(Math.ceil(performance.now()))
  const ask = () => stranger.get('/data/v1/aqi/scale', json)
  const answers = await Promise.all(Array.from({ length: 1_201 }, ask))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(1)
  const [last] = refused
  expect(Number(last?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(JSON.parse(last?.text ?? '').error.code).toBe('too_many_requests')
})

test('webhooks are made, shown and deleted for the signed-in account, and no other', async () => {
  // as every process of one installation is given the same
  const secret = { AIRPROOF_SECRET: newSecretKey() }
  await using api = await testApi({ env: { AIRPROOF_ALLOW_INSECURE_WEBHOOKS: 'true', ...secret } })
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({
    nats: api.nats,
    env: { AIRPROOF_API_URL: api.url, SMTP_URL: smtp.url, ...secret },
  })
  const book = await openAccountBook(dashboard.nc)
  const ada = await newPerson(dashboard, smtp, { email: 'ada@example.org' })
  const bola = await newPerson(dashboard, smtp, { email: 'bola@example.org' })
  for (const email of ['ada@example.org', 'bola@example.org'])
    await changeAccount(book, email, { tier: 'premium' })
  const wanted = { url: 'http://127.0.0.1:9/hook', events: ['aqi.high'] }
  const made = await eventually('the API knows our key and her tier', async () => {
    const answer = await ada.ask('POST', '/data/v1/webhooks', wanted)
    return answer.status === 201 && answer
  })
  const { webhook } = JSON.parse(made.text) as { webhook: { id: string } }
  const listed = JSON.parse((await ada.get('/data/v1/webhooks', json)).text) as {
    webhooks: object[]
  }
  expect(listed.webhooks).toMatchObject([{ id: webhook.id }])
  expect((await bola.get(`/data/v1/webhooks/${webhook.id}`, json)).status).toBe(404)
  expect((await bola.ask('DELETE', `/data/v1/webhooks/${webhook.id}`)).status).toBe(404)
  const unasked = await ada.get(`/data/v1/webhooks/${webhook.id}`, { method: 'DELETE', ...json })
  expect(unasked.status).toBe(403)
  expect((await ada.ask('PATCH', `/data/v1/webhooks/${webhook.id}`, { events: [] })).status).toBe(
    400,
  )
  const usage = await ada.get('/data/v1/usage', json)
  expect(usage.status).toBe(200)
  expect((await ada.submit('/account/delete', { password: 'three plain words' })).status).toBe(200)
  const webhooks = await new Kvm(dashboard.nc).open(buckets.webhooks)
  expect((await webhooks.get(webhook.id))?.operation).toBe('DEL')
})

test('the key of the process is its own: internal, for a day, and gone when it stops', async () => {
  await using dashboard = await testDashboard()
  const keys = await new Kvm(dashboard.nc).open(buckets.keys)
  const records = async (): Promise<KeyRecord[]> => {
    const internalKeys: KeyRecord[] = []
    for await (const key of await keys.keys()) {
      const entry = await keys.get(key)
      if (entry?.operation === 'PUT') internalKeys.push(entry.json<KeyRecord>())
    }
    return internalKeys
  }
  const [own, ...others] = await records()
  expect(others).toEqual([])
  expect(own).toMatchObject({ internal: true, account: 'dashboard' })
  expect(Date.parse(own?.expires_at ?? '') - Date.parse(own?.created_at ?? '')).toBe(86_400_000)
  await dashboard.stop()
  expect(await records()).toEqual([])
  // of a process that was killed long ago, and of one that may still live
  const ofOthers = (name: string, expires_at: string) =>
    keys.put(name, JSON.stringify({ ...own, id: name, expires_at }))
  await ofOthers('killed', '2020-01-01T00:00:00Z')
  await ofOthers('alive', own?.expires_at ?? '')
  await dashboard.start()
  expect((await records()).map(({ id }) => id)).toEqual(['alive', expect.stringMatching(/^key_/)])
})

test('a session of one process is known at the next at once, and ended at both', async () => {
  await using smtp = await testSmtp()
  const env = { SMTP_URL: smtp.url, AIRPROOF_SECRET: newSecretKey() }
  await using first = await testDashboard({ env })
  await using second = await testDashboard({ env, nats: first.nats })
  const here = await newPerson(first, smtp, { email: 'ada@example.org' })
  const there = second.browser()
  there.cookies.set('__Host-session', here.cookies.get('__Host-session') ?? '')
  expect(await accountOf(there)).toMatchObject({ email: 'ada@example.org' })
  await here.submit('/account/password', {
    current: goodPassword,
    password: 'four other plain words',
  })
  await eventually('it is ended there too', async () => (await accountOf(there)) === undefined)
  expect(await accountOf(here)).toMatchObject({ email: 'ada@example.org' })
})

test('with the API away its data are 503, and the pages stay', async () => {
  await using dashboard = await testDashboard({ env: { AIRPROOF_API_URL: 'http://127.0.0.1:9' } })
  const browser = dashboard.browser()
  const answer = await browser.get('/data/v1/sensors', json)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
  expect((await browser.get('/')).status).toBe(200)
})

test('passing answers on makes Node warn of no leak', async () => {
  const warnings: string[] = []
  const onWarning = ({ message }: Error): void => void warnings.push(message)
  process.on('warning', onWarning)
  const api = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (request.url === '/v1/stream') response.write(': ping\n\n')
    else response.end('{}')
  })
  const url = await listenOn(api, { host: '127.0.0.1', port: 0, setting: 'test' })
  await using dashboard = await testDashboard({ env: { AIRPROOF_API_URL: url } })
  for (const path of ['areas', 'stream']) {
    const gone = new AbortController()
    const answer = await fetch(`${dashboard.url}/data/v1/${path}`, { signal: gone.signal })
    await answer.body?.getReader().read()
    gone.abort()
  }
  expect(warnings).toEqual([])
  process.off('warning', onWarning)
  api.closeAllConnections()
  await new Promise((resolve) => api.close(resolve))
})

test('a stream passes through unbuffered and packed, ends with its reader; a network has 250 at most', async () => {
  const open = new Set<ServerResponse>()
  const requests: IncomingHttpHeaders[] = []
  // a piece ends where it may
  const written = 'id: 7\nevent: reading\ndata: {"sensor_id":"A","aqi":41}\n\nid: 9\nda'
  const api = createServer((request, response) => {
    requests.push(request.headers)
    response.writeHead(200, { 'content-type': 'text/event-stream', 'set-cookie': 'ours=1' })
    response.write(written)
    open.add(response)
    response.once('close', () => open.delete(response))
  })
  const url = await listenOn(api, { host: '127.0.0.1', port: 0, setting: 'test' })
  await using dashboard = await testDashboard({ env: { AIRPROOF_API_URL: url } })
  const reader = async () => {
    const gone = new AbortController()
    const answer = await fetch(`${dashboard.url}/data/v1/stream?area=Ikeja`, {
      signal: gone.signal,
      headers: { 'last-event-id': '6', cookie: 'a=b', authorization: 'Bearer mine' },
    })
    return { answer, gone }
  }
  const readers = await Promise.all(Array.from({ length: 250 }, reader))
  const [first] = readers
  expect(first?.answer.headers.get('content-type')).toBe('text/event-stream')
  expect(first?.answer.headers.get('set-cookie')).toBeNull()
  expect(first?.answer.headers.get('content-encoding')).toBe('gzip')
  const { value } = (await first?.answer.body?.getReader().read()) ?? {}
  expect(new TextDecoder().decode(value)).toBe(written)
  expect(requests[0]).toMatchObject({
    'last-event-id': '6',
    authorization: expect.stringMatching(/^Bearer aqk_/) as string,
  })
  expect(requests[0]).not.toHaveProperty('cookie')
  const another = await reader()
  expect([another.answer.status, another.answer.headers.get('retry-after')]).toEqual([429, '30'])
  await another.answer.body?.cancel()
  first?.gone.abort()
  await eventually('the API’s end is closed too', () => open.size === 249)
  const again = await eventually('there is room for another', async () => {
    const one = await reader()
    if (one.answer.status === 200) return one
    await one.answer.body?.cancel()
    return undefined
  })
  for (const { gone } of [...readers, again]) gone.abort()
  await eventually('all are closed', () => open.size === 0)
  api.closeAllConnections()
  await new Promise((resolve) => api.close(resolve))
})

test('a visitor who is gone ends the request to the API, which receives only the network', async () => {
  const apiRequest = Promise.withResolvers<IncomingHttpHeaders>()
  const closed = Promise.withResolvers<boolean>()
  const api = createServer((request, response) => {
    apiRequest.resolve(request.headers)
    response.once('close', () => closed.resolve(response.writableFinished))
  })
  const url = await listenOn(api, { host: '127.0.0.1', port: 0, setting: 'test' })
  await using dashboard = await testDashboard({
    env: { AIRPROOF_API_URL: url, AIRPROOF_DASHBOARD_PROXIES: '1' },
  })
  const gone = new AbortController()
  const answer = fetch(`${dashboard.url}/data/v1/areas/Ikeja`, {
    signal: gone.signal,
    headers: { 'x-forwarded-for': '2001:db8:1:2:3::4', 'airproof-network': 'invented' },
  })
  expect(await apiRequest.promise).toMatchObject({ 'airproof-network': '2001:db8:1:2' })
  gone.abort()
  await expect(answer).rejects.toThrow('aborted')
  expect(await closed.promise).toBe(false)
  api.closeAllConnections()
  await new Promise((resolve) => api.close(resolve))
})
