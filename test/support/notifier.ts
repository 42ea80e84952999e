/** For tests of the notifier: webhooks in their bucket, events in their stream, its process. */

import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import type { LedgerRecord } from '../../core/delivery/delivery.ts'
import { shardCount, webhookIdOf } from '../../core/delivery/webhook-id.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { setWalHeaders } from '../../runtime/nats/wal-message.ts'
import { environment } from '../../runtime/process/config.ts'
import { newSecretKey, secretBox } from '../../runtime/secrets/seal-secret.ts'
import { writeKeyFingerprint } from '../../runtime/secrets/secret-key.ts'
import type { AirEvent } from '../../schemas/log/event.ts'
import type { Account } from '../../schemas/people/account.ts'
import { buckets, eventSubject, ledgerStream, walSubject } from '../../schemas/subjects.ts'
import { encodeRecords, noCursors } from '../../schemas/webhooks/ledger-records.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'
import { eventually } from './eventually.ts'
import { signInAs } from './nats.ts'

/** The vector of Standard Webhooks' own documentation. */
export const testSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
export const testKey = newSecretKey()
const box = secretBox(testKey)

type WebhookFields = Pick<
  Webhook,
  'id' | 'account' | 'url' | 'events' | 'filters' | 'active' | 'paused' | 'secrets' | 'created_at'
>

export type WebhookWishes = Partial<WebhookFields> & { readonly shard?: number }

export function makeWebhook({ shard, ...wishes }: WebhookWishes): Webhook {
  const number = randomInt(2 ** 30) * shardCount + (shard ?? randomInt(shardCount))
  const id = wishes.id ?? webhookIdOf(number)
  const at = new Date(Date.now() - 1_000).toISOString()
  return {
    id,
    account: 'acc-1',
    url: 'http://127.0.0.1:9/',
    events: ['aqi.high'],
    filters: {},
    active: true,
    paused: false,
    secrets: { current: box.seal(testSecret, id) },
    created_at: at,
    updated_at: at,
    ...wishes,
  }
}

export const sealed = (secret: string, id: string): string => box.seal(secret, id)

export async function putAccount(
  nc: NatsConnection,
  id: string,
  tier: Account['tier'] = 'premium',
): Promise<void> {
  const at = new Date().toISOString()
  const email = `${id.replaceAll(/[^\w-]/g, '')}@example.org`
  const account: Account = { id, email, name: id, tier, role: 'user', created_at: at }
  await (await new Kvm(nc).open(buckets.accounts)).put(id, JSON.stringify(account))
}

/** With its account, which is premium. */
export async function putWebhook(nc: NatsConnection, wishes: WebhookWishes): Promise<Webhook> {
  const webhook = makeWebhook(wishes)
  await putAccount(nc, webhook.account)
  const kv = await new Kvm(nc).open(buckets.webhooks)
  await kv.put(webhook.id, JSON.stringify(webhook))
  return webhook
}

export async function changeWebhook(
  nc: NatsConnection,
  webhook: Webhook,
  change: Partial<Webhook>,
): Promise<Webhook> {
  const kv = await new Kvm(nc).open(buckets.webhooks)
  const next = { ...webhook, ...change }
  await kv.put(webhook.id, JSON.stringify(next))
  return next
}

export async function readWebhook(nc: NatsConnection, id: string): Promise<Webhook | undefined> {
  const kv = await new Kvm(nc).open(buckets.webhooks)
  const entry = await kv.get(id)
  return entry?.operation === 'PUT' ? entry.json<Webhook>() : undefined
}

let eventCount = 0

const common = (sensor: string) => ({
  id: `${++eventCount}-0`,
  sensor_id: sensor,
  timestamp: new Date().toISOString(),
  area: 'Yaba',
  address: 'Herbert Macaulay Way',
})

const reading = (aqi: number) => ({
  seq: eventCount,
  timestamp: new Date().toISOString(),
  measurements: { pm25: 95.4, pm10: 130, co2: null, temperature: 29, humidity: 70 },
  aqi,
  quality: [],
  hash: `0x${'ab'.repeat(32)}`,
})

