import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  verifyService,
  verifyStandard,
} from '../../examples/receivers/typescript/verify-webhook.ts'
import { signatureHeaders } from '../../runtime/webhook-signature.ts'
import { eventually } from '../support/eventually.ts'
import { offline, online, publishEvent, rise, startNotifier, testKey } from '../support/notifier.ts'
import { type ExampleReceiver, languages, missing, startReceiver } from '../support/receivers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { webhookApi } from '../support/webhook-api.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const other = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='
// spaces, an escape and a letter outside ASCII: encoded again it would be other bytes
const body = Buffer.from(
  '{ "event": "aqi.high", "timestamp": "2026-01-31T08:00:00Z",\n "data": {"sensor_id": "NGR-LOS-IKJ-001", "location": "Ìkẹjà \\u002f 1"} }',
)
const nowSeconds = (): number => Math.floor(Date.now() / 1000)

type Signing = {
  readonly id?: string
  readonly timestampSeconds?: number
  readonly secret?: string
  readonly next?: string
  readonly signed?: Buffer
}
const sign = ({
  id = 'msg_1',
  timestampSeconds = nowSeconds(),
  secret: by = secret,
  next,
  signed = body,
}: Signing = {}): Record<string, string> =>
  signatureHeaders(
    { secret: by, ...(next === undefined ? {} : { next }) },
    { id, timestampSeconds, body: signed },
  )

const without = (headers: Record<string, string>, ...names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)))

const believed: readonly [what: string, headers: (id: string) => Record<string, string>][] = [
  ['signed with its secret', (id) => sign({ id })],
  ['signed by a clock 290 s behind', (id) => sign({ id, timestampSeconds: nowSeconds() - 290 })],
  ['signed by a clock 290 s ahead', (id) => sign({ id, timestampSeconds: nowSeconds() + 290 })],
  ['signed with its secret and the next one', (id) => sign({ id, next: other })],
  ['signed with the last secret and its own', (id) => sign({ id, secret: other, next: secret })],
  [
    'signed in other versions too',
    (id) => {
      const headers = sign({ id })
      return { ...headers, 'webhook-signature': `v2,AAAA v1a,x ${headers['webhook-signature']}` }
    },
  ],
]
const refused: readonly [what: string, headers: () => Record<string, string>, reason: string][] = [
  ['signed with another secret', () => sign({ secret: other }), 'wrong_signature'],
  ['signed for another body', () => sign({ signed: Buffer.from('{}') }), 'wrong_signature'],
  ['under another id', () => ({ ...sign(), 'webhook-id': 'msg_2' }), 'wrong_signature'],
  [
    'under another time',
    () => ({ ...sign(), 'webhook-timestamp': String(nowSeconds() - 7) }),
    'wrong_signature',
  ],
  ['six minutes late', () => sign({ timestampSeconds: nowSeconds() - 360 }), 'stale'],
  ['six minutes early', () => sign({ timestampSeconds: nowSeconds() + 360 }), 'stale'],
  ['with a time in words', () => ({ ...sign(), 'webhook-timestamp': 'now' }), 'bad_timestamp'],
  ['with a negative time', () => ({ ...sign(), 'webhook-timestamp': '-1' }), 'bad_timestamp'],
  ['without an id', () => without(sign(), 'webhook-id'), 'missing_header'],
  ['without a time', () => without(sign(), 'webhook-timestamp'), 'missing_header'],
  ['without a standard signature', () => without(sign(), 'webhook-signature'), 'missing_header'],
  ['without our own signature', () => without(sign(), 'X-Service-Signature'), 'missing_header'],
  [
    'with our own signature of another secret',
    () => ({
      ...sign(),
      'X-Service-Signature': sign({ secret: other })['X-Service-Signature'] ?? '',
    }),
    'wrong_signature',
  ],
  [
    'with our own signature in capitals',
    () => ({
      ...sign(),
      'X-Service-Signature': sign()['X-Service-Signature']?.toUpperCase() ?? '',
    }),
    'wrong_signature',
  ],
  ['with half a signature', () => ({ ...sign(), 'webhook-signature': 'v1,' }), 'wrong_signature'],
  [
    'with text that is not base64',
    () => ({ ...sign(), 'webhook-signature': 'v1,%%%' }),
    'wrong_signature',
  ],
  ['without a version', () => ({ ...sign(), 'webhook-signature': 'AAAA' }), 'wrong_signature'],
]

test.each(languages)('the receiver in %s runs here, or the reason is known', (language) => {
  expect(missing(language) ?? language).toContain(language)
})

