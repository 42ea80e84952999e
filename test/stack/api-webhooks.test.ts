import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { webhookNumberOf } from '../../core/delivery/webhook-id.ts'
import { secretBox } from '../../runtime/secrets/seal-secret.ts'
import { parseWebhook } from '../../schemas/webhooks/webhook.ts'
import { eventually } from '../support/eventually.ts'
import {
  type Customer,
  hookUrl,
  secondApi,
  type WebhookApi,
  wanted,
  webhookApi,
} from '../support/webhook-api.ts'

let api: WebhookApi
let ada: Customer
beforeAll(async () => {
  api = await webhookApi()
  await api.register({ id: 'NGR-LOS-IKJ-001' })
  await api.register({ id: 'NGR-LOS-YAB-002' })
  await api.register({ id: 'NGR-LOS-IKJ-007' })
  await api.register({ id: 'NGR-LOS-YAB-007' })
  ada = await api.customer()
})
afterAll(() => api[Symbol.asyncDispose]())

test('a webhook is created, shown, changed and deleted, and its secret is shown once', async () => {
  const { say } = await api.customer()
  const creation = await say('POST', '', {
    ...wanted,
    description: 'pager',
    filters: { area: 'ikeja' },
  })
  expect(creation.status).toBe(201)
  const { webhook } = creation.body
  expect(creation.headers.get('location')).toBe(`/v1/webhooks/${webhook.id}`)
  expect(creation.body).toEqual({
    status: 'success',
    webhook: {
      id: expect.stringMatching(/^wh_[0-9a-hjkmnp-tv-z]{7}$/),
      url: hookUrl,
      description: 'pager',
      events: ['aqi.high'],
      filters: { area: 'Ikeja' },
      active: true,
      paused: false,
      suspended: false,
      disabled: null,
      previous_secret_until: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: webhook.created_at,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      armed_now: true,
    },
  })
  const { secret, armed_now: _, ...shown } = webhook
  expect((await say('GET', `/${webhook.id}`)).body).toEqual({ status: 'success', webhook: shown })
  expect((await say('GET', '')).body).toEqual({ status: 'success', count: 1, webhooks: [shown] })

  const record = await api.record(webhook.id)
  expect(parseWebhook(record)).toEqual(record)
  expect(JSON.stringify(record)).not.toContain(secret.slice(6, 30))
  expect(secretBox(api.secretKey).open(record.secrets.current, webhook.id)).toBe(secret)

  const patch = { events: ['sensor.offline', 'aqi.high'], filters: { aqi_threshold: 0 } }
  const changed = await say('PATCH', `/${webhook.id}`, patch)
  expect(changed.body.webhook).toMatchObject({
    description: 'pager',
    events: ['sensor.offline', 'aqi.high'],
    filters: { area: 'Ikeja', aqi_threshold: 0 },
  })
  expect(changed.body.webhook).not.toHaveProperty('secret')
  const emptied = { description: null, filters: { area: null }, active: false }
  expect((await say('PATCH', `/${webhook.id}`, emptied)).body.webhook).toMatchObject({
    description: null,
    filters: { aqi_threshold: 0 },
    active: false,
  })
  expect((await say('PATCH', `/${webhook.id}`, {})).status).toBe(200)

  expect((await say('DELETE', `/${webhook.id}`)).body).toEqual({
    status: 'success',
    webhook: { id: webhook.id, deleted: true },
  })
  expect((await say('DELETE', `/${webhook.id}`)).status).toBe(404)
  expect((await say('GET', '')).body.count).toBe(0)
})

test('sensor and area are stored under their canonical names, the whole network as no filter', async () => {
  const { create } = await api.customer()
  const filtersOf = async (filters: object) => (await create({ filters })).filters
  expect(await filtersOf({ sensor_id: 'NGR-LOS-002' })).toEqual({ sensor_id: 'NGR-LOS-YAB-002' })
  expect(await filtersOf({ sensor_id: 'NGR-LOS-ABC-99999' })).toEqual({
    sensor_id: 'NGR-LOS-ABC-99999',
  })
  expect(await filtersOf({ area: 'IKJ' })).toEqual({ area: 'Ikeja' })
  expect(await filtersOf({ area: 'lagos', aqi_threshold: 499.5 })).toEqual({ aqi_threshold: 499.5 })
})

