/** Whatever is killed or sleeps: nothing is lost, and a repeat has the same id. */
import { createHash } from 'node:crypto'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, inject, test } from 'vitest'
import { shardCount } from '../../core/delivery/webhook-id.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { buckets, ledgerStream, walHeaders, walSubject } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { publishEvent, publishWal, putWebhook, rise, startNotifier } from '../support/notifier.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function shardHolders(nc: NatsConnection): Promise<(string | undefined)[]> {
  const kv = await new Kvm(nc).open(buckets.leases)
  return await Promise.all(
    Array.from({ length: shardCount }, async (_, shard) => {
      const entry = await kv.get(`shard.${shard}`)
      return entry?.operation === 'PUT' ? entry.string() : undefined
    }),
  )
}
const digest = (body: Buffer): string => createHash('sha256').update(body).digest('hex')

test.concurrent('killed between the receiver’s 200 and our record: sent again, the same id and bytes', async () => {
  await using nats = await testNats()
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  let stopNotifier = (): void => undefined
  await using receiver = await startReceiver({
    answer: (response) => {
      // from here on it is stopped, so the receiver's answer is never written
      if (receiver.received.length === 1) stopNotifier()
      response.writeHead(200).end('ok')
    },
  })
  await putWebhook(nc, { url: receiver.url })
  const first = resources.use(await startNotifier(nats.url, folder.path))
  stopNotifier = () => first.child.kill('SIGSTOP')
  await publishEvent(nc, rise(100, 180))
  await eventually('it has arrived', () => receiver.received.length === 1)
  first.child.kill('SIGKILL')
  await first.child.exited
  resources.use(await startNotifier(nats.url, folder.path))
  const [one, two] = await eventually(
    'it arrives again',
    () => receiver.received.length > 1 && receiver.received,
  )
  expect(two?.id).toBe(one?.id)
  expect(digest(two?.body ?? Buffer.alloc(0))).toBe(digest(one?.body ?? Buffer.alloc(1)))
})

test.concurrent('two processes share the shards; each killed in turn, one asleep: nothing is lost, the old owner does not write any more', async () => {
  await using nats = await testNats()
  using folderA = temporaryFolder()
  using folderB = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  await using receiver = await startReceiver()
  // one webhook per shard, each with its own sensor
  const sensors = Array.from({ length: shardCount }, (_, shard) => `NGR-LOS-YAB-10${shard}`)
  for (const [shard, sensor_id] of sensors.entries())
    await putWebhook(nc, {
      shard,
      url: receiver.url,
      account: `acc-${shard}`,
      filters: { sensor_id },
    })
  let expected = 0
  const publishRound = async (): Promise<void> => {
    for (const sensor of sensors) await publishEvent(nc, rise(100, 180, sensor))
    expected += sensors.length
  }
  const distinct = () => new Set(receiver.received.map(({ id }) => id)).size
  const allArrive = () => eventually(`${expected} arrive`, () => distinct() === expected)
  const shared = (processes: number) =>
    eventually(`${processes} hold the shards`, async () => {
      const holders = await shardHolders(nc)
      return !holders.includes(undefined) && new Set(holders).size === processes && holders
    })

  const a = resources.use(await startNotifier(nats.url, folderA.path))
  const b = resources.use(await startNotifier(nats.url, folderB.path))
  await shared(2)
  await publishRound()
  await allArrive()

  const live = [
    { notifier: a, folder: folderA },
    { notifier: b, folder: folderB },
  ]
  for (const one of live) {
    one.notifier.child.kill('SIGKILL')
    await one.notifier.child.exited
    await publishRound()
    await allArrive()
    one.notifier = resources.use(await startNotifier(nats.url, one.folder.path))
    await shared(2)
  }

  const sleeper = live[1]?.notifier ?? b
  const before = await shardHolders(nc)
  sleeper.child.kill('SIGSTOP')
  await publishRound()
  await allArrive()
  const owners = await ownersOf(nc)
  const after = await shardHolders(nc)
  expect(after).not.toEqual(before)
  const wrote = await Promise.all(
    Array.from({ length: shardCount }, (_, shard) => lastWal(nc, shard)),
  )
  sleeper.child.kill('SIGCONT')
  // it learns by the lease or by the fence that its shard is lost, and starts again
  const exit = await sleeper.child.exited
  expect(exit.code).toBe(75)
  const now = await Promise.all(
    Array.from({ length: shardCount }, (_, shard) => lastWal(nc, shard)),
  )
  for (const [shard, last] of now.entries()) {
    expect(last.seq).toBeGreaterThanOrEqual(wrote[shard]?.seq ?? 0)
    expect(last.worker).toBe(owners[shard])
  }
  await publishRound()
  await allArrive()
  const bodies = Map.groupBy(receiver.received, ({ id }) => id)
  for (const same of bodies.values())
    expect(new Set(same.map(({ body }) => digest(body))).size).toBe(1)
})

