import { Ajv } from 'ajv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mostAttemptsShown } from '../../api/webhooks/deliveries.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { attemptSchema } from '../../schemas/webhooks/attempt.ts'
import type { WaitingDelivery } from '../../schemas/webhooks/webhook-requests.ts'
import {
  type Customer,
  exampleAttempt,
  standInOwner,
  type WebhookApi,
  webhookApi,
} from '../support/webhook-api.ts'

let api: WebhookApi
let ada: Customer
beforeAll(async () => {
  api = await webhookApi()
  ada = await api.customer()
})
afterAll(() => api[Symbol.asyncDispose]())

test('the example that these tests log is an attempt', () => {
  const isAttempt = new Ajv({ strict: true, allowUnionTypes: true }).compile({
    ...attemptSchema,
    properties: { ...attemptSchema.properties, request: {}, response: {} },
  })
  expect([isAttempt(exampleAttempt), isAttempt.errors]).toEqual([true, null])
})

const atOf = (i: number): string => formatIsoMs(Date.UTC(2026, 0, 31) + i * 1_000)

/** Every page after `query`. */
async function pages(id: string, query: string): Promise<any[][]> {
  const read: any[][] = []
  for (let cursor = ''; ; ) {
    const { status, body } = await ada.say('GET', `/${id}/deliveries?${query}${cursor}`)
    expect([status, body.count]).toEqual([200, body.deliveries.length])
    read.push(body.deliveries)
    if (body.next_cursor === null) return read
    cursor = `&cursor=${body.next_cursor}`
  }
}

test('attempts are listed newest first, page by page, however many are between them', async () => {
  const { id } = await ada.create()
  const dense = await ada.create()
  // many others first, then scattered among them, then close together
  for (let i = 0; i < 60; i++) await api.logAttempt(id, { delivery: `msg_${i}`, at: atOf(i) })
  await Promise.all(Array.from({ length: 2_000 }, () => api.logAttempt(dense.id)))
  for (let i = 60; i < 120; i++) {
    await Promise.all(Array.from({ length: 9 }, () => api.logAttempt(dense.id)))
    await api.logAttempt(id, { delivery: `msg_${i}`, at: atOf(i) })
  }
  for (let i = 120; i < 420; i++) await api.logAttempt(id, { delivery: `msg_${i}`, at: atOf(i) })
  const newestFirst = Array.from({ length: 420 }, (_, i) => `msg_${419 - i}`)

  for (const [limit, count] of [
    [1000, 1],
    [420, 1],
    [140, 3],
    [37, 12],
  ] as const) {
    const got = await pages(id, `limit=${limit}`)
    expect(got.flat().map((one) => one.id)).toEqual(newestFirst)
    expect([limit, got.length]).toEqual([limit, count])
  }
  expect((await pages(dense.id, 'limit=1000')).flat()).toHaveLength(2_540)
  const from = `start_time=${atOf(100)}&end_time=${atOf(130)}`
  expect((await pages(id, from)).flat().map((one) => one.id)).toEqual(newestFirst.slice(290, 320))
  expect(await pages((await ada.create()).id, '')).toEqual([[]])
  // a page reads a thousand, and then has a cursor to continue
  expect(await pages(dense.id, 'outcome=dead')).toEqual([[], [], []])
})

test('attempts are found by event, outcome, trigger and delivery', async () => {
  const { id } = await ada.create()
  await api.logAttempt(id, {
    delivery: 'msg_a',
    outcome: 'retry',
    error: 'timeout',
    response: null,
  })
  await api.logAttempt(id, {
    delivery: 'msg_b',
    event: 'sensor.offline',
    key: 'sensor.offline-4-0',
  })
  await api.logAttempt(id, { delivery: 'msg_a', attempt: 2, at: atOf(5) })
  await api.logAttempt(id, { delivery: 'msg_c', trigger: 'test' })
  const ids = async (query: string) => (await pages(id, query)).flat().map((one) => one.id)
  expect(await ids('event=sensor.offline')).toEqual(['msg_b'])
  expect(await ids('outcome=retry')).toEqual(['msg_a'])
  expect(await ids('trigger=test')).toEqual(['msg_c'])
  expect(await ids('delivery=msg_a')).toEqual(['msg_a', 'msg_a'])
  expect(await ids('delivery=sensor.offline-4-0')).toEqual(['msg_b'])
  expect(await ids('outcome=dead')).toEqual([])
  expect((await pages(id, 'outcome=retry')).flat()).toEqual([
    {
      id: 'msg_a',
      key: 'aqi.high-12-150',
      event: 'aqi.high',
      trigger: 'event',
      attempt: 1,
      at: '2026-01-31T08:00:00.000Z',
      outcome: 'retry',
      error: 'timeout',
      error_detail: null,
      next_attempt_at: null,
      response_status: null,
      duration_ms: 3,
    },
  ])
})