const wrongBodies: readonly [what: string, body: unknown, fields: readonly string[]][] = [
  ['nothing', {}, ['url', 'events']],
  ['a list', [], ['body']],
  ['a text that is not an address', { ...wanted, url: 'nowhere' }, ['url']],
  ['an address that is a number', { ...wanted, url: 5 }, ['url']],
  ['an empty address', { ...wanted, url: '' }, ['url']],
  ['an address of 3,000 characters', { ...wanted, url: `${hookUrl}${'x'.repeat(3_000)}` }, ['url']],
  ['a private address', { ...wanted, url: 'http://10.0.0.1/' }, ['url']],
  ['another protocol', { ...wanted, url: 'ftp://example.org/' }, ['url']],
  ['a user name', { ...wanted, url: 'https://me@example.org/' }, ['url']],
  ['a local name', { ...wanted, url: 'https://router.local/' }, ['url']],
  ['no events', { ...wanted, events: [] }, ['events']],
  ['an unknown event', { ...wanted, events: ['aqi.high', 'aqi.low'] }, ['events']],
  ['an event twice', { ...wanted, events: ['aqi.high', 'aqi.high'] }, ['events']],
  ['events as a text', { ...wanted, events: 'aqi.high' }, ['events']],
  ['filters as a list', { ...wanted, filters: [] }, ['filters']],
  ['an unknown filter', { ...wanted, filters: { colour: 'red' } }, ['filters.colour']],
  ['a threshold of 500', { ...wanted, filters: { aqi_threshold: 500 } }, ['filters.aqi_threshold']],
  ['a threshold below 0', { ...wanted, filters: { aqi_threshold: -1 } }, ['filters.aqi_threshold']],
  [
    'a threshold as a text',
    { ...wanted, filters: { aqi_threshold: '9' } },
    ['filters.aqi_threshold'],
  ],
  ['a sensor that cannot be', { ...wanted, filters: { sensor_id: 'x' } }, ['filters.sensor_id']],
  [
    'a short id of two',
    { ...wanted, filters: { sensor_id: 'NGR-LOS-007' } },
    ['filters.sensor_id'],
  ],
  [
    'a short id of none',
    { ...wanted, filters: { sensor_id: 'NGR-LOS-555' } },
    ['filters.sensor_id'],
  ],
  ['an unknown area', { ...wanted, filters: { area: 'Atlantis' } }, ['filters.area']],
  ['an empty area', { ...wanted, filters: { area: '' } }, ['filters.area']],
  ['a long description', { ...wanted, description: 'x'.repeat(201) }, ['description']],
  ['a description of two lines', { ...wanted, description: 'a\nb' }, ['description']],
  [
    'one that changes the direction of text',
    { ...wanted, description: 'a\u202eb' },
    ['description'],
  ],
  ['a field that only we set', { ...wanted, secret: 'whsec_mine' }, ['secret']],
  [
    'every field',
    { events: ['x'], filters: { aqi_threshold: 'x', sensor_id: 1, area: 2 }, colour: 1 },
    ['url', 'events', 'filters.aqi_threshold', 'filters.sensor_id', 'filters.area', 'colour'],
  ],
  [
    'values that only the network decides',
    { ...wanted, url: 'http://10.1.1.1', filters: { sensor_id: 'x', area: 'Atlantis' } },
    ['url', 'filters.sensor_id', 'filters.area'],
  ],
]
test.each(wrongBodies)(
  'a body with %s is a 400 that names every field',
  async (_, sent, fields) => {
    const { status, body } = await ada.say('POST', '', sent)
    expect(status).toBe(400)
    expect(body).toMatchObject({ status: 'error', error: { code: 'invalid_body' } })
    const named: { field: string; expected: string }[] = body.error.details.fields
    expect(named.map(({ field }) => field).toSorted()).toEqual(fields.toSorted())
    for (const { field, expected } of named)
      expect(body.error.message).toContain(`${field} must be ${expected}`)
  },
)

test('a short id of several sensors is refused with their whole ids', async () => {
  const { body } = await ada.say('POST', '', { ...wanted, filters: { sensor_id: 'NGR-LOS-007' } })
  expect(body.error.message).toContain('NGR-LOS-IKJ-007, NGR-LOS-YAB-007')
})