test.concurrent('asleep between a lease and its claim: a shard that another process claimed meanwhile is left alone', async () => {
  await using nats = await testNats()
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  const kv = await new Kvm(nc).open(buckets.leases)
  const shards = Array.from({ length: shardCount }, (_, shard) => shard)
  const takeAll = () => Promise.all(shards.map((shard) => kv.put(`shard.${shard}`, 'another')))
  await takeAll()
  const { child } = resources.use(await startNotifier(nats.url, folder.path))
  const leases = await kv.watch({ key: 'shard.*' })
  await Promise.all(shards.map((shard) => kv.delete(`shard.${shard}`)))
  for await (const lease of leases)
    if (lease.operation === 'PUT' && lease.string() !== 'another') break
  child.kill('SIGSTOP')

  await takeAll()
  for (const shard of shards) await publishWal(nc, shard, [{ type: 'epoch', atMs: Date.now() }])
  child.kill('SIGCONT')
  const ended = await eventually('it ends', async () => {
    // the other process lives, however long it takes
    await takeAll()
    return child.isAlive() ? undefined : child.exited
  })
  expect(ended.code).toBe(75)
  const workers = await ownersOf(nc)
  expect(workers).toEqual(shards.map(() => 'another-1'))
})

async function lastWal(nc: NatsConnection, shard: number) {
  const last = await lastMessage(nc, ledgerStream(shard), walSubject(shard))
  return { seq: last?.seq ?? 0, worker: last?.headers?.get(walHeaders.worker) }
}
const ownersOf = (nc: NatsConnection) =>
  Promise.all(
    Array.from({ length: shardCount }, async (_, shard) => (await lastWal(nc, shard)).worker),
  )

test.concurrent('random kills of notifier and server: none lost, few repeated, each with its one id and body', async () => {
  const soak = inject('soak')
  const [events, kills] = soak ? [2_500, 40] : [150, 4]
  await using nats = await testNats({ syncAlways: true })
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  await using receiver = await startReceiver()
  const hooks = 40
  for (let i = 0; i < hooks; i++)
    await putWebhook(nc, { url: receiver.url, shard: i % shardCount, account: `acc-${i}` })
  let notifier = await startNotifier(nats.url, folder.path)
  resources.defer(() => notifier[Symbol.asyncDispose]())
  const publishing = (async () => {
    for (let i = 0; i < events; i++) {
      const event = rise(100, 180, `NGR-LOS-YAB-${String(i % 500).padStart(3, '0')}`)
      await eventually('NATS accepts it', () => publishEvent(nc, event).catch(() => undefined))
    }
  })()
  const expected = events * hooks
  const distinct = () => new Set(receiver.received.map(({ id }) => id)).size
  for (let kill = 0; kill < kills; kill++) {
    const target = (expected * (kill + 1)) / (kills + 2)
    await eventually('some more arrive', () => distinct() >= target, { withinMs: 600_000 })
    if (kill % 2 === 0) {
      notifier.child.kill('SIGKILL')
      await notifier.child.exited
      notifier = await startNotifier(nats.url, folder.path)
    } else {
      await nats.kill()
      await nats.restart()
    }
  }
  await publishing
  await eventually('all arrive', () => distinct() === expected, { withinMs: 600_000 })
  const bodies = Map.groupBy(receiver.received, ({ id }) => id)
  for (const same of bodies.values())
    expect(new Set(same.map(({ body }) => digest(body))).size).toBe(1)
  const repeats = receiver.received.length - expected
  // at most the attempts under way or not written yet at each kill
  expect(repeats).toBeLessThanOrEqual(soak ? expected * 0.005 : kills * (hooks * 4 + 64))
}, 1_800_000)
