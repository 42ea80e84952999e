/** What counts for whom: behind proxies, in a site of IPv6, and with a cookie that is nobody's. */
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { formatIso } from '../../core/iso-time.ts'
import { testApi } from '../support/api.ts'
import { testDashboard } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import { signedIn } from '../support/signed-in.ts'

const link = `/proof/NGR-LOS-IKJ-001/${formatIso(Date.now())}`

test.each([
  ['0', [404, 429, 429, 429]],
  ['1', [404, 404, 429, 404]],
])(
  'behind %s proxies of ours proofs without a key are counted for each client',
  async (proxies, expected) => {
    await using api = await testApi({
      env: { AIRPROOF_API_PROXIES: proxies, AIRPROOF_OPEN_PROOFS_PER_MINUTE: '10' },
    })
    const statuses: number[] = []
    // what the client itself says is further left
    for (const from of ['203.0.113.1', '203.0.113.2', '198.51.100.9, 203.0.113.1', '2001:db8::1']) {
      const answer = await fetch(api.url + link, { headers: { 'x-forwarded-for': from } })
      statuses.push(answer.status)
    }
    expect(statuses).toEqual(expected)
  },
)

/** Questions to JetStream that name one of the buckets, from now on. */
async function questions(nc: NatsConnection, names: readonly string[]) {
  const heard: string[] = []
  const subscription = nc.subscribe('$JS.API.>', {
    callback: (_error, { subject }) => {
      if (names.some((name) => subject.includes(`KV_${name}`))) heard.push(subject)
    },
  })
  await nc.flush()
  return { heard, [Symbol.dispose]: () => subscription.unsubscribe() }
}

test('a thousand cookies that are nobody’s cost NATS no more than a few do', async () => {
  await using dashboard = await testDashboard()
  using watch = await questions(dashboard.nc, ['sessions'])
  const { heard } = watch
  const startMs = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_unused, n) =>
      fetch(`${dashboard.url}/me`, { headers: { cookie: `__Host-session=${n}${'x'.repeat(40)}` } }),
    ),
  )
  const tookMs = performance.now() - startMs
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const bodies = await Promise.all(answers.map((answer) => answer.text()))
  expect(new Set(bodies)).toEqual(new Set(['{"account":null}']))
  await dashboard.nc.flush()
  expect(heard.length).toBeGreaterThan(0)
  expect(heard.length).toBeLessThanOrEqual(tookMs / 50 + 2)
})

test('to end a key, and to be given everything, reads nothing of other accounts', async () => {
  await using dashboard = await testDashboard()
  const ada = await signedIn(dashboard)
  const { record } = (await ada.ask('POST', '/data/keys', { name: 'a' })).body
  using watch = await questions(dashboard.nc, ['keys', 'used', 'quota', 'webhooks'])
  const { heard } = watch
  expect((await ada.ask('DELETE', `/data/keys/${record.id}`)).status).toBe(200)
  const all = await ada.browser.get('/account/export')
  expect(JSON.parse(all.text)).toMatchObject({ keys: [{ id: record.id }], webhooks: [], usage: [] })
  await dashboard.nc.flush()
  // a consumer of a whole bucket is how all of it is read
  expect(heard.filter((subject) => subject.includes('CONSUMER'))).toEqual([])
  expect(heard.length).toBeGreaterThan(0)
  await eventually('its limit is reached', async () => {
    const { status } = await ada.ask('DELETE', `/data/keys/${record.id}`)
    return status === 429
  })
})

const statusesOf = async (times: number, ask: () => Promise<{ readonly status: number }>) =>
  (await Promise.all(Array.from({ length: times }, ask))).map(({ status }) => status)

test.each([
  ['/now/', '', 60],
  ['/areas/', '/card.png', 12],
])(
  '%s…%s is answered %d times at once to a network, then again to another one',
  async (before, after, burst) => {
    await using dashboard = await testDashboard({ env: { AIRPROOF_DASHBOARD_PROXIES: '1' } })
    // no place has a name of that length, so the API is not asked
    const ask = (from: string) =>
      dashboard
        .browser()
        .get(`${before}${'x'.repeat(300)}${after}`, { headers: { 'x-forwarded-for': from } })
    const statuses = await statusesOf(2 * burst, () => ask('203.0.113.1'))
    expect(statuses.filter((status) => status === 404).length).toBeGreaterThanOrEqual(burst)
    expect(statuses).toContain(429)
    expect(new Set(statuses)).toEqual(new Set([404, 429]))
    expect((await ask('203.0.113.2')).status).toBe(404)
  },
)

test.each([['imports', '/operator/api/sensors/import', { csv: 'nothing\n', preview: true }, 60]])(
  '%s of an account are limited, those of another one are not',
  async (_name, path, body, burst) => {
    await using dashboard = await testDashboard()
    const [ada, ben] = [
      await signedIn(dashboard, { role: 'operator' }),
      await signedIn(dashboard, { role: 'operator' }),
    ]
    const statuses = await statusesOf(2 * burst, () => ada.ask('POST', path, body))
    expect(statuses.filter((status) => status !== 429).length).toBeGreaterThanOrEqual(burst)
    expect(statuses).toContain(429)
    expect((await ben.ask('POST', path, body)).status).not.toBe(429)
  },
)