describe.each(languages)('the receiver in %s', (language) => {
  describe.skipIf(missing(language) !== undefined)(`${missing(language) ?? 'is run'}`, () => {
    let receiver: ExampleReceiver
    beforeAll(async () => {
      receiver = await startReceiver(language, { secret })
    })
    afterAll(() => receiver[Symbol.asyncDispose]())

    const post = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(receiver.url, { method: 'POST', headers, body })).status
    /** What it printed about the request that `ask` sends. */
    const toldOf = async (ask: () => Promise<number>) => {
      const before = receiver.reported.length
      const status = await ask()
      return [status, await eventually('it is printed', () => receiver.reported[before])] as const
    }

    test.each(believed)('accepts what is %s', async (what, headers) => {
      const id = `msg_${what.replaceAll(' ', '_')}`
      expect(await toldOf(() => post(headers(id)))).toEqual([
        204,
        {
          id,
          event: 'aqi.high',
          timestamp: '2026-01-31T08:00:00Z',
          sensor: 'NGR-LOS-IKJ-001',
          repeat: false,
        },
      ])
    })

    test.each(refused)('refuses what is sent %s', async (_, headers, reason) => {
      expect(await toldOf(() => post(headers()))).toEqual([401, { refused: reason }])
    })

    test('detects a repeat by its id', async () => {
      const headers = sign({ id: 'msg_twice' })
      const [, first] = await toldOf(() => post(headers))
      const [status, second] = await toldOf(() => post(headers))
      expect([first, second]).toMatchObject([{ repeat: false }, { repeat: true }])
      expect(status).toBe(204)
    })

    test('accepts the reference library of Standard Webhooks', async () => {
      const at = new Date()
      const signature = new StandardWebhook(secret).sign('msg_reference', at, body.toString())
      const headers = {
        ...sign(),
        'webhook-id': 'msg_reference',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signature,
      }
      expect((await toldOf(() => post(headers)))[0]).toBe(204)
    })
  })
})

test('the published vector is accepted at its time and at no other', () => {
  const vector = {
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      'x-service-signature': '80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c',
    },
    body: Buffer.from('{"test": 2432232314}'),
    secret,
    nowMs: 1_614_265_330_000,
  }
  expect(verifyStandard(vector)).toEqual({ ok: true, id: 'msg_p5jXN8AQM9LWM0D4loKWxJek' })
  expect(verifyService(vector)).toMatchObject({ ok: true })
  expect(verifyStandard({ ...vector, nowMs: vector.nowMs + 301_000 })).toEqual({
    ok: false,
    reason: 'stale',
  })
})

test('every kind of event, registered over HTTP and delivered, is accepted by every receiver', async () => {
  const present = languages.filter((language) => missing(language) === undefined)
  await using opened = new AsyncDisposableStack()
  const folder = opened.adopt(temporaryFolder(), (one) => one[Symbol.dispose]())
  const api = opened.use(
    await webhookApi({
      AIRPROOF_SECRET: testKey,
      AIRPROOF_SIGNATURE_HEADER: 'X-Airproof-Signature',
    }),
  )
  await api.register({ id: 'NGR-LOS-YAB-001' })
  const { create, say } = await api.customer()
  opened.use(
    await startNotifier(api.nats.url, folder.path, {
      AIRPROOF_SIGNATURE_HEADER: 'X-Airproof-Signature',
    }),
  )
  const kinds = ['aqi.high', 'aqi.critical', 'sensor.offline', 'sensor.online', 'reading.new']
  const receivers = await Promise.all(
    present.map(async (language) => {
      // the secret is known once the webhook exists, and the webhook needs the receiver's address
      const { id, secret: shown } = await create({ events: kinds })
      const header = 'X-Airproof-Signature'
      const receiver = opened.use(await startReceiver(language, { secret: shown, header }))
      const moved = await say('PATCH', `/${id}`, { url: receiver.url })
      expect([moved.status, moved.body.webhook.url]).toEqual([200, `${receiver.url}/`])
      return { id, language, receiver }
    }),
  )
  for (const { id } of receivers) {
    const tried = await eventually('the notifier knows the webhook at its address', async () => {
      const { status, body: printed } = await say('POST', `/${id}/test`)
      return status === 200 && printed.attempt.outcome === 'delivered' && printed
    })
    expect(tried.attempt).toMatchObject({ trigger: 'test', response: { status: 204 } })
  }
  await publishEvent(api.nc, rise(100, 320))
  await publishEvent(api.nc, offline())
  await publishEvent(api.nc, online())
  await api.commit([{ sensor: 'NGR-LOS-YAB-001', timeMs: Date.now() - 5_000, aqi: 60 }])
  for (const { id, language, receiver } of receivers) {
    const events = await eventually(`${language} has all kinds`, () => {
      // after the example of the test delivery
      const real = receiver.reported
        .slice(1)
        .map((one) => ('event' in one ? one.event : one.refused))
      return new Set(real).size >= kinds.length && real
    })
    expect(events.toSorted()).toEqual(kinds.toSorted())

    // the log is written after the delivery
    const logged = await eventually(`the attempts at ${language} are listed`, async () => {
      const { deliveries } = (await say('GET', `/${id}/deliveries?trigger=event`)).body
      return deliveries.length >= events.length && deliveries
    })
    expect(logged.map((one: { event: string }) => one.event).toSorted()).toEqual(events.toSorted())
    const [newest] = logged
    const again = await say('POST', `/${id}/deliveries/${newest.id}/replay`)
    expect([again.status, again.body.delivery.id]).toEqual([202, newest.id])
    await eventually(`${language} detects the repeat`, () =>
      receiver.reported.some((one) => 'id' in one && one.id === newest.id && one.repeat),
    )
  }
})
