/** Entries of buckets that cannot be read: counted, named, and never a permission. */
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { hashOfToken, newToken } from '../../dashboard/server/cookies.ts'
import { openSessions } from '../../dashboard/server/sessions.ts'
import { openCredentialBook } from '../../gate/credential-book.ts'
import { createAccount, listAccounts, openAccountBook } from '../../operate/account-book.ts'
import { type Broken, onBroken } from '../../runtime/broken.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { readDeployment, readDeployments } from '../../runtime/nats/read-deployments.ts'
import { bucketStream } from '../../runtime/nats/streams/stream-table.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { parseCredential } from '../../schemas/devices/credential.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { entryOf, testPipeline } from '../support/pipeline.ts'

async function open() {
  await using opened = new AsyncDisposableStack()
  const nats = opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const met: Broken[] = []
  opened.defer(onBroken((broken) => met.push(broken)))
  const closing = opened.move()
  const kvm = new Kvm(nc)
  const put = async (bucket: string, key: string, text: string): Promise<void> =>
    void (await (await kvm.open(bucket)).put(key, text))
  return { nc, kvm, met, put, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

test('a watch that ends leaves no consumer: a stream has room for a thousand', async () => {
  await using city = await open()
  const { nc } = city
  const manager = await jetstreamManager(nc)
  const consumers = async (): Promise<number> =>
    (await manager.streams.info(bucketStream(buckets.credentials))).state.consumer_count
  await using _open = await watchBucket(nc, buckets.credentials, parseCredential)
  for (let looks = 0; looks < 3; looks++) {
    await using _ = await watchBucket(nc, buckets.credentials, parseCredential)
    expect(await consumers()).toBe(2)
  }
  expect(await consumers()).toBe(1)
})

test('a watch leaves out a broken entry, reports it once, and has it when it is right again', async () => {
  await using city = await open()
  const { nc, met, put } = city
  await put(buckets.credentials, 'one', '{"hash":')
  await using first = await watchBucket(nc, buckets.credentials, parseCredential)
  await using second = await watchBucket(nc, buckets.credentials, parseCredential)
  expect([first.size(), second.size(), first.isBroken('one')]).toEqual([0, 0, true])
  expect(met).toEqual([{ stream: 'KV_credentials', seq: 1, subject: 'one', why: 'it is not JSON' }])
  await put(buckets.credentials, 'one', '{"hash":"x"}')
  await first.barrier()
  expect(met.slice(1)).toMatchObject([{ seq: 2, why: expect.stringContaining('required') }])
  const hash = 'a'.repeat(64)
  await put(
    buckets.credentials,
    'one',
    JSON.stringify({ hash, created_at: '2026-01-01T00:00:00Z' }),
  )
  await first.barrier()
  expect([first.get('one')?.hash, first.isBroken('one'), met.length]).toEqual([hash, false, 2])
})

test.each(['{', '5', 'null', '{}', '[]', '{"hash":"","created_at":""}'])(
  'with %s as its credential a sensor is not let in',
  async (text) => {
    await using city = await open()
    await city.put(buckets.credentials, 'NGR-LOS-IKJ-017', text)
    await using book = await openCredentialBook(city.nc)
    expect(book.mayStay('NGR-LOS-IKJ-017')).toBe(false)
    expect(book.untilMs('NGR-LOS-IKJ-017', '')).toBeUndefined()
    expect(['mistyped', 'unknown']).toContain(book.check('NGR-LOS-IKJ-017', ''))
  },
)

test.each(['{', '5', 'null', '{}', '{"id":"s","account":"acc_1","created_at":"x","seen_at":"x"}'])(
  'with %s as its entry a session is none',
  async (text) => {
    await using city = await open()
    const token = newToken()
    await city.put(buckets.sessions, hashOfToken(token), text)
    const account = {
      id: 'acc_1',
      email: 'a@b.example',
      name: 'A',
      tier: 'free',
      role: 'operator',
      created_at: '2026-01-01T00:00:00Z',
    } as const
    await using sessions = await openSessions({
      nc: city.nc,
      findAccount: () => account,
      nowMs: Date.now,
    })
    expect(await sessions.findOrLook(token)).toBeUndefined()
  },
)

test('accounts are listed without one that is broken', async () => {
  await using city = await open()
  const book = await openAccountBook(city.nc)
  const nowMs = Date.now()
  const made = await createAccount(book, { email: 'a@b.example', name: 'A', tier: 'free', nowMs })
  for (const [i, text] of ['{', 'null', '5', '{}'].entries())
    await city.put(buckets.accounts, `acc_broken${i}`, text)
  expect(await listAccounts(book)).toEqual([made])
  expect(city.met).toHaveLength(4)
})

test('a deployment that cannot be read stops the anchor, so that no other contract is made', async () => {
  await using city = await open()
  const anchoring = await city.kvm.open(buckets.anchoring)
  expect(await readDeployment(anchoring)).toBeUndefined()
  for (const text of ['{', 'null', '{"chainId":1}']) {
    await anchoring.put('deployment', text)
    await expect(readDeployment(anchoring)).rejects.toThrow('cannot be read: restore it')
  }
  const first = {
    chainId: 1,
    genesisHash: `0x${'1'.repeat(64)}`,
    contract: `0x${'2'.repeat(40)}`,
    block: 1,
  }
  await anchoring.put('deployment', JSON.stringify(first))
  expect(await readDeployments(anchoring)).toEqual([first])
  // one of version 1 in the place of one of version 2 does not say what it goes on from
  for (const entry of ['{', first, { ...first, version: 2 }]) {
    await anchoring.put('deployment.2', JSON.stringify(entry))
    await expect(readDeployments(anchoring)).rejects.toThrow('`deployment.2` of bucket')
  }
})

test('statistics whose record cannot be read are computed again', async () => {
  await using pipeline = await testPipeline()
  await pipeline.register(entryOf('NGR-LOS-IKJ-017'))
  await pipeline.stop()
  const system = await new Kvm(pipeline.nc).open(buckets.system)
  await system.put(systemKeys.rollup, '{"position":')
  await pipeline.start()
  await pipeline.publish('NGR-LOS-IKJ-017', { timestamp: new Date().toISOString(), pm25: 12 })
  const log = await pipeline.judged()
  expect(log).toHaveLength(1)
  await eventually('they have read to the end', async () => {
    const text = (await system.get(systemKeys.rollup))?.string() ?? ''
    return text.startsWith('{"position":1,')
  })
})