export const rise = (from: number, to: number, sensor = 'NGR-LOS-YAB-001'): AirEvent => ({
  ...common(sensor),
  kind: 'rise',
  from,
  to,
  previous_aqi: from,
  reading: reading(to),
})

export const offline = (sensor = 'NGR-LOS-YAB-001'): AirEvent => ({
  ...common(sensor),
  kind: 'offline',
  last_reading: '2026-07-01T06:00:00Z',
  offline_since: '2026-07-01T06:15:00Z',
  silence_seconds: 900,
})

export const online = (sensor = 'NGR-LOS-YAB-001'): AirEvent => ({
  ...common(sensor),
  kind: 'online',
  offline_since: '2026-07-01T06:15:00Z',
  downtime_seconds: 1_200,
  reading: reading(40),
})

export const quality = (sensor = 'NGR-LOS-YAB-001'): AirEvent => ({
  ...common(sensor),
  kind: 'quality',
  level: 'suspect',
  previous_level: 'good',
  reading: { ...reading(40), quality: ['pm_spike'] },
})

/** @returns its sequence in EVENTS */
export async function publishEvent(nc: NatsConnection, event: AirEvent): Promise<number> {
  const subject = eventSubject(event.kind, event.sensor_id)
  const ack = await jetstream(nc).publish(subject, JSON.stringify(event))
  return ack.seq
}

/** A message of a shard's ledger, as its owner writes it. */
export async function publishWal(
  nc: NatsConnection,
  shard: number,
  records: readonly LedgerRecord[],
  worker = 'another-1',
): Promise<void> {
  const subject = walSubject(shard)
  const header = headers()
  setWalHeaders(header, { worker, write: 0, cursors: noCursors }, 1)
  const last = await lastMessage(nc, ledgerStream(shard), subject)
  await jetstream(nc).publish(subject, encodeRecords(records), {
    headers: header,
    expect: { lastSubjectSequence: last?.seq ?? 0 },
  })
}

export type TestNotifier = AsyncDisposable & {
  readonly child: Child
  readonly admin: string
  readonly printed: readonly string[]
  /** A metric's value, the sum over its labels; undefined if it has none yet. */
  readonly metric: (name: string) => Promise<number | undefined>
}

const program = new URL('../../bin/airproof.mjs', import.meta.url).pathname

export async function startNotifier(
  natsUrl: string,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<TestNotifier> {
  const printed: string[] = []
  const port = await freePort()
  const operator = await connectNats({ natsUrl }, { name: 'test' })
  await writeKeyFingerprint(
    operator,
    { env: { AIRPROOF_SECRET: testKey, ...env }, flags: {} },
    folder,
  )
  await operator.close()
  const child = await startChild({
    command: process.execPath,
    args: [program, 'notifier'],
    env: {
      ...environment(),
      NATS_URL: natsUrl,
      ...signInAs('notifier'),
      AIRPROOF_DATA: join(folder),
      AIRPROOF_ADMIN_PORT: String(port),
      AIRPROOF_SECRET: testKey,
      AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1',
      ...env,
    },
    onLine: (line) => printed.push(line),
  })
  const admin = `http://127.0.0.1:${port}`
  const get = (path: string) =>
    fetch(`${admin}${path}`, { headers: { connection: 'close' } }).catch(() => undefined)
  await eventually('the notifier is ready', async () => {
    if (!child.isAlive()) throw new Error(`the notifier ended: ${printed.slice(-5).join('\n')}`)
    return (await get('/ready'))?.ok === true
  })
  return {
    child,
    admin,
    printed,
    metric: async (name) => {
      const text = (await (await get('/metrics'))?.text()) ?? ''
      const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (.+)$`, 'gm'))]
      return values.length === 0 ? undefined : values.reduce((sum, [, v]) => sum + Number(v), 0)
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGCONT')
      await child.stop()
    },
  }
}
