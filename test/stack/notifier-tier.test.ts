/** An account that is not premium any more: its webhooks are held, seen, and may be deleted. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import {
  publishEvent,
  rise,
  startNotifier,
  type TestNotifier,
  testKey,
} from '../support/notifier.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type WebhookApi, webhookApi } from '../support/webhook-api.ts'

const opened = new AsyncDisposableStack()
let api: WebhookApi
let notifier: TestNotifier
beforeAll(async () => {
  api = opened.use(await webhookApi({ AIRPROOF_SECRET: testKey }))
  const folder = opened.use(temporaryFolder())
  notifier = opened.use(await startNotifier(api.nats.url, folder.path))
})
afterAll(() => opened.disposeAsync())

test('after a downgrade events wait, and all are sent when the account is premium again', async () => {
  await using receiver = await startReceiver()
  const ada = await api.customer()
  const { id } = await ada.create({ url: receiver.url })
  await publishEvent(api.nc, rise(100, 180))
  await eventually('the first arrives', () => receiver.received.length === 1)

  await api.setTier(ada.account, 'free')
  const shown = await eventually('its owner sees it', async () => {
    const { body } = await ada.say('GET', `/${id}`)
    return body.webhook.suspended === true && body.webhook
  })
  expect(shown).toMatchObject({ id, active: true, paused: false, disabled: null })
  await eventually('the notifier holds it', async () => {
    await publishEvent(api.nc, rise(100, 180))
    return ((await notifier.metric('airproof_webhook_pending')) ?? 0) >= 3
  })
  const { body } = await ada.say('GET', `/${id}/deliveries?state=pending`)
  expect(body.total).toBeGreaterThanOrEqual(3)
  const sentWhileFree = receiver.received.length
  expect((await ada.say('GET', `/${id}/deliveries`)).body.count).toBe(sentWhileFree)

  await api.setTier(ada.account, 'premium')
  await eventually('all that waited arrives', () => {
    return receiver.received.length >= sentWhileFree + body.total
  })
  expect(new Set(receiver.received.map((one) => one.id)).size).toBe(receiver.received.length)
  await eventually('its owner sees that, too', async () => {
    return (await ada.say('GET', `/${id}`)).body.webhook.suspended === false
  })
})

test('a free account may see and delete its webhooks, and nothing else', async () => {
  const eve = await api.customer()
  const { id } = await eve.create()
  await api.setTier(eve.account, 'free')
  await eventually('it is known', async () => (await eve.say('POST', '', {})).status === 403)
  const refused = await Promise.all([
    eve.say('POST', '', { url: 'https://example.org/', events: ['aqi.high'] }),
    eve.say('PATCH', `/${id}`, { description: 'x' }),
    eve.say('POST', `/${id}/resume`),
    eve.say('POST', `/${id}/rotate`),
    eve.say('POST', `/${id}/test`),
    eve.say('POST', `/${id}/recover`, { since: '2026-01-31T08:00:00Z' }),
    eve.say('POST', `/${id}/deliveries/aqi.high-1-150/replay`),
  ])
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403))
  const listed = (await eve.say('GET', '')).body
  expect(listed.webhooks).toEqual([expect.objectContaining({ id, suspended: true })])
  expect((await eve.say('DELETE', `/${id}`)).status).toBe(200)
  expect((await eve.say('GET', '')).body.count).toBe(0)
})

test('a deleted account gets nothing', async () => {
  await using receiver = await startReceiver()
  const gone = await api.customer()
  const sensor = 'NGR-LOS-IKJ-071'
  await gone.create({ url: receiver.url, filters: { sensor_id: sensor } })
  await api.accounts.delete(gone.account)
  const pending = async () => (await notifier.metric('airproof_webhook_pending')) ?? 0
  const before = await pending()
  await eventually('the notifier holds it', async () => {
    await publishEvent(api.nc, rise(100, 180, sensor))
    return (await pending()) > before
  })
  const sent = receiver.received.length
  await publishEvent(api.nc, rise(100, 180, sensor))
  await publishEvent(api.nc, rise(100, 180, sensor))
  await eventually('more wait', async () => (await pending()) >= before + 3)
  expect(receiver.received).toHaveLength(sent)
})
