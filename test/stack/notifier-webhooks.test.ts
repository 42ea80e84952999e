/** One notifier process over a real server: deliveries while webhooks change. */
import type { ServerResponse } from 'node:http'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { Ajv } from 'ajv'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { type EventKind, eventKinds } from '../../core/delivery/delivery.ts'
import { shardOf, webhookNumberOf } from '../../core/delivery/webhook-id.ts'
import { nextMessage } from '../../runtime/nats/stored-message.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { askSubject, attemptSubject, attemptsStream, buckets } from '../../schemas/subjects.ts'
import { type Attempt, attemptSchema } from '../../schemas/webhooks/attempt.ts'
import { payloadSchemas } from '../../schemas/webhooks/webhook-payload.ts'
import type { WebhookReply, WebhookRequest } from '../../schemas/webhooks/webhook-requests.ts'
import { eventually } from '../support/eventually.ts'
import { publishReading } from '../support/log-reading.ts'
import { type TestNats, testNats } from '../support/nats.ts'
import {
  changeWebhook,
  offline,
  online,
  publishEvent,
  putWebhook,
  quality,
  readWebhook,
  rise,
  sealed,
  startNotifier,
  type TestNotifier,
  testSecret,
} from '../support/notifier.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const opened = new AsyncDisposableStack()
let nats: TestNats
let nc: NatsConnection
let notifier: TestNotifier

beforeAll(async () => {
  const folder = opened.use(temporaryFolder())
  nats = opened.use(await testNats())
  nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  notifier = opened.use(await startNotifier(nats.url, folder.path))
})
afterAll(() => opened.disposeAsync())

/** A separate sensor for each test, so that no webhook receives another test's events. */
let sensors = 0
const newSensor = (): string => `NGR-LOS-YAB-${String(++sensors).padStart(3, '0')}`

const ask = async (request: WebhookRequest): Promise<WebhookReply> => {
  const subject = askSubject(shardOf(webhookNumberOf(request.webhook) ?? 0))
  const answer = await nc.request(subject, JSON.stringify(request), { timeout: 20_000 })
  return answer.json<WebhookReply>()
}
const count = (receiver: Receiver, least: number) =>
  eventually(`${least} arrive`, () => receiver.received.length >= least && receiver.received)

const isPayload = (kind: EventKind, value: unknown) =>
  new Ajv().validate(payloadSchemas[kind], value)

test('every kind of event arrives as its schema defines, signed', async () => {
  const sensor_id = newSensor()
  await using receiver = await startReceiver()
  const rules = sensorIdRules()
  const id = rules.parse(sensor_id)
  if (id === undefined) throw new Error('no id')
  await (await new Kvm(nc).open(buckets.sensors)).put(
    id,
    JSON.stringify({
      id,
      cadence_seconds: 300,
      sites: [
        {
          from: '2020-01-01T00:00:00Z',
          area: 'Yaba',
          lat: 6.5,
          lon: 3.4,
          address: 'Herbert Macaulay Way',
        },
      ],
      created_at: '2020-01-01T00:00:00Z',
    }),
  )
  // of batches that are final: notifier-anchored
  const kinds = eventKinds.filter((kind) => kind !== 'reading.anchored')
  const webhook = await putWebhook(nc, { url: receiver.url, events: kinds, filters: { sensor_id } })
  await eventually(
    'it is known',
    async () => ((await notifier.metric('airproof_webhooks')) ?? 0) > 0,
  )
  await publishEvent(nc, rise(100, 320, sensor_id))
  await publishEvent(nc, offline(sensor_id))
  await publishEvent(nc, online(sensor_id))
  await publishEvent(nc, quality(sensor_id))
  await publishReading(nc, 1, id)
  const received = await count(receiver, 6)
  expect(received.map(({ json }) => json.event).toSorted()).toEqual(kinds.toSorted())
  for (const { json, body, headers: fields } of received) {
    expect([json.event, isPayload(json.event as EventKind, JSON.parse(body.toString()))]).toEqual([
      json.event,
      true,
    ])
    new StandardWebhook(testSecret).verify(body.toString(), fields as Record<string, string>)
  }
  expect(new Set(received.map(({ id: delivery }) => delivery)).size).toBe(6)
  const reading = received.find(({ json }) => json.event === 'reading.new')?.json.data
  expect(reading).toMatchObject({ location: 'Herbert Macaulay Way', aqi: 70, sensor_id })
  const attempts = await attemptsOf(webhook.id, 6)
  for (const one of attempts) expect(new Ajv().validate(attemptSchema, one)).toBe(true)
})