test('a request about deliveries that makes no sense is a 400', async () => {
  const { id } = await ada.create()
  for (const query of [
    'state=asleep',
    'event=aqi.low',
    'outcome=lost',
    'trigger=me',
    'delivery=',
    'start_time=now',
    'limit=0',
    'limit=1001',
    'cursor=zzz',
    'cursor=YTow',
    'colour=red',
    'state=pending&cursor=YTo1',
    'state=dead&event=aqi.high',
  ]) {
    const { status } = await ada.say('GET', `/${id}/deliveries?${query}`)
    expect([query, status]).toEqual([query, 400])
  }
})

const waiting = (fields: Partial<WaitingDelivery> = {}): WaitingDelivery => ({
  delivery: 'msg_w',
  key: 'aqi.high-77-150',
  event: 'aqi.high',
  trigger: 'event',
  state: 'pending',
  attempts: 2,
  due_at: '2026-01-31T09:00:00Z',
  ...fields,
})

test('waiting and dead deliveries are read from the owner, which sends them again', async () => {
  const { id } = await ada.create()
  await api.logAttempt(id, { delivery: 'msg_w', key: 'aqi.high-77-150', outcome: 'retry' })
  await api.logAttempt(id, {
    delivery: 'msg_w',
    key: 'aqi.high-77-150',
    outcome: 'retry',
    attempt: 2,
    at: atOf(9),
  })
  await api.logAttempt(id, { delivery: 'msg_done', key: 'aqi.high-5-150' })
  await api.logAttempt(id, { delivery: 'msg_trimmed', key: 'aqi.high-99-150' })
  using owner = await standInOwner(api, id, (request) => {
    switch (request.op) {
      case 'list': {
        const dead = waiting({
          delivery: 'msg_dead',
          key: 'aqi.high-3-150',
          state: 'dead',
          due_at: null,
        })
        const deliveries = request.state === 'dead' ? [dead] : [waiting()]
        return { ok: true, op: 'list', total: 41, deliveries, is_behind: true }
      }
      case 'replay':
        return request.key === 'aqi.high-99-150'
          ? { ok: false, code: 'unknown_delivery', message: 'gone' }
          : { ok: true, op: 'replay', delivery: 'msg_again' }
      case 'recover':
        return { ok: true, op: 'recover' }
      case 'test':
        return { ok: true, op: 'test', attempt: { ...exampleAttempt, trigger: 'test' } }
    }
  })
  expect((await ada.say('GET', `/${id}/deliveries?state=pending&limit=7`)).body).toEqual({
    status: 'success',
    count: 1,
    total: 41,
    is_behind: true,
    next_cursor: null,
    deliveries: [
      {
        id: 'msg_w',
        key: 'aqi.high-77-150',
        event: 'aqi.high',
        trigger: 'event',
        state: 'pending',
        attempts: 2,
        due_at: '2026-01-31T09:00:00.000Z',
      },
    ],
  })
  expect(owner.asked.at(-1)).toEqual({ op: 'list', webhook: id, state: 'pending', limit: 7 })
  const dead = await ada.say('GET', `/${id}/deliveries?state=dead`)
  expect(dead.body.deliveries[0]).toMatchObject({ id: 'msg_dead', state: 'dead', due_at: null })

  const shown = (await ada.say('GET', `/${id}/deliveries/msg_w`)).body.delivery
  expect(shown).toMatchObject({ id: 'msg_w', state: 'pending', due_at: '2026-01-31T09:00:00.000Z' })
  expect(shown.attempts.map((one: { attempt: number }) => one.attempt)).toEqual([2, 1])
  expect(shown.attempts[0]).toMatchObject({
    request: exampleAttempt.request,
    response: exampleAttempt.response,
    timings_ms: exampleAttempt.timings,
  })
  expect((await ada.say('GET', `/${id}/deliveries/msg_done`)).body.delivery).toMatchObject({
    state: 'delivered',
    due_at: null,
  })
  expect((await ada.say('GET', `/${id}/deliveries/msg_dead`)).body.delivery).toMatchObject({
    state: 'dead',
    attempts: [],
  })
  expect((await ada.say('GET', `/${id}/deliveries/msg_none`)).body.error.code).toBe(
    'delivery_not_found',
  )

  const replays: readonly [name: string, key: string][] = [
    ['msg_done', 'aqi.high-5-150'],
    ['msg_dead', 'aqi.high-3-150'],
    ['aqi.high-77-150', 'aqi.high-77-150'],
  ]
  for (const [name, key] of replays) {
    const { status, body } = await ada.say('POST', `/${id}/deliveries/${name}/replay`)
    expect([status, body.delivery]).toEqual([202, { id: 'msg_again', key }])
    expect(owner.asked.at(-1)).toEqual({ op: 'replay', webhook: id, key })
  }
  for (const name of ['msg_none', 'aqi.high-99-150']) {
    expect((await ada.say('POST', `/${id}/deliveries/${name}/replay`)).status).toBe(404)
  }
  // a key in the right form that never was a delivery of this webhook
  const asked = owner.asked.filter(({ op }) => op === 'replay').length
  for (const madeUp of ['aqi.high-8-150', 'aqi.high-77-499', 'sensor.online-77-0']) {
    const { status, body } = await ada.say('POST', `/${id}/deliveries/${madeUp}/replay`)
    expect([status, body.error.code]).toEqual([404, 'delivery_not_found'])
  }
  expect(owner.asked.filter(({ op }) => op === 'replay')).toHaveLength(asked)
  const trimmed = await ada.say('POST', `/${id}/deliveries/aqi.high-99-150/replay`)
  expect(trimmed.body.error).toMatchObject({
    code: 'delivery_not_found',
    message: expect.stringContaining('cannot be sent again'),
  })

  const since = await ada.say('POST', `/${id}/recover`, { since: '2026-01-31T09:00:00+01:00' })
  expect([since.status, since.body.since]).toEqual([202, '2026-01-31T08:00:00.000Z'])
  expect(owner.asked.at(-1)).toEqual({
    op: 'recover',
    webhook: id,
    since: '2026-01-31T08:00:00.000Z',
  })
  const day = await ada.say('POST', `/${id}/recover`, { since: '2026-01-31' })
  expect([day.status, day.body.since]).toEqual([202, '2026-01-31T00:00:00.000Z'])

  const tested = await ada.say('POST', `/${id}/test`)
  expect(tested.body).toMatchObject({ delivery: 'msg_example', attempt: { outcome: 'delivered' } })
  expect(owner.asked.at(-1)).toEqual({ op: 'test', webhook: id, event: 'aqi.high' })
  await ada.say('POST', `/${id}/test`, { event: 'sensor.online' })
  expect(owner.asked.at(-1)).toMatchObject({ event: 'sensor.online' })
})

