/** A large backlog for one endpoint: due at once, and more than the ledger holds. */
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import type { AirEvent } from '../../schemas/log/event.ts'
import { eventually } from '../support/eventually.ts'
import { type TestNats, testNats } from '../support/nats.ts'
import {
  changeWebhook,
  offline,
  publishEvent,
  putWebhook,
  rise,
  startNotifier,
  type TestNotifier,
} from '../support/notifier.ts'
import { type Received, startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const opened = new AsyncDisposableStack()
let nats: TestNats
let nc: NatsConnection
beforeAll(async () => {
  nats = opened.use(await testNats())
  nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
})
afterAll(() => opened.disposeAsync())

async function publishAll(events: readonly AirEvent[]): Promise<void> {
  for (let i = 0; i < events.length; i += 500)
    await Promise.all(events.slice(i, i + 500).map((event) => publishEvent(nc, event)))
}
const distinct = (received: readonly Received[]): number =>
  new Set(received.map(({ id }) => id)).size
const untilPending = (notifier: TestNotifier, least: number) =>
  eventually(
    `${least} wait`,
    async () => ((await notifier.metric('airproof_webhook_pending')) ?? 0) >= least,
  )

const due = inject('soak') ? 10_000 : 4_000

test(`${due} due at once for one endpoint: four at a time, no faster than its rate, each once`, async () => {
  using folder = temporaryFolder()
  let underWay = 0
  let mostAtOnce = 0
  await using receiver = await startReceiver({
    answer: (response) => {
      mostAtOnce = Math.max(mostAtOnce, ++underWay)
      // so that attempts overlap if they may
      setTimeout(() => {
        underWay--
        response.writeHead(200).end()
      }, 1)
    },
  })
  const webhook = await putWebhook(nc, { url: receiver.url, paused: true })
  const perSecond = 1_000
  await using notifier = await startNotifier(nats.url, folder.path, {
    AIRPROOF_WEBHOOK_RATE: String(perSecond),
  })
  await publishAll(Array.from({ length: due }, () => rise(100, 180)))
  await untilPending(notifier, due)
  await changeWebhook(nc, webhook, { paused: false })
  await eventually('all arrive', () => receiver.received.length >= due, { withinMs: 300_000 })
  await eventually('none waits', async () => {
    return (await notifier.metric('airproof_webhook_pending')) === 0
  })
  expect([receiver.received.length, distinct(receiver.received), mostAtOnce]).toEqual([due, due, 4])
  const [first, last] = [receiver.received[0]?.atMs ?? 0, receiver.received.at(-1)?.atMs ?? 0]
  // a burst of two seconds' worth, then the rate
  expect(last - first).toBeGreaterThan(((due - 2 * perSecond) / perSecond) * 1_000 - 200)
  await changeWebhook(nc, webhook, { active: false })
}, 500_000)

test('more than the ledger holds for an endpoint is read again as it drains, urgent first, killed in between', async () => {
  const sensor_id = 'NGR-LOS-YAB-202'
  const mostWaiting = 100
  const env = { AIRPROOF_WEBHOOK_WAITING: String(mostWaiting), AIRPROOF_WEBHOOK_RATE: '200' }
  using folder = temporaryFolder()
  await using receiver = await startReceiver()
  const webhook = await putWebhook(nc, {
    url: receiver.url,
    events: ['aqi.high', 'sensor.offline'],
    filters: { sensor_id },
    paused: true,
  })
  let notifier = await startNotifier(nats.url, folder.path, env)
  await using resources = new AsyncDisposableStack()
  resources.defer(() => notifier[Symbol.asyncDispose]())
  const someOf = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      i % 4 === 3 ? offline(sensor_id) : rise(100, 180, sensor_id),
    )
  const before = 1_500
  for (const event of someOf(before)) await publishEvent(nc, event)
  await untilPending(notifier, mostWaiting)
  await eventually('it is behind', async () => {
    return ((await notifier.metric('airproof_webhook_behind_total')) ?? 0) > 0
  })
  expect(await notifier.metric('airproof_webhook_pending')).toBe(mostWaiting)

  await changeWebhook(nc, webhook, { paused: false })
  await eventually('it drains', () => receiver.received.length >= mostWaiting)
  const firstOrdinary = receiver.received.findIndex(({ json }) => json.event === 'aqi.high')
  // those of the first hundred; as many as are under way may change places
  expect(firstOrdinary).toBeGreaterThanOrEqual(mostWaiting / 4 - 4)

  notifier.child.kill('SIGKILL')
  await notifier.child.exited
  notifier = await startNotifier(nats.url, folder.path, env)
  const meanwhile = 100
  for (const event of someOf(meanwhile)) await publishEvent(nc, event)
  const expected = before + meanwhile
  await eventually('all arrive', () => distinct(receiver.received) === expected)
  await eventually('none waits', async () => {
    return (await notifier.metric('airproof_webhook_pending')) === 0
  })
  expect(distinct(receiver.received)).toBe(expected)
  // attempts under way, or not written yet, when it was killed
  expect(receiver.received.length - expected).toBeLessThanOrEqual(4 + 64)
}, 400_000)