const wrongOthers: readonly [method: string, path: string, body: unknown, field: string][] = [
  ['PATCH', '', { url: 'nowhere' }, 'url'],
  ['PATCH', '', { url: null }, 'url'],
  ['PATCH', '', { events: [] }, 'events'],
  ['PATCH', '', { filters: { area: 'Atlantis' } }, 'filters.area'],
  ['PATCH', '', { filters: { aqi_threshold: 500 } }, 'filters.aqi_threshold'],
  ['PATCH', '', { active: 'yes' }, 'active'],
  ['PATCH', '', { paused: true }, 'paused'],
  ['PATCH', '', { account: 'mine' }, 'account'],
  ['POST', '/rotate', { overlap_seconds: 604_801 }, 'overlap_seconds'],
  ['POST', '/rotate', { overlap_seconds: -1 }, 'overlap_seconds'],
  ['POST', '/rotate', { overlap_seconds: 1.5 }, 'overlap_seconds'],
  ['POST', '/test', { event: 'aqi.low' }, 'event'],
  ['POST', '/recover', {}, 'since'],
  ['POST', '/recover', { since: 'yesterday' }, 'since'],
  ['POST', '/recover', { since: '2190-01-01T00:00:00Z' }, 'since'],
  ['POST', '/pause', { now: true }, 'now'],
  ['POST', '/resume', { now: true }, 'now'],
]
test('every other body is judged as strictly, and changes nothing if it is wrong', async () => {
  const { say, create } = await api.customer()
  const { id } = await create()
  const before = await api.record(id)
  for (const [method, path, sent, field] of wrongOthers) {
    const { status, body } = await say(method, `/${id}${path}`, sent)
    expect([path, sent, status]).toEqual([path, sent, 400])
    expect(body.error.details.fields.map((one: { field: string }) => one.field)).toEqual([field])
  }
  expect(await api.record(id)).toEqual(before)
})

const wrongTypes: readonly [what: string, type: string][] = [
  ['a form', 'application/x-www-form-urlencoded'],
  ['text', 'text/plain'],
  ['another JSON', 'application/vnd.api+json'],
  ['another charset', 'application/json; charset=latin1'],
  ['no type at all', ''],
]
test.each(wrongTypes)('a body sent as %s is 415', async (_, type) => {
  const { status, body } = await ada.say('POST', '', wanted, { 'content-type': type })
  expect([status, body.error.code]).toEqual([415, 'unsupported_media_type'])
})

test('JSON may name its charset, and no other encoding', async () => {
  const type = { 'content-type': 'application/json; charset=UTF-8' }
  expect((await ada.say('POST', '', {}, type)).status).toBe(400)
  expect((await ada.say('POST', '', wanted, { 'content-encoding': 'gzip' })).status).toBe(415)
})

