import { jetstreamManager } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLeases } from '../../runtime/nats/leases.ts'
import { eventually } from '../support/eventually.ts'
import { type TestNats, testNats } from '../support/nats.ts'

let nats: TestNats
let nc: NatsConnection
let kvm: Kvm
const opened = new AsyncDisposableStack()
beforeAll(async () => {
  nats = opened.use(await testNats())
  nc = await nats.connect()
  opened.defer(() => nc.close())
  kvm = new Kvm(nc)
})
afterAll(() => opened.disposeAsync())

let bucketCount = 0
/** @param ttl ms; short if a test waits for it */
const newBucket = (ttl = 60_000): Promise<KV> => kvm.create(`leases${++bucketCount}`, { ttl })

const shared = Array.from({ length: 16 }, (_, partition) => `partition.${partition}`)
const single = ['task.rollup']

function holderOn(
  kv: KV,
  holder: string,
  { names = shared, tasks = single, connection = nc } = {},
) {
  const seen: string[] = []
  const failures: unknown[] = []
  const leases = openLeases({
    nc: connection,
    kv,
    holder,
    shared: names,
    single: tasks,
    onHeld: (name) => seen.push(`held ${name}`),
    onRelease: async (name) => void seen.push(`released ${name}`),
    onLost: (name) => seen.push(`lost ${name}`),
    onFailure: (error) => failures.push(error),
  })
  const partitions = (): string[] => leases.held().filter((name) => name.startsWith('partition.'))
  return { ...leases, seen, failures, partitions }
}

describe('leases', () => {
  test('one holder has everything, and a second round changes nothing', async () => {
    const a = holderOn(await newBucket(), 'a')
    await a.round()
    expect(a.held().toSorted()).toEqual([...shared, ...single].toSorted())
    const { length } = a.seen
    await a.round()
    expect([a.seen.length, a.failures]).toEqual([length, []])
  })

  test('two holders share evenly, and no partition ever has two', async () => {
    const kv = await newBucket()
    const [a, b] = [holderOn(kv, 'a'), holderOn(kv, 'b')]
    await a.round()
    for (let i = 0; i < 3; i++) {
      await b.round()
      expect(a.held().filter((name) => b.held().includes(name))).toEqual([])
      await a.round()
    }
    expect([a.partitions().length, b.partitions().length]).toEqual([8, 8])
    expect(a.seen.filter((line) => line.startsWith('released'))).toHaveLength(8)
    expect([...a.seen, ...b.seen].filter((line) => line === 'held task.rollup')).toHaveLength(1)
    expect([...a.seen, ...b.seen].some((line) => line.startsWith('lost'))).toBe(false)
  })

  test('a round leaves no consumer on the server, whose stream has at most a thousand', async () => {
    const kv = await newBucket()
    const a = holderOn(kv, 'a')
    for (let i = 0; i < 3; i++) await a.round()
    const { streams } = await jetstreamManager(nc)
    const { state } = await streams.info(`KV_${(await kv.status()).bucket}`)
    expect([state.consumer_count, a.failures]).toEqual([0, []])
  })

  test('work on a partition has ended before another process may hold it', async () => {
    const kv = await newBucket()
    const ended = Promise.withResolvers<void>()
    const slow = openLeases({
      nc,
      kv,
      holder: 'a',
      shared: ['partition.0', 'partition.1'],
      single: [],
      onHeld: () => undefined,
      onRelease: () => ended.promise,
      onLost: () => undefined,
      onFailure: () => undefined,
    })
    await slow.round()
    const b = holderOn(kv, 'b', { names: ['partition.0', 'partition.1'], tasks: [] })
    await b.round()
    const giving = slow.round()
    await b.round()
    expect(b.partitions()).not.toContain('partition.1')
    ended.resolve()
    await giving
    await b.round()
    expect(b.partitions()).toContain('partition.1')
  })

  test('a process that releases all leaves nothing, and the other has everything at once', async () => {
    const kv = await newBucket()
    const [a, b] = [holderOn(kv, 'a'), holderOn(kv, 'b')]
    await a.round()
    await b.round()
    await a.releaseAll()
    expect(a.held()).toEqual([])
    await b.round()
    expect(b.held()).toHaveLength(17)
  })

  test('the leases of a process that vanishes are taken over when they have expired', async () => {
    const kv = await newBucket(1_000)
    const [a, b] = [holderOn(kv, 'a'), holderOn(kv, 'b')]
    await a.round()
    await b.round()
    expect(b.partitions()).toEqual([])
    await eventually('the survivor has all', async () => {
      await b.round()
      return b.held().length === 17
    })
    await a.round()
    expect(a.seen.filter((line) => line.startsWith('lost')).length).toBe(17)
    expect(a.held().filter((name) => b.held().includes(name))).toEqual([])
  })

  test('a restarted holder takes its own back at once', async () => {
    const kv = await newBucket()
    const before = holderOn(kv, 'a')
    await before.round()
    const after = holderOn(kv, 'a')
    await after.round()
    expect(after.held()).toHaveLength(17)
    expect(after.seen.filter((line) => line.startsWith('held'))).toHaveLength(17)
  })

  test('a lease that another process took is lost, and not taken back', async () => {
    const kv = await newBucket()
    const a = holderOn(kv, 'a')
    await a.round()
    await kv.put('partition.3', 'b')
    await a.round()
    expect(a.seen.filter((line) => line.startsWith('lost'))).toEqual(['lost partition.3'])
    expect(a.held()).not.toContain('partition.3')
    expect((await kv.get('partition.3'))?.string()).toBe('b')
    await a.releaseAll()
    expect((await kv.get('partition.3'))?.string()).toBe('b')
  })

  test('a process that lost a share takes nothing more, though others make room for it', async () => {
    const kv = await newBucket()
    const a = holderOn(kv, 'a', { tasks: [] })
    await a.round()
    await kv.put('partition.3', 'b')
    await kv.put('partition.5', 'b')
    await a.round()
    await kv.delete('partition.5')
    await a.round()
    expect(a.seen.filter((line) => line === 'held partition.5')).toHaveLength(1)
    expect(a.held()).not.toContain('partition.5')
    expect((await kv.get('partition.5'))?.operation).toBe('DEL')
  })

  test('a lease that expired and that no process took continues without a call', async () => {
    const kv = await newBucket()
    const a = holderOn(kv, 'a')
    await a.round()
    const { length } = a.seen
    await kv.delete('partition.3')
    await kv.delete('partition.4')
    await a.round()
    expect([a.held().length, a.seen.length]).toEqual([17, length])
  })

  test('while the server is unavailable leases are kept, and a failure is reported', async () => {
    await using own = await testNats()
    await using resources = new AsyncDisposableStack()
    const connection = await own.connect()
    resources.defer(() => connection.close())
    const kv = await new Kvm(connection).create('leases', { ttl: 60_000 })
    const a = holderOn(kv, 'a', { connection })
    await a.round()
    own.freeze()
    // the signal may arrive after the round's first answers
    await eventually('a failure is reported', async () => {
      await a.round()
      return a.failures.length > 0
    })
    expect(a.held()).toHaveLength(17)
    own.thaw()
    await eventually('a round without failure', async () => {
      a.failures.length = 0
      await a.round()
      return a.failures.length === 0
    })
    expect(a.seen.some((line) => line.startsWith('lost'))).toBe(false)
  })
})
