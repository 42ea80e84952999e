import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkKey } from '../../core/access/api-key.ts'
import { dayMs } from '../../core/time.ts'
import { mostLiveKeys } from '../../dashboard/server/account-api/key-routes.ts'
import { hashOfKey, listKeys, openAccountBook } from '../../operate/account-book.ts'
import { nextMessage } from '../../runtime/nats/stored-message.ts'
import { auditStream, auditSubject } from '../../schemas/subjects.ts'
import { type TestApi, testApi } from '../support/api.ts'
import { type TestDashboard, testDashboard } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import { type SignedIn, signedIn } from '../support/signed-in.ts'

let api: TestApi
let dashboard: TestDashboard
let ada: SignedIn
beforeAll(async () => {
  api = await testApi()
  dashboard = await testDashboard({ nats: api.nats, env: { AIRPROOF_API_URL: api.url } })
  ada = await signedIn(dashboard)
})
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const statusWith = async (key: string): Promise<number> => {
  const answer = await fetch(`${api.url}/v1/sensors`, {
    headers: { authorization: `Bearer ${key}` },
  })
  await answer.text()
  return answer.status
}

test('a new key works at the API, and stops working there within a moment of its revocation', async () => {
  const { status, body } = await ada.ask('POST', '/data/keys', { name: '  my laptop ' })
  expect([status, body.record.name, body.record.state]).toEqual([201, 'my laptop', 'live'])
  expect(checkKey('aqk_', body.key)).toBe('ok')
  expect(Date.parse(body.record.expires_at) - Date.parse(body.record.created_at)).toBe(90 * dayMs)
  await eventually('the key works', async () => (await statusWith(body.key)) === 200)

  const listed = await eventually('it was used', async () => {
    const { body: all } = await ada.ask('GET', '/data/keys')
    return all.keys[0].last_used_at === null ? undefined : all
  })
  expect(listed.keys).toEqual([{ ...body.record, last_used_at: expect.stringMatching(/Z$/) }])
  expect(JSON.stringify(listed)).not.toContain(body.key)

  const revoked = await ada.ask('DELETE', `/data/keys/${body.record.id}`)
  expect([revoked.status, revoked.body.record.state]).toEqual([200, 'revoked'])
  await eventually('the key is dead', async () => (await statusWith(body.key)) === 401)
  // again, it stays as it was
  const again = await ada.ask('DELETE', `/data/keys/${body.record.id}`)
  expect(again.body.record.revoked_at).toBe(revoked.body.record.revoked_at)
})

test('another account’s key does not exist here, by its id, by itself or by its hash', async () => {
  const ben = await signedIn(dashboard)
  const { key, record } = (await ben.ask('POST', '/data/keys', { name: 'Ben’s' })).body
  for (const id of [record.id, key, hashOfKey(key), 'key_0000000000000000', '%2A']) {
    const { status, body } = await ada.ask('DELETE', `/data/keys/${id}`)
    expect([id, status, body.error.code]).toEqual([id, 404, 'key_not_found'])
  }
  expect((await ben.ask('GET', '/data/keys')).body.keys[0].state).toBe('live')
  expect(JSON.stringify((await ada.ask('GET', '/data/keys')).body)).not.toContain(record.id)
})

test('a stranger, another site and a page without the token make no key', async () => {
  const stranger = dashboard.browser()
  const json = { accept: 'application/json', 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'x' })
  expect((await stranger.get('/data/keys', { headers: json })).status).toBe(401)
  const post = { method: 'POST', body }
  const { csrf } = JSON.parse((await ada.browser.get('/me')).text)
  for (const headers of [
    { ...json },
    { ...json, 'x-csrf-token': csrf, 'sec-fetch-site': 'cross-site' },
    { ...json, 'x-csrf-token': csrf, origin: 'https://evil.example' },
    { ...json, 'x-csrf-token': 'guessed', 'sec-fetch-site': 'same-origin' },
  ])
    expect((await ada.browser.get('/data/keys', { ...post, headers })).status).toBe(403)
})

test.each([
  ['no name', {}],
  ['an empty one', { name: ' ' }],
  ['too long a one', { name: 'x'.repeat(101) }],
  ['one with a line break', { name: 'a\nb' }],
  ['one that turns writing around', { name: 'laptop \u202Ekey' }],
  ['one that cannot be seen', { name: '\u200B\u3164' }],
  ['half a character', { name: 'a\uD83D' }],
  ['a number', { name: 7 }],
  ['another account', { name: 'x', account: 'acc_1' }],
  ['another number of days', { name: 'x', days: 91 }],
  ['days as a text', { name: 'x', days: '7' }],
  ['an overlap without a former key', { name: 'x', overlap_hours: 1 }],
  ['a list', []],
])('%s is refused and named', async (_, sent) => {
  const { status, body } = await ada.ask('POST', '/data/keys', sent)
  expect([status, body.error.code]).toEqual([400, 'invalid_body'])
  expect(body.error.details.fields).toHaveLength(1)
})

test('a name is stored as it was written, script included', async () => {
  const name = '<img src=x onerror=alert(1)> “ключ” 🔑'
  const { body } = await ada.ask('POST', '/data/keys', { name })
  expect(body.record.name).toBe(name)
  expect((await ada.ask('GET', '/data/keys')).body.keys[0].name).toBe(name)
})

