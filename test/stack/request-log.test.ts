import { afterAll, beforeAll, expect, test } from 'vitest'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { mostRequests } from '../../schemas/people/requests.ts'
import { requestsStream, requestsSubject } from '../../schemas/subjects.ts'
import { type TestApi, testApi } from '../support/api.ts'
import { type TestDashboard, testDashboard } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import { type SignedIn, signedIn } from '../support/signed-in.ts'
import { withinOneDay } from '../support/within-one-day.ts'

let api: TestApi
let dashboard: TestDashboard
beforeAll(async () => {
  api = await testApi({ env: { AIRPROOF_BURST_FREE: '80' } })
  dashboard = await testDashboard({ nats: api.nats, env: { AIRPROOF_API_URL: api.url } })
})
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

type Key = { readonly id: string; readonly get: (path: string) => Promise<number> }

async function newKey(who: SignedIn, name: string): Promise<Key> {
  const { key, record } = (await who.ask('POST', '/data/keys', { name })).body
  const get = async (path: string): Promise<number> => {
    const answer = await fetch(api.url + path, { headers: { authorization: `Bearer ${key}` } })
    await answer.text()
    return answer.status
  }
  await eventually('the key works', async () => (await get('/v1/usage')) === 200)
  return { id: record.id, get }
}

const listed = async (who: SignedIn, query = '') =>
  (await who.ask('GET', `/data/requests?limit=1000${query}`)).body

/** An account may look at its usage 30 times at once, then once per second. */
const seldom = { everyMs: 1_000 }

test('an account sees its own last requests with their status, by key and outcome, and what each key used', () =>
  withinOneDay(async () => {
    const ada = await signedIn(dashboard)
    const ben = await signedIn(dashboard)
    const laptop = await newKey(ada, 'laptop')
    const display = await newKey(ada, 'display')
    const other = await newKey(ben, 'other')
    expect(await laptop.get('/v1/aqi/scale')).toBe(200)
    expect(await laptop.get('/v1/aqi/scale?x=<script>')).toBe(400)
    expect(await display.get('/v1/sensors/NGR-LOS-NOT-404/status')).toBe(404)
    expect(await display.get('/v1/aqi/scale?token=secret')).toBe(400)
    expect(await other.get('/v1/aqi/scale')).toBe(200)
    // what the pages themselves ask for is not the account's
    expect((await ada.ask('GET', '/data/v1/usage')).status).toBe(200)

    const body = await eventually(
      'the log has all of them',
      async () => {
        const answer = await listed(ada)
        return answer.counts?.refused === 3 && answer
      },
      seldom,
    )
    expect(body.left_out).toBe(0)
    const shown = body.requests.map(({ key, target, status, code }: Record<string, unknown>) => [
      key === laptop.id ? 'laptop' : key === display.id ? 'display' : key,
      target,
      status,
      code,
    ])
    expect(shown).toContainEqual(['laptop', '/v1/aqi/scale', 200, undefined])
    expect(shown).toContainEqual([
      'laptop',
      '/v1/aqi/scale?x=%3Cscript%3E',
      400,
      expect.any(String),
    ])
    expect(shown).toContainEqual([
      'display',
      '/v1/sensors/NGR-LOS-NOT-404/status',
      404,
      expect.any(String),
    ])
    expect(shown).toContainEqual(['display', '/v1/aqi/scale?token=…', 400, expect.any(String)])
    expect(JSON.stringify(body)).not.toContain('secret')
    expect(JSON.stringify(body)).not.toContain(other.id)
    const [first, ...rest] = body.requests
    expect(rest.every(({ at }: { at: string }) => at <= first.at)).toBe(true)

    const refused = await listed(ada, `&outcome=refused&key=${display.id}`)
    expect(refused.requests.map(({ status }: { status: number }) => status)).toEqual([400, 404])
    expect((await ada.ask('GET', '/data/requests?outcome=many')).status).toBe(400)
    expect((await dashboard.browser().get('/data/requests')).status).toBe(401)

    const usage = await eventually(
      'each key has what it used',
      async () => {
        const { keys = [] } = (await ada.ask('GET', '/data/usage-by-key')).body
        const used = Object.fromEntries(
          keys.map(({ name, used }: { name: string; used: number[] }) => [name, used]),
        )
        return used.laptop?.[0] >= 2 && used.display?.[0] >= 2 && used
      },
      seldom,
    )
    // asking for the usage is not counted, and neither is a day without requests
    expect(usage).toEqual({
      laptop: [2, ...Array.from({ length: 29 }, () => 0)],
      display: [2, ...Array.from({ length: 29 }, () => 0)],
    })
  }))

test('more than is listed of a second is counted, a refusal for too many requests is listed', async () => {
  const eve = await signedIn(dashboard)
  const flood = await newKey(eve, 'flood')
  const statuses = await Promise.all(Array.from({ length: 200 }, () => flood.get('/v1/aqi/scale')))
  expect(statuses).toContain(429)
  const body = await eventually(
    'all are written',
    async () => {
      const answer = await listed(eve)
      return answer.requests?.length + answer.left_out >= 200 && answer
    },
    seldom,
  )
  expect(body.left_out).toBeGreaterThan(0)
  expect(body.requests.length).toBeLessThan(200)
  const last = await lastMessage(dashboard.nc, requestsStream, requestsSubject(eve.account.id))
  const { requests } = JSON.parse(new TextDecoder().decode(last?.data))
  expect(requests.length).toBeLessThanOrEqual(mostRequests)
})

test('an account’s log is in its export', async () => {
  const zoe = await signedIn(dashboard)
  const key = await newKey(zoe, 'mine')
  await key.get('/v1/aqi/scale')
  await eventually('the log has it', async () => (await listed(zoe)).counts?.ok >= 1, seldom)
  const held = JSON.parse((await zoe.browser.get('/account/export')).text)
  expect(held.requests[0]).toMatchObject({ key: key.id, status: 200 })
  expect(held.usage).toContainEqual(expect.objectContaining({ key: key.id, used: 1 }))
})
