import { jetstreamManager } from '@nats-io/jetstream'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { shardOf, webhookNumberOf } from '../../core/delivery/webhook-id.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { attemptSubject, attemptsStream, ledgerStream, walSubject } from '../../schemas/subjects.ts'
import type { Attempt } from '../../schemas/webhooks/attempt.ts'
import { decodeRecords } from '../../schemas/webhooks/ledger-records.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { publishEvent, putWebhook, rise, startNotifier, testSecret } from '../support/notifier.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('an event becomes a signed POST, an attempt on record and a finished delivery', async () => {
  await using nats = await testNats()
  using folder = temporaryFolder()
  await using receiver = await startReceiver()
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  const webhook = await putWebhook(nc, { url: receiver.url })
  resources.use(await startNotifier(nats.url, folder.path))
  await publishEvent(nc, rise(100, 180))
  const [got] = await eventually(
    'it arrives',
    () => receiver.received.length > 0 && receiver.received,
  )
  expect(got?.json.event).toBe('aqi.high')
  expect(got?.json.data['threshold']).toBe(150)
  const headers = got?.headers as Record<string, string>
  new StandardWebhook(testSecret).verify(got?.body.toString() ?? '', headers)

  const manager = await jetstreamManager(nc)
  const shard = shardOf(webhookNumberOf(webhook.id) ?? 0)
  const types = await eventually('the ledger has it as done', async () => {
    const { state } = await manager.streams.info(ledgerStream(shard))
    const written: string[] = []
    for (let seq = 1; seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage(ledgerStream(shard), { seq })
      if (message?.subject === walSubject(shard))
        written.push(...decodeRecords(message.data).map(({ type }) => type))
    }
    return written.includes('done') && written
  })
  expect(types).toEqual(['epoch', 'new', 'done'])
  const stored = await eventually('the attempt is stored', async () =>
    manager.streams
      .getMessage(attemptsStream, { last_by_subj: attemptSubject(webhook.id) })
      .then((message) => message ?? undefined)
      .catch(() => undefined),
  )
  expect(stored.json<Attempt>()).toMatchObject({
    delivery: got?.id,
    outcome: 'delivered',
    attempt: 1,
    response: { status: 200, body: 'ok' },
  })
})