test('without a notifier the log is shown, and requests that need the owner are 503 with Retry-After', async () => {
  const { id } = await ada.create()
  await api.logAttempt(id, { outcome: 'retry' })
  expect((await ada.say('GET', `/${id}/deliveries`)).body.count).toBe(1)
  expect((await ada.say('GET', `/${id}/deliveries/msg_example`)).body.delivery.state).toBe(
    'pending',
  )
  for (const [method, path, body] of [
    ['GET', '/deliveries?state=pending'],
    ['POST', '/deliveries/msg_example/replay'],
    ['POST', '/recover', { since: '2026-01-31T08:00:00Z' }],
    ['POST', '/test'],
  ] as const) {
    const answer = await ada.say(method, `/${id}${path}`, body)
    expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '2'])
    expect(answer.body.error.code).toBe('deliveries_unavailable')
  }
})

test('a refusal of the owner becomes an error that helps', async () => {
  const { id } = await ada.create()
  const answers = [
    ['disabled', 409, 'webhook_disabled'],
    ['busy', 503, 'deliveries_unavailable'],
    ['unknown_webhook', 503, 'deliveries_unavailable'],
    ['bad_request', 500, 'internal'],
  ] as const
  for (const [code, status, expected] of answers) {
    using _ = await standInOwner(api, id, () => ({ ok: false, code, message: 'no' }))
    const answer = await ada.say('POST', `/${id}/test`)
    expect([code, answer.status, answer.body.error.code]).toEqual([code, status, expected])
  }
})

test('a delivery that was sent again and again is shown with its newest attempts', async () => {
  const { id } = await ada.create()
  for (let i = 1; i <= mostAttemptsShown + 10; i++) {
    await api.logAttempt(id, { attempt: i, trigger: 'replay', at: atOf(i) })
    if (i % 20 === 0) await api.logAttempt(id, { delivery: 'msg_other', key: 'aqi.high-1-150' })
  }
  const { body } = await ada.say('GET', `/${id}/deliveries/msg_example`)
  const shown = body.delivery.attempts.map(({ attempt }: { attempt: number }) => attempt)
  expect([shown.length, shown[0]]).toEqual([mostAttemptsShown, mostAttemptsShown + 10])
})
