/** Tags of answers, and how long clients may keep them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { eventually } from '../support/eventually.ts'
import { type WebhookApi, webhookApi } from '../support/webhook-api.ts'

const sensor = 'NGR-LOS-IKJ-001'
const nowMs = floorTo(Date.now(), minuteMs)
const longAgoMs = nowMs - 3 * dayMs
const period = `start_time=${formatIso(longAgoMs)}&end_time=${formatIso(longAgoMs + hourMs)}`
const past = `/v1/readings?sensor_id=${sensor}&${period}&limit=1000`

let api: WebhookApi
beforeAll(async () => {
  api = await webhookApi()
  await api.register({ id: sensor })
  const told = [longAgoMs, longAgoMs + minuteMs, longAgoMs + 2 * minuteMs, nowMs - minuteMs]
  await api.commit(told.map((timeMs) => ({ sensor, timeMs, pm25: 1_234, pm10: 2_345 })))
})
afterAll(() => api[Symbol.asyncDispose]())

const tagOf = (answer: Response): string => answer.headers.get('etag') ?? ''
const keptOf = (answer: Response): string | null => answer.headers.get('cache-control')
const plain = { 'accept-encoding': 'identity' }
const get = async (path: string, headers: Record<string, string> = {}): Promise<Response> => {
  const answer = await api.get(path, { headers: { ...plain, ...headers } })
  await answer.clone().arrayBuffer()
  return answer
}

test('a client that has the answer gets 304, which does not count, at every address that can repeat', async () => {
  const { key } = await api.customer()
  const authorization = `Bearer ${key}`
  const used = async (): Promise<number> =>
    ((await (await get('/v1/usage', { authorization })).json()) as { used: number }).used
  const made = await fetch(`${api.url}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://example.org/air', events: ['aqi.high'] }),
  })
  const { webhook } = (await made.json()) as { webhook: { id: string } }
  for (const path of [
    '/v1/sensors?limit=5',
    '/v1/readings',
    past,
    '/v1/areas',
    // of a period without a present
    `/v1/areas/Ikeja?${period}`,
    '/v1/aqi/scale?index=eu',
    '/v1/webhooks',
    `/v1/webhooks/${webhook.id}`,
  ]) {
    const first = await get(path, { authorization })
    expect([path, first.status, tagOf(first)]).toEqual([
      path,
      200,
      expect.stringMatching(/^"[\da-f]{32}-json"$/),
    ])
    expect([path, keptOf(first)]).toEqual([path, expect.stringMatching(/^private, /)])
    expect(first.headers.get('vary')).toMatch(/Accept-Encoding, Authorization$/)
    const before = await used()
    const again = await get(path, { authorization, 'if-none-match': `"x", W/${tagOf(first)}` })
    expect([path, again.status, await again.text()]).toEqual([path, 304, ''])
    expect([path, tagOf(again), keptOf(again)]).toEqual([path, tagOf(first), keptOf(first)])
    expect(again.headers.has('ratelimit')).toBe(true)
    const other = await get(path, { authorization, 'if-none-match': '"x"' })
    expect([path, other.status]).toEqual([path, 200])
    await eventually('only the other one counts', async () => (await used()) === before + 1)
  }
})

test('the tag of a representation never matches another one', async () => {
  type Asked = readonly [path: string, headers: Record<string, string>]
  const formats = ['application/json', 'text/csv', 'application/x-ndjson', 'application/geo+json']
  const representations: readonly Asked[] = [
    ...formats.flatMap((accept) =>
      ['identity', 'gzip, identity;q=0', 'br, identity;q=0', 'zstd, identity;q=0'].map(
        (coding): Asked => [past, { accept, 'accept-encoding': coding }],
      ),
    ),
    [`${past}&shape=flat`, {}],
    [`${past}&shape=nested`, {}],
    [`${past}&index=eu`, {}],
    [`${past}&index=eu&format=csv`, {}],
    [`${past}&index=eu&shape=flat`, {}],
  ]
  const tags: string[] = []
  for (const [path, headers] of representations) tags.push(tagOf(await get(path, headers)))
  expect(new Set(tags).size).toBe(representations.length)
  for (const [i, [path, headers]] of representations.entries()) {
    const others = tags.filter((_, k) => k !== i).join(', ')
    expect((await get(path, { ...headers, 'if-none-match': others })).status).toBe(200)
    expect((await get(path, { ...headers, 'if-none-match': tags[i] ?? '' })).status).toBe(304)
  }
})

test('a tag is of the content: it outlives the process, and a late reading changes it', async () => {
  const before = await get(past)
  expect(keptOf(before)).toBe('private, max-age=300')
  await api.stopApi()
  await api.startApi()
  const tag = { 'if-none-match': tagOf(before) }
  expect((await get(past, tag)).status).toBe(304)
  await api.commit([{ sensor, timeMs: longAgoMs + 30 * minuteMs, arrivedMs: Date.now() }])
  const after = await get(past, tag)
  expect(after.status).toBe(200)
  expect(((await after.json()) as { count: number }).count).toBe(4)
})

test('only a page whose period is long over may be kept, for five minutes; nothing is immutable', async () => {
  const page = (query: string): string => `/v1/readings?sensor_id=${sensor}&${query}`
  const end = (ms: number): string => page(`end_time=${formatIso(ms)}`)
  const { next_cursor } = (await (await get(page('limit=2'))).json()) as { next_cursor: string }
  const kept: readonly [path: string, kept: string][] = [
    [page('limit=1'), 'private, no-cache'],
    [end(nowMs - dayMs + hourMs), 'private, no-cache'],
    [end(nowMs - dayMs - hourMs), 'private, max-age=300'],
    // what follows a reading is older than it
    [page(`cursor=${next_cursor}`), 'private, max-age=300'],
    // its counts of sensors are of now
    [`/v1/areas/Ikeja?${period}`, 'private, no-cache'],
    [`/v1/sensors/${sensor}/status`, 'private, no-cache'],
    ['/v1/openapi.json', 'no-cache'],
  ]
  for (const [path, expected] of kept)
    expect([path, keptOf(await get(path))]).toEqual([path, expected])
})

test('what says when it was made, an error, and a page of ours are not kept and have no tag', async () => {
  const { key: internal } = await api.newKey({ internal: true })
  const cases: readonly [path: string, status: number, headers: Record<string, string>][] = [
    [`/v1/readings/${sensor}/verify?timestamp=${formatIso(longAgoMs)}`, 200, {}],
    ['/v1/sensors?limit=0', 400, {}],
    ['/v1/nothing', 404, {}],
  ]
  for (const [path, status, headers] of cases) {
    const answer = await get(path, { ...headers, 'if-none-match': '*' })
    expect([path, answer.status, keptOf(answer), tagOf(answer)]).toEqual([
      path,
      status,
      'no-store',
      '',
    ])
  }
  // undocumented: the dashboard asks like this
  const ours = await eventually('the key is known', async () => {
    const answer = await fetch(`${api.url}/v1/sensors`, {
      headers: { authorization: `Bearer ${internal}`, 'if-none-match': '*' },
    })
    await answer.body?.cancel()
    return answer.status !== 401 && answer
  })
  expect([ours.status, keptOf(ours), tagOf(ours)]).toEqual([200, 'no-store', ''])
})