async function attemptsOf(webhook: string, least: number): Promise<Attempt[]> {
  return await eventually(`${least} attempts are stored`, async () => {
    const stored: Attempt[] = []
    const subject = attemptSubject(webhook)
    for (let seq = 1; ; ) {
      const message = await nextMessage(nc, attemptsStream, subject, seq)
      if (message === undefined) break
      stored.push(JSON.parse(new TextDecoder().decode(message.data)) as Attempt)
      seq = message.seq + 1
    }
    return stored.length >= least && stored
  })
}

test('a failed delivery is tried again with the same id and bytes, and both attempts are stored', async () => {
  const sensor_id = newSensor()
  await using receiver = await startReceiver({
    answer: (response) => void response.writeHead(receiver.received.length > 1 ? 200 : 500).end(),
  })
  const webhook = await putWebhook(nc, { url: receiver.url, filters: { sensor_id } })
  await publishEvent(nc, rise(100, 180, sensor_id))
  const [first, second] = await count(receiver, 2)
  expect(second?.id).toBe(first?.id)
  expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true)
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(3_900)
  const attempts = await attemptsOf(webhook.id, 2)
  expect(attempts.map(({ attempt, outcome, error }) => [attempt, outcome, error])).toEqual([
    [1, 'retry', 'status'],
    [2, 'delivered', null],
  ])
})

test('410 disables the webhook, and a replay is refused until it is enabled again', async () => {
  const sensor_id = newSensor()
  await using receiver = await startReceiver({
    answer: (response) => void response.writeHead(410).end(),
  })
  const webhook = await putWebhook(nc, { url: receiver.url, filters: { sensor_id } })
  await publishEvent(nc, rise(100, 180, sensor_id))
  const ended = await eventually('it is disabled', async () => {
    const now = await readWebhook(nc, webhook.id)
    return now?.active === false && now
  })
  expect(ended.disabled?.reason).toBe('gone')
  const list = { op: 'list', webhook: webhook.id, state: 'dead', limit: 10 } as const
  const dead = await eventually('the delivery is dead', async () => {
    const reply = await ask(list)
    return reply.ok && reply.op === 'list' && reply.total === 1 && reply.deliveries[0]
  })
  const key = dead.key
  expect(dead.delivery).toBe(receiver.received[0]?.id)
  const replay = { op: 'replay', webhook: webhook.id, key } as const
  expect(await ask(replay)).toMatchObject({ ok: false, code: 'disabled' })
  receiver.answer = (response) => void response.writeHead(200).end()
  const { disabled: _, ...enabled } = ended
  await changeWebhook(nc, enabled, { active: true })
  await eventually('the replay is accepted', async () => (await ask(replay)).ok)
  const received = await count(receiver, 2)
  expect(received[1]?.id).toBe(received[0]?.id)
})

test('a paused webhook gets nothing until it is resumed, then everything', async () => {
  const sensor_id = newSensor()
  await using receiver = await startReceiver()
  const webhook = await putWebhook(nc, { url: receiver.url, filters: { sensor_id }, paused: true })
  for (let i = 0; i < 3; i++) await publishEvent(nc, rise(100, 180, sensor_id))
  const list = { op: 'list', webhook: webhook.id, state: 'pending', limit: 10 } as const
  await eventually('three wait', async () => {
    const reply = await ask(list)
    return reply.ok && reply.op === 'list' && reply.total === 3
  })
  expect(receiver.received).toHaveLength(0)
  await changeWebhook(nc, webhook, { paused: false })
  await count(receiver, 3)
})

