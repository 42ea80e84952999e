/** Events and readings still arrive, however the server went away and returned. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { shardOf, webhookNumberOf } from '../../core/delivery/webhook-id.ts'

import { eventsSource } from '../../notifier/sources/events.ts'
import { finalBatches } from '../../notifier/sources/final-batches.ts'
import { deliveryOwner } from '../../operate/webhooks/delivery-owner.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import type { AnchoredEvent } from '../../schemas/anchoring/batch-record.ts'
import { anchoredSubject, buckets, eventsStream, readingsStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { publishReading } from '../support/log-reading.ts'
import { testNats } from '../support/nats.ts'
import {
  changeWebhook,
  publishEvent,
  putWebhook,
  rise,
  startNotifier,
} from '../support/notifier.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test.concurrent('a source continues by itself after its server was silent, not only after a time without events', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await ensureStreams(nc)
  await publishEvent(nc, rise(100, 180))
  const seen: number[] = []
  const stop = new AbortController()
  const { follow } = eventsSource({ nc, thresholdOf: () => undefined })
  const reading = (async () => {
    for await (const { sequence } of follow(1, stop.signal)) seen.push(sequence)
  })()
  // reads on after a longer time without events than it tolerates from the server
  const startMs = performance.now()
  await eventually('six seconds are over', () => performance.now() - startMs > 6_000)
  await publishEvent(nc, rise(100, 180))
  await eventually('the second one', () => seen.length === 2)
  const frozenMs = performance.now()
  nats.freeze()
  await eventually('it is silent for longer', () => performance.now() - frozenMs > 7_000)
  nats.thaw()
  await eventually('NATS accepts an event', () =>
    publishEvent(nc, rise(100, 180)).catch(() => undefined),
  )
  await eventually('the third one', () => seen.length >= 3)
  expect(seen).toEqual(seen.map((_, i) => i + 1))
  stop.abort()
  await reading
  await nc.close()
})

test.concurrent('after kills and sleeps of the server, events and readings are delivered as before', async () => {
  await using nats = await testNats({ syncAlways: true })
  using folder = temporaryFolder()
  await using receiver = await startReceiver()
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  const { id } = await putWebhook(nc, { url: receiver.url, events: ['aqi.high', 'reading.new'] })
  resources.use(await startNotifier(nats.url, folder.path))
  const arrived = (event: string) => receiver.received.filter(({ json }) => json.event === event)
  let rounds = 0
  const round = async (): Promise<void> => {
    rounds++
    await eventually('NATS accepts a reading', () =>
      publishReading(nc, rounds).catch(() => undefined),
    )
    await eventually('NATS accepts an event', () => {
      return publishEvent(nc, rise(100, 180)).catch(() => undefined)
    })
    await eventually(
      'both arrive',
      () => arrived('aqi.high').length >= rounds && arrived('reading.new').length >= rounds,
    )
  }
  await round()
  for (const how of ['kill', 'kill', 'sleep'] as const) {
    if (how === 'kill') {
      await nats.kill()
      await nats.restart()
    } else {
      nats.freeze()
      setTimeout(nats.thaw, 7_000)
    }
    await round()
  }
  const ids = new Set(receiver.received.map(({ id }) => id))
  expect(ids.size).toBeGreaterThanOrEqual(2 * rounds)
  // READINGS is trimmed up to what is needed: unmatched messages are, also while no process matches
  const last = await (await jetstreamManager(nc)).streams.info(readingsStream)
  const system = await new Kvm(nc).open(buckets.system)
  const shard = shardOf(webhookNumberOf(id) ?? 0)
  await eventually('the need is reported', async () => {
    const needed = await system.get(`needed.notifier.${shard}`)
    return needed?.json<{ readings: number }>().readings === last.state.last_seq + 1
  })
})

test.concurrent('readings that wait longer than they are cached are read from the log again', async () => {
  await using nats = await testNats()
  using folder = temporaryFolder()
  await using receiver = await startReceiver()
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  const events = ['reading.new' as const]
  const webhook = await putWebhook(nc, { url: receiver.url, events, paused: true })
  resources.use(await startNotifier(nats.url, folder.path))
  const count = 12
  for (let n = 1; n <= count; n++) await publishReading(nc, n)
  const owner = deliveryOwner(nc)
  await eventually('all wait', async () => {
    const waiting = await owner
      .list(webhook.id, { state: 'pending', limit: 50 })
      .catch(() => undefined)
    return waiting?.deliveries.filter(({ delivery }) => delivery !== '').length === count
  })
  await changeWebhook(nc, webhook, { paused: false })
  const ids = () => new Set(receiver.received.map(({ id }) => id))
  await eventually('all arrive', () => ids().size >= count)
  expect(ids().size).toBe(count)
})

test.concurrent('a batch that is anchored again in another contract is reported from there on as that says', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await ensureStreams(nc)
  const js = jetstream(nc)
  const stop = new AbortController()
  const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const
  const report = async (index: number, contract: string, root = index) => {
    const subject = anchoredSubject(index)
    const lastSubjectSequence = (await lastMessage(nc, eventsStream, subject))?.seq ?? 0
    const event: AnchoredEvent = {
      id: `anchored-${index}`,
      kind: 'anchored',
      index,
      first: 10 * index,
      last: 10 * index + 9,
      count: 1,
      root: hash(root),
      head: hash(7),
      chain_id: 99,
      contract,
      tx: hash(8),
      block: index,
      block_hash: hash(9),
      timestamp: '2026-01-01T00:00:00Z',
    }
    await js.publish(subject, JSON.stringify(event), { expect: { lastSubjectSequence } })
  }
  for (const index of [1, 2, 3]) await report(index, 'former')
  const batches = finalBatches(nc, stop.signal)
  const contractOf = async (index: number) => (await batches.endingFrom(10 * index))?.event.contract
  expect(await contractOf(2)).toBe('former')
  await report(2, 'renewed')
  // other readings than were reported are not those of the batch
  await report(3, 'renewed', 77)
  await report(4, 'renewed')
  await eventually('the last report', () => contractOf(4))
  const expected = ['former', 'renewed', 'former', 'renewed']
  expect(await Promise.all([1, 2, 3, 4].map(contractOf))).toEqual(expected)
  // and after a restart
  const again = finalBatches(nc, stop.signal)
  expect((await again.endingFrom(20))?.event.contract).toBe('renewed')
  stop.abort()
  await nc.close()
})