test('an account has a bounded number of valid keys, however many are requested at once', async () => {
  const eve = await signedIn(dashboard)
  const answers = await Promise.all(
    Array.from({ length: mostLiveKeys + 8 }, (_, i) =>
      eve.ask('POST', '/data/keys', { name: `key ${i}` }),
    ),
  )
  const made = answers.filter(({ status }) => status === 201)
  expect(made).toHaveLength(mostLiveKeys)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(8)
  await eve.ask('DELETE', `/data/keys/${made[0]?.body.record.id}`)
  expect((await eve.ask('POST', '/data/keys', { name: 'once more' })).status).toBe(201)
  // and keys cannot be made in a loop
  const many = await Promise.all(
    Array.from({ length: 30 }, () => eve.ask('POST', '/data/keys', { name: 'again' })),
  )
  expect(many.map(({ status }) => status)).toContain(429)
})

test.each([7, 30, 90])('a key is made for %d days if its owner chooses so', async (days) => {
  const { status, body } = await ada.ask('POST', '/data/keys', { name: 'for a while', days })
  const { expires_at, created_at } = body.record
  expect([status, Date.parse(expires_at) - Date.parse(created_at)]).toEqual([201, days * dayMs])
  // a key that is made for less than 14 days is not reminded of at once
  const record = (await listKeys(await openAccountBook(dashboard.nc))).find(
    ({ id }) => id === body.record.id,
  )
  expect(record?.reminded_days).toBe(days === 7 ? 14 : undefined)
  await ada.ask('DELETE', `/data/keys/${body.record.id}`)
})

test('a key that is rolled goes on for as long as was chosen, and the new one has its name', async () => {
  const { key, record } = (await ada.ask('POST', '/data/keys', { name: 'rolled' })).body
  await eventually('the key works', async () => (await statusWith(key)) === 200)
  const roll = `/data/keys/${record.id}/roll`
  const beforeMs = Date.now()
  const { status, body } = await ada.ask('POST', roll, { overlap_hours: 24, days: 30 })
  expect([status, body.record.name, body.record.state]).toEqual([201, 'rolled', 'live'])
  expect([body.former.id, body.former.state]).toEqual([record.id, 'live'])
  const overlapMs = Date.parse(body.former.expires_at) - beforeMs
  expect(overlapMs).toBeGreaterThan(dayMs - 2_000)
  expect(overlapMs).toBeLessThan(dayMs + 60_000)
  await eventually('the new key works', async () => (await statusWith(body.key)) === 200)
  expect(await statusWith(key)).toBe(200)

  // again, now without a time for both: the sooner end holds, and stays
  const again = await ada.ask('POST', roll, {})
  expect([again.status, again.body.former.state]).toEqual([201, 'expired'])
  await eventually('the old key has ended', async () => (await statusWith(key)) === 401)
  expect(await statusWith(body.key)).toBe(200)
  const ended = await ada.ask('POST', roll, { overlap_hours: 72 })
  expect([ended.status, ended.body.error.code]).toEqual([409, 'key_ended'])
  for (const wrong of [{ overlap_hours: 2 }, { overlap_hours: -1 }, { days: 1 }, { name: 'x' }])
    expect([wrong, (await ada.ask('POST', roll, wrong)).status]).toEqual([wrong, 400])
  const ben = await signedIn(dashboard)
  expect((await ben.ask('POST', `/data/keys/${body.record.id}/roll`, {})).status).toBe(404)
})

test('a key is rolled by an account that has as many as it may, and only one at a time', async () => {
  const fay = await signedIn(dashboard)
  const made = await Promise.all(
    Array.from({ length: mostLiveKeys }, () => fay.ask('POST', '/data/keys', { name: 'x' })),
  )
  const id = made[0]?.body.record.id
  const rolled = await fay.ask('POST', `/data/keys/${id}/roll`, { overlap_hours: 1 })
  expect(rolled.status).toBe(201)
  const next = await fay.ask('POST', `/data/keys/${rolled.body.record.id}/roll`, {})
  expect([next.status, next.body.error.code]).toEqual([409, 'too_many_keys'])
})

test('making and revoking a key are in the account’s audit log, the key itself is not', async () => {
  const dan = await signedIn(dashboard)
  const { key, record } = (await dan.ask('POST', '/data/keys', { name: 'audited' })).body
  await dan.ask('DELETE', `/data/keys/${record.id}`)
  const subject = auditSubject(dan.account.id)
  const first = await nextMessage(dashboard.nc, auditStream, subject, 1)
  const second = await nextMessage(dashboard.nc, auditStream, subject, (first?.seq ?? 0) + 1)
  const [made = '', revoked = ''] = [first, second].map(
    (one) => one && new TextDecoder().decode(one.data),
  )
  expect([JSON.parse(made).event, JSON.parse(revoked).event]).toEqual([
    'key_created',
    'key_revoked',
  ])
  expect(made).toContain(record.id)
  expect(made + revoked).not.toContain(key)
  expect(dashboard.logged.join('\n')).not.toContain(key)
})