test('a webhook paused with an attempt under way: that one ends as it ends, the others wait', async () => {
  const sensor_id = newSensor()
  const held: ServerResponse[] = []
  await using receiver = await startReceiver({ answer: (response) => void held.push(response) })
  const webhook = await putWebhook(nc, { url: receiver.url, filters: { sensor_id } })
  for (let i = 0; i < 3; i++) await publishEvent(nc, rise(100, 180, sensor_id))
  await count(receiver, 1)
  await changeWebhook(nc, webhook, { paused: true })
  // changes arrive in their order: once the next webhook is known, so is the pause
  const known = (await notifier.metric('airproof_webhooks')) ?? 0
  await putWebhook(nc, { filters: { sensor_id: newSensor() } })
  await eventually('the pause is known', async () => {
    return ((await notifier.metric('airproof_webhooks')) ?? 0) > known
  })
  held.shift()?.writeHead(200).end()
  const list = { op: 'list', webhook: webhook.id, state: 'pending', limit: 10 } as const
  await eventually('the first is done', async () => {
    const reply = await ask(list)
    return reply.ok && reply.op === 'list' && reply.total === 2
  })
  expect(receiver.received).toHaveLength(1)
  receiver.answer = (response) => void response.writeHead(200).end()
  await changeWebhook(nc, webhook, { paused: false })
  await count(receiver, 3)
  const ids = new Set(receiver.received.map(({ id }) => id))
  expect([ids.size, receiver.received.length]).toEqual([3, 3])
})

test('a webhook deleted with an attempt under way gets nothing more, and leaves nothing', async () => {
  const sensor_id = newSensor()
  await using receiver = await startReceiver({ answer: () => undefined })
  const webhook = await putWebhook(nc, { url: receiver.url, filters: { sensor_id } })
  for (let i = 0; i < 3; i++) await publishEvent(nc, rise(100, 180, sensor_id))
  await count(receiver, 1)
  const pending = await eventually('all three wait', async () => {
    const count = (await notifier.metric('airproof_webhook_pending')) ?? 0
    return count >= 3 && count
  })
  await (await new Kvm(nc).open(buckets.webhooks)).delete(webhook.id)
  await eventually(
    'nothing waits',
    async () => (await notifier.metric('airproof_webhook_pending')) === pending - 3,
  )
  expect(receiver.received).toHaveLength(1)
})

test('a secret rotated with a delivery waiting signs its next attempt', async () => {
  const sensor_id = newSensor()
  const next = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
  await using receiver = await startReceiver({
    answer: (response) => void response.writeHead(receiver.received.length > 1 ? 200 : 500).end(),
  })
  const webhook = await putWebhook(nc, { url: receiver.url, filters: { sensor_id } })
  await publishEvent(nc, rise(100, 180, sensor_id))
  await count(receiver, 1)
  const until = new Date(Date.now() + 60_000).toISOString()
  const { id } = webhook
  const secrets = { current: sealed(next, id), previous: { sealed: sealed(testSecret, id), until } }
  await changeWebhook(nc, webhook, { secrets })
  const [first, second] = await count(receiver, 2)
  const verify = (secret: string, one = second) =>
    new StandardWebhook(secret).verify(
      one?.body.toString() ?? '',
      one?.headers as Record<string, string>,
    )
  verify(next)
  verify(testSecret)
  expect(() => verify(next, first)).toThrow(/signature/i)
  expect(second?.headers['x-service-signature-next']).toMatch(/^[0-9a-f]{64}$/)
})

test('a test delivery is answered with its attempt, whatever the receiver does', async () => {
  await using receiver = await startReceiver({
    answer: (response) => void response.writeHead(418).end('teapot'),
  })
  const webhook = await putWebhook(nc, { url: receiver.url, filters: { sensor_id: newSensor() } })
  const kinds = Object.keys(payloadSchemas) as EventKind[]
  for (const event of kinds) {
    const reply = await eventually('it is known', async () => {
      const answer = await ask({ op: 'test', webhook: webhook.id, event })
      return answer.ok && answer.op === 'test' && answer
    })
    expect(reply.attempt).toMatchObject({
      trigger: 'test',
      event,
      response: { status: 418, body: 'teapot' },
    })
  }
  for (const { json } of receiver.received)
    expect(isPayload(json.event as EventKind, json)).toBe(true)
})

test('a webhook that the operator has disabled sends no test either', async () => {
  await using receiver = await startReceiver()
  const filters = { sensor_id: newSensor() }
  const webhook = await putWebhook(nc, { url: receiver.url, filters, active: false })
  const disabled = { reason: 'operator', at: new Date().toISOString() } as const
  const { id } = await changeWebhook(nc, webhook, { disabled })
  const test = () => ask({ op: 'test', webhook: id, event: 'aqi.high' })
  await eventually('it is known', async () => {
    const answer = await test()
    return !answer.ok && answer.code === 'disabled'
  })
  // a test from between the two changes may have been sent
  const sent = receiver.received.length
  expect(await test()).toMatchObject({ ok: false, code: 'disabled' })
  expect(receiver.received).toHaveLength(sent)
})