test('a body that is not a JSON object is 400, one above 64 KiB is 413, with or without a length', async () => {
  for (const text of ['{', 'null', '"x"', '1', '{"__proto__": {"url": "x"}}', '[1,', '\u0000']) {
    const { status, body } = await ada.say('POST', '', text)
    expect([text, status, body.error.code]).toEqual([text, 400, 'not_json'])
  }
  const large = JSON.stringify({ ...wanted, description: 'x'.repeat(70_000) })
  const answer = await ada.say('POST', '', large)
  expect([answer.status, answer.body.error.code]).toEqual([413, 'body_too_large'])
  const untold = await fetch(`${api.url}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' },
    body: new Blob([large]).stream(),
    duplex: 'half',
  })
  expect(untold.status).toBe(413)
  expect((await ada.say('GET', '')).status).toBe(200)
})

test('the unread rest of a body is not taken for the next request', async () => {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString()
  })
  const head = `Host: a\r\nAuthorization: Bearer ${ada.key}\r\n`
  const json = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n'
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
  socket.write(`POST /v1/webhooks HTTP/1.1\r\n${head}${json}\r\n${chunk.repeat(40)}0\r\n\r\n`)
  socket.write(`GET /v1/webhooks HTTP/1.1\r\n${head}\r\n`)
  await eventually(
    'both are answered',
    () => received.split('request_id').length > 1 && received.includes('"count"'),
  )
  expect(received).toMatch(/^HTTP\/1\.1 413 .*HTTP\/1\.1 200 /s)
  socket.destroy()
})

test('other methods are 405 with those that are allowed', async () => {
  const { create, say } = await api.customer()
  const { id } = await create()
  const allow = async (method: string, path: string): Promise<string | null> => {
    const { status, headers } = await say(method, path)
    expect(status).toBe(405)
    return headers.get('allow')
  }
  expect(await allow('PUT', '')).toBe('GET, HEAD, POST')
  expect(await allow('POST', `/${id}`)).toBe('GET, HEAD, PATCH, DELETE')
  expect(await allow('GET', `/${id}/pause`)).toBe('POST')
  expect(await allow('DELETE', `/${id}/deliveries`)).toBe('GET, HEAD')
})

test('the free tier gets an error that says what to do, and access as soon as its tier changes', async () => {
  const free = await api.customer('free')
  for (const [method, path] of [
    ['POST', ''],
    ['PATCH', '/wh_0000000'],
    ['POST', '/wh_0000000/test'],
  ] as const) {
    const { status, body } = await free.say(method, path, method === 'POST' ? wanted : undefined)
    expect(status).toBe(403)
    expect(body.error).toMatchObject({
      code: 'premium_required',
      message: expect.stringContaining('premium tier'),
      details: { tier: 'free', required: 'premium' },
    })
  }
  await api.setTier(free.account, 'premium')
  await eventually(
    'the account has access',
    async () => (await free.say('POST', '', wanted)).status === 201,
  )
})

test('the webhooks of another account cannot be seen, changed or guessed', async () => {
  const eve = await api.customer()
  const { id } = await ada.create()
  const before = await api.record(id)
  const requests: readonly [string, string, unknown?][] = [
    ['GET', ''],
    ['PATCH', '', { active: false }],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/rotate'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['GET', '/deliveries/msg_x'],
    ['POST', '/deliveries/msg_x/replay'],
    ['POST', '/recover', { since: '2026-01-01T00:00:00Z' }],
  ]
  for (const [method, path, body] of requests) {
    const theirs = await eve.say(method, `/${id}${path}`, body)
    const nobodys = await eve.say(method, `/wh_zzzzzzz${path}`, body)
    expect([method, path, theirs.status, theirs.body.error.code]).toEqual([
      method,
      path,
      404,
      'webhook_not_found',
    ])
    expect(nobodys.body.error.message).toBe(theirs.body.error.message)
  }
  expect((await eve.say('GET', '')).body.count).toBe(0)
  expect(await api.record(id)).toEqual(before)
  expect(webhookNumberOf('wh_zzzzzzz')).toBeUndefined()
})

test('of 30 creations at once through two processes exactly 20 succeed', async () => {
  await using other = await secondApi(api)
  const { say, through } = await api.customer()
  const processes = [say, through(other.url)]
  const create = (i: number) => processes[i % 2]!('POST', '', { ...wanted, description: `${i}` })
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => create(i)))
  const refused = answers.filter(({ status }) => status !== 201)
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
  expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual(
    Array.from({ length: 10 }, () => [409, 'too_many_webhooks']),
  )
  const { webhooks } = (await say('GET', '')).body
  expect(webhooks).toHaveLength(20)

  // each deletion makes room for one
  await Promise.all([0, 1].map((i) => processes[i]!('DELETE', `/${webhooks[i].id}`)))
  const again = await Promise.all([0, 1, 2].map(create))
  expect(again.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 409])
  expect((await say('GET', '')).body.count).toBe(20)
})

test('the same request at once through two processes creates one webhook with one secret', async () => {
  await using other = await secondApi(api)
  const { say, through } = await api.customer()
  const processes = [say, through(other.url)]
  const key = { 'idempotency-key': 'order-66' }
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) => processes[i % 2]!('POST', '', wanted, key)),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(
    1,
  )
  expect((await say('GET', '')).body.count).toBe(1)
})

test('an idempotency key answers only its own request, even if there is no room for more', async () => {
  const { say, create } = await api.customer()
  const key = { 'idempotency-key': 'k-1' }
  const first = await say('POST', '', { ...wanted, filters: {} }, key)
  const turned = { filters: {}, events: wanted.events, url: wanted.url }
  expect((await say('POST', '', turned, key)).body).toEqual(first.body)

  const other = await say('POST', '', { ...wanted, description: 'another' }, key)
  expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_key_used'])
  // the keys of another account are separate
  const eve = await api.customer()
  const theirs = await eve.say('POST', '', wanted, key)
  expect(theirs.status).toBe(201)
  expect(theirs.body.webhook.id).not.toBe(first.body.webhook.id)

  for (let i = 1; i < 20; i++) await create()
  expect((await say('POST', '', wanted)).status).toBe(409)
  expect((await say('POST', '', turned, key)).body).toEqual(first.body)

  await say('DELETE', `/${first.body.webhook.id}`)
  const late = await say('POST', '', turned, key)
  expect([late.status, late.body.error.code]).toEqual([409, 'idempotency_key_used'])

  for (const bad of ['a b', 'x'.repeat(256)]) {
    const { status, body } = await say('POST', '', wanted, { 'idempotency-key': bad })
    expect([status, body.error.code]).toEqual([400, 'bad_idempotency_key'])
  }
})

test('changes at once through two processes are all stored', async () => {
  await using other = await secondApi(api)
  const { say, through, create } = await api.customer()
  const { id } = await create()
  const [here, there] = [say, through(other.url)]
  const changes = [
    here('PATCH', `/${id}`, { description: 'both' }),
    there('PATCH', `/${id}`, { events: ['reading.new'] }),
    here('PATCH', `/${id}`, { filters: { area: 'Yaba' } }),
    there('PATCH', `/${id}`, { filters: { aqi_threshold: 42 } }),
    here('PATCH', `/${id}`, { filters: { sensor_id: 'NGR-LOS-IKJ-001' } }),
    there('PATCH', `/${id}`, { url: 'http://127.0.0.1:10/' }),
    here('POST', `/${id}/pause`),
    there('POST', `/${id}/rotate`),
  ]
  // no sensor is in area Yaba here, so that one is refused and the others are not
  const statuses = (await Promise.all(changes)).map(({ status }) => status)
  expect(statuses).toEqual([200, 200, 400, 200, 200, 200, 200, 200])
  const { webhook } = (await say('GET', `/${id}`)).body
  expect(webhook).toMatchObject({
    description: 'both',
    events: ['reading.new'],
    filters: { aqi_threshold: 42, sensor_id: 'NGR-LOS-IKJ-001' },
    url: 'http://127.0.0.1:10/',
    paused: true,
    previous_secret_until: expect.stringMatching(/Z$/),
  })
})

test('a deletion and changes at once leave nothing', async () => {
  const { say, create } = await api.customer()
  const { id } = await create()
  const answers = await Promise.all([
    ...Array.from({ length: 5 }, (_, i) => say('PATCH', `/${id}`, { description: `${i}` })),
    say('DELETE', `/${id}`),
    ...Array.from({ length: 5 }, () => say('POST', `/${id}/pause`)),
  ])
  for (const { status } of answers) expect([200, 404]).toContain(status)
  expect((await say('GET', `/${id}`)).status).toBe(404)
})

test('a rotation keeps the old secret for the overlap, a day unless given', async () => {
  const { say, create } = await api.customer()
  const { id, secret } = await create()
  const { open } = secretBox(api.secretKey)
  const secrets = async () => {
    const { current, previous } = (await api.record(id)).secrets
    return [open(current, id), previous && open(previous.sealed, id)]
  }
  const overlapS = async (body?: object): Promise<readonly [string, number | null]> => {
    const beforeMs = Date.now()
    const { status, body: received } = await say('POST', `/${id}/rotate`, body)
    expect(status).toBe(200)
    const { secret: fresh, previous_secret_until: until } = received.webhook
    return [fresh, until && Math.round((Date.parse(until) - beforeMs) / 60_000) * 60]
  }
  const [second, day] = await overlapS()
  expect([day, await secrets()]).toEqual([86_400, [second, secret]])
  expect(second).not.toBe(secret)
  const [third, week] = await overlapS({ overlap_seconds: 604_800 })
  expect([week, await secrets()]).toEqual([604_800, [third, second]])
  const [fourth, none] = await overlapS({ overlap_seconds: 0 })
  expect([none, await secrets()]).toEqual([null, [fourth, undefined]])
  expect((await say('GET', `/${id}`)).body.webhook).not.toHaveProperty('secret')
})

test('pause and resume are separate from being disabled, and the operator has the last word', async () => {
  const { say, create } = await api.customer()
  const { id } = await create()
  const disable = async (reason: 'failing' | 'operator'): Promise<void> => {
    const disabled = { reason, at: '2026-01-31T08:00:00Z', detail: 'because' }
    await api.webhooks.put(
      id,
      JSON.stringify({ ...(await api.record(id)), active: false, disabled }),
    )
  }
  const state = ({ body }: { body: any }) => [body.webhook.active, body.webhook.paused]
  expect(state(await say('POST', `/${id}/pause`))).toEqual([true, true])
  expect(state(await say('POST', `/${id}/pause`))).toEqual([true, true])
  expect(state(await say('POST', `/${id}/resume`))).toEqual([true, false])
  await disable('failing')
  expect((await say('PATCH', `/${id}`, { description: 'x' })).body.webhook).toMatchObject({
    active: false,
    disabled: { reason: 'failing', detail: 'because' },
  })
  expect((await say('POST', `/${id}/resume`)).body.webhook).toMatchObject({
    active: true,
    disabled: null,
  })
  await disable('operator')
  for (const [method, path, body] of [
    ['POST', '/resume', undefined],
    ['PATCH', '', { active: true }],
  ] as const) {
    const { status, body: received } = await say(method, `/${id}${path}`, body)
    expect([status, received.error.code]).toEqual([409, 'disabled_by_operator'])
  }
})

test('a webhook created while the air is bad is shown as not armed', async () => {
  const { create } = await api.customer()
  await api.commit([
    { sensor: 'NGR-LOS-IKJ-001', timeMs: Date.now() - 5_000, aqi: 200 },
    { sensor: 'NGR-LOS-YAB-002', timeMs: Date.now() - 5_000, aqi: 40 },
  ])
  const armed = async (filters: object, events = ['aqi.high']): Promise<boolean> =>
    (await create({ filters, events })).armed_now
  expect(await armed({})).toBe(false)
  expect(await armed({ aqi_threshold: 199 })).toBe(false)
  expect(await armed({ aqi_threshold: 200 })).toBe(true)
  expect(await armed({ sensor_id: 'NGR-LOS-YAB-002' })).toBe(true)
  expect(await armed({ sensor_id: 'NGR-LOS-YAB-002', aqi_threshold: 39 })).toBe(false)
  expect(await armed({}, ['aqi.critical'])).toBe(true)
  expect(await armed({}, ['sensor.offline', 'reading.new'])).toBe(true)
})

test('a key that is revoked while its request is on the way creates nothing', async () => {
  const mallory = await api.customer()
  const body = JSON.stringify(wanted)
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString()
  })
  socket.write(
    `POST /v1/webhooks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${mallory.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  )
  await eventually('the request is admitted', () => received.includes('100 Continue'))
  socket.write(body.slice(0, 9))
  received = ''
  const entry = await api.keys.get(mallory.keyHash)
  const revoked = { ...entry?.json<object>(), revoked_at: '2026-01-31T08:00:00Z' }
  await api.keys.put(mallory.keyHash, JSON.stringify(revoked))
  await eventually('the key is refused', async () => (await mallory.say('GET', '')).status === 401)
  socket.write(body.slice(9))
  await eventually('the request is answered', () => received.includes('request_id'))
  expect(received).toMatch(/^HTTP\/1\.1 401 .*"code":"revoked_key"/s)
  socket.destroy()
  const own = await Array.fromAsync(await api.webhooks.keys())
  for (const id of own) expect((await api.record(id)).account).not.toBe(mallory.account)
})

test('while NATS is away no request is answered as if it was written', async () => {
  const { say } = await api.customer()
  api.nats.freeze()
  try {
    const answers = await Promise.all(Array.from({ length: 3 }, () => say('POST', '', wanted)))
    for (const { status, headers } of answers)
      expect([status, headers.get('retry-after')]).toEqual([503, '2'])
  } finally {
    api.nats.thaw()
  }
  await eventually('it answers again', async () => (await say('GET', '')).status === 200)
})
