/** What the owner of a failing webhook is mailed: sealed in stream MAIL, once. */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shardOf, webhookNumberOf } from '../../core/delivery/webhook-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs, hourMs, secondMs } from '../../core/time.ts'
import { sealedMail } from '../../runtime/nats/mail-queue.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { secretBox } from '../../runtime/secrets/seal-secret.ts'
import type { Mail } from '../../schemas/people/mail.ts'
import { laneSubject, mailStream } from '../../schemas/subjects.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'
import { eventually } from '../support/eventually.ts'
import { type TestNats, testNats } from '../support/nats.ts'
import {
  changeWebhook,
  publishEvent,
  publishWal,
  putWebhook,
  readWebhook,
  rise,
  startNotifier,
  testKey,
} from '../support/notifier.ts'
import { startReceiver } from '../support/receiver.ts'
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

/** The mails that wait to be sent, sealed and opened. */
async function mails(): Promise<{ readonly sealed: string; readonly mail: Mail }[]> {
  const { streams } = await jetstreamManager(nc)
  const { state } = await streams.info(mailStream)
  const waiting: { sealed: string; mail: Mail }[] = []
  for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
    const message = await streams.getMessage(mailStream, { seq })
    if (message?.subject !== laneSubject('alert')) continue
    const sealed = message.string()
    waiting.push({ sealed, mail: JSON.parse(secretBox(testKey).open(sealed, sealedMail)) as Mail })
  }
  return waiting
}

const mailsOf = async ({ id }: Webhook): Promise<Mail[]> =>
  (await mails()).map(({ mail }) => mail).filter(({ data }) => data['webhook'] === id)

/** Writes into the ledger, before the shard has an owner, since when the endpoint fails. */
async function failingSince(webhook: Webhook, sinceMs: number, lastMs: number): Promise<void> {
  const number = webhookNumberOf(webhook.id) ?? 0
  const change = {
    op: 'health',
    failures: 30,
    firstFailureMs: sinceMs,
    lastFailureMs: lastMs,
  } as const
  await publishWal(nc, shardOf(number), [{ type: 'hook', webhook: number, change }])
}

test('at a day of failures, at five, and at a 410 the owner gets a mail; nothing else does', async () => {
  using folder = temporaryFolder()
  await using receiver = await startReceiver({
    answer: (response, { path }) => void response.writeHead(path === '/gone' ? 410 : 500).end(),
  })
  const origin = new URL(receiver.url).origin
  const nowMs = Math.floor(Date.now() / secondMs) * secondMs
  const put = (path: string, shard: number) =>
    putWebhook(nc, { url: `${origin}${path}`, account: `acc-${shard}`, shard })
  const young = await put('/young', 0)
  const dayOld = await put('/services/c2VjcmV0?token=c2VjcmV0', 1)
  const fiveDays = await put('/five', 2)
  const gone = await put('/gone', 3)
  await failingSince(young, nowMs - 2 * hourMs, nowMs - hourMs)
  await failingSince(dayOld, nowMs - 25 * hourMs, nowMs - 2 * hourMs)
  await failingSince(fiveDays, nowMs - 5 * dayMs - hourMs, nowMs - hourMs)
  {
    await using _ = await startNotifier(nats.url, folder.path)
    await publishEvent(nc, rise(100, 180))
    const [warning] = await eventually('the warning', async () => {
      const sent = await mailsOf(dayOld)
      return sent.length > 0 && sent
    })
    expect(warning).toEqual({
      kind: 'webhook_failing',
      to: { account: dayOld.account },
      data: {
        webhook: dayOld.id,
        url: `${origin}/services…`,
        description: '',
        failures: 31,
        since: formatIso(nowMs - 25 * hourMs),
        last_failure: expect.stringMatching(/Z$/),
        hours: 25,
      },
    })
    const [end] = await eventually('the end of the five days', async () => {
      const sent = await mailsOf(fiveDays)
      return sent.length > 0 && sent
    })
    expect(end).toMatchObject({
      kind: 'webhook_disabled',
      data: { reason: 'failing', failures: 31, since: formatIso(nowMs - 5 * dayMs - hourMs) },
    })
    const [last] = await eventually('the 410', async () => {
      const sent = await mailsOf(gone)
      return sent.length > 0 && sent
    })
    expect(last).toMatchObject({ kind: 'webhook_disabled', data: { reason: 'gone' } })
    for (const one of [fiveDays, gone])
      await eventually('it is disabled', async () => {
        return (await readWebhook(nc, one.id))?.disabled?.reason
      })
    await eventually('the young one was tried too', () =>
      receiver.received.some(({ path }) => path === '/young'),
    )
    // as if it had been killed between the mail and the disabling
    await changeWebhook(nc, gone, { active: true })
    const before = receiver.received.filter(({ path }) => path === '/gone').length
    await eventually('it is disabled again', async () => {
      await publishEvent(nc, rise(100, 180))
      const isAttempted = receiver.received.filter(({ path }) => path === '/gone').length > before
      return isAttempted && (await readWebhook(nc, gone.id))?.active === false
    })
  }
  expect(await mailsOf(young)).toEqual([])
  expect(await mailsOf(gone)).toHaveLength(1)
  expect(await mailsOf(fiveDays)).toHaveLength(1)
  for (const { sealed } of await mails()) expect(sealed).toMatch(/^v1\.[\w-]+$/)
  expect(JSON.stringify(await mails())).not.toMatch(/c2VjcmV0|whsec_/)
})
