import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWebhookClaims, type WebhookClaims } from '../../api/webhooks/claims.ts'
import { mostWebhooks } from '../../api/webhooks/webhook-error.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { buckets } from '../../schemas/subjects.ts'
import { type TestNats, testNats } from '../support/nats.ts'

let nats: TestNats
let nc: NatsConnection
beforeAll(async () => {
  nats = await testNats()
  nc = await nats.connect()
  await ensureStreams(nc)
})
afterAll(async () => {
  await nc.close()
  await nats[Symbol.asyncDispose]()
})

let accounts = 0
/** Two processes' claims for a new account, whose webhooks and clock the test sets. */
async function claimers() {
  const account = `acc_${++accounts}`
  const created = new Set<string>()
  const clock = { nowMs: 1_000_000 }
  const kv = await new Kvm(nc).open(buckets.system)
  const claims = (): WebhookClaims =>
    createWebhookClaims({ kv, idsOf: async () => created, nowMs: () => clock.nowMs })
  return { account, created, clock, here: claims(), there: claims() }
}
const ids = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, i) => `wh_${from + i}`)

test('claims count before their webhooks exist, in every process', async () => {
  const { account, here, there } = await claimers()
  const tries = await Promise.allSettled(
    ids(30).map((id, i) => (i % 2 === 0 ? here : there).claim(account, id)),
  )
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(mostWebhooks)
})

test('a webhook that was never written frees its place after a minute, one that was written never does', async () => {
  const { account, created, clock, here, there } = await claimers()
  for (const id of ids(mostWebhooks)) await here.claim(account, id)
  for (const id of ids(mostWebhooks - 1)) created.add(id)
  clock.nowMs += 59_999
  await expect(there.claim(account, 'wh_late')).rejects.toMatchObject({ code: 'too_many_webhooks' })
  clock.nowMs += 1
  await there.claim(account, 'wh_late')
  await expect(here.claim(account, 'wh_later')).rejects.toMatchObject({ code: 'too_many_webhooks' })
})

test('the same id is claimed once, and released once', async () => {
  const { account, here, there } = await claimers()
  for (const id of ids(mostWebhooks)) await here.claim(account, id)
  await there.claim(account, 'wh_0')
  await there.release(account, 'wh_0')
  await here.release(account, 'wh_0')
  await here.claim(account, 'wh_new')
  await expect(here.claim(account, 'wh_0')).rejects.toMatchObject({ status: 409 })
})

test('webhooks that were created without a claim count too', async () => {
  const { account, created, here } = await claimers()
  for (const id of ids(mostWebhooks)) created.add(id)
  await expect(here.claim(account, 'wh_new')).rejects.toMatchObject({ status: 409 })
})