test('events since a time are sent again with the same ids, dead or delivered', async () => {
  const sensor_id = newSensor()
  await using receiver = await startReceiver()
  const webhook = await putWebhook(nc, { url: receiver.url, filters: { sensor_id } })
  for (let i = 0; i < 4; i++) await publishEvent(nc, rise(100, 180, sensor_id))
  await count(receiver, 4)
  const ids = receiver.received.map(({ id }) => id).toSorted()
  await eventually('all are done', async () => {
    const reply = await ask({ op: 'list', webhook: webhook.id, state: 'pending', limit: 10 })
    return reply.ok && reply.op === 'list' && reply.total === 0
  })
  expect(await ask({ op: 'recover', webhook: webhook.id, since: webhook.created_at })).toEqual({
    ok: true,
    op: 'recover',
  })
  await count(receiver, 8)
  expect(
    receiver.received
      .slice(4)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(ids)
  const attempts = await attemptsOf(webhook.id, 8)
  expect(attempts.slice(4).map(({ trigger }) => trigger)).toEqual(Array(4).fill('recover'))
  const [delivered] = attempts
  const replay = await ask({ op: 'replay', webhook: webhook.id, key: delivered?.key ?? '' })
  expect(replay).toEqual({ ok: true, op: 'replay', delivery: delivered?.delivery })
  await count(receiver, 9)
})

test('requests that make no sense are refused by name', async () => {
  const { id } = await putWebhook(nc, { filters: { sensor_id: newSensor() } })
  const subject = askSubject(shardOf(webhookNumberOf(id) ?? 0))
  const raw = async (text: string) => (await nc.request(subject, text)).json<WebhookReply>()
  expect(await raw('{')).toMatchObject({ ok: false, code: 'bad_request' })
  expect(await raw('{"op":"list"}')).toMatchObject({ ok: false, code: 'bad_request' })
  await eventually(
    'it is known',
    async () => (await ask({ op: 'list', webhook: id, state: 'dead', limit: 1 })).ok,
  )
  const replay = (key: string) => ask({ op: 'replay', webhook: id, key })
  expect(await replay('nonsense')).toMatchObject({ ok: false, code: 'unknown_delivery' })
  expect(await replay('aqi.high-99999999-150')).toMatchObject({
    ok: false,
    code: 'unknown_delivery',
  })
  const other = `${id.slice(0, -1)}${id.endsWith('0') ? '4' : '0'}`
  expect((await ask({ op: 'list', webhook: other, state: 'dead', limit: 1 })).ok).toBe(false)
})

test('an endpoint that fails five times in a row is paused', async () => {
  const sensor_id = newSensor()
  await using receiver = await startReceiver({
    answer: (response) => void response.writeHead(500).end(),
  })
  await putWebhook(nc, { url: receiver.url, filters: { sensor_id } })
  for (let i = 0; i < 12; i++) await publishEvent(nc, rise(100, 180, sensor_id))
  await eventually(
    'its breaker opens',
    async () => ((await notifier.metric('airproof_webhook_in_breaker')) ?? 0) > 0,
  )
  expect(receiver.received).toHaveLength(5)
})

test('a burst of 40 for one endpoint takes two seconds, no other endpoint waits for it', async () => {
  const [busy, calm] = [newSensor(), newSensor()]
  await using crowded = await startReceiver()
  await using alone = await startReceiver()
  await putWebhook(nc, { url: crowded.url, filters: { sensor_id: busy } })
  await putWebhook(nc, { url: alone.url, filters: { sensor_id: calm }, account: 'acc-2' })
  for (let i = 0; i < 40; i++) await publishEvent(nc, rise(100, 180, busy))
  await publishEvent(nc, rise(100, 180, calm))
  await count(alone, 1)
  expect(crowded.received.length).toBeLessThan(30)
  await count(crowded, 40)
  const [first, last] = [crowded.received[0]?.atMs ?? 0, crowded.received.at(-1)?.atMs ?? 0]
  expect(last - first).toBeGreaterThan(1_900)
})
