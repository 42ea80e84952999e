/** The log cut into batches, whoever dies and however often; and what of the log may go. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { type KeptForClients, trimLog } from '../../anchor/trim.ts'
import { type Hex, zeroHash } from '../../core/hex.ts'
import { endOf } from '../../core/proof/batch.ts'
import { chainFault, headerFault } from '../../core/proof/batch-faults.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time.ts'
import { onBroken } from '../../runtime/broken.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { openBatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { batchKey, headerKey } from '../../schemas/anchoring/batch-record.ts'
import {
  blobsStream,
  blobTopSubject,
  buckets,
  readingsStream,
  readingsSubject,
} from '../../schemas/subjects.ts'
import type { AnchorNetwork } from '../support/chain/anchor-network.ts'
import { logWriter } from '../support/chain/log-writer.ts'
import { putSnapshot } from '../support/chain/put-snapshot.ts'
import { sealing } from '../support/chain/sealing.ts'
import { sharedChain } from '../support/chain/shared-chain.ts'
import { eventually } from '../support/eventually.ts'

const chain = sharedChain()
const keccak = await createKeccak()

const headersOf = ({ batches }: AnchorNetwork): BatchHeader[] =>
  Array.from({ length: batches.last() }, (_, i) => batches.get(i + 1)?.header).flatMap((header) =>
    header === undefined ? [] : [header],
  )

/** Every fault that the headers show, by themselves and as a chain. */
const faultsOf = (headers: readonly BatchHeader[]): unknown[] =>
  headers.flatMap((header, at) => {
    const former = headers[at - 1]
    const broken = former && chainFault(endOf(former, keccak), header)
    return [headerFault(header), broken].filter((fault) => fault !== undefined)
  })

const sealedTo = (network: AnchorNetwork, last: number) =>
  eventually(`everything up to ${last} is sealed`, async () => {
    await network.batches.barrier()
    return network.batches.get(network.batches.last())?.header.last === last
  })

test('a batch is closed by its age, counted from its first reading', async () => {
  await using network = await chain.network()
  const log = logWriter(network.nc)
  await using _ = sealing(network, { intervalMs: 100 })
  const first = await log.write({ readings: 3 })
  await sealedTo(network, first)
  const second = await log.write({ readings: 2, partition: 5 })
  await sealedTo(network, second)
  const headers = headersOf(network)
  expect(headers.map(({ count }) => count)).toEqual([3, 2])
  const { nFirst = [], nLast = [] } = headers[1] ?? {}
  expect([0, 5, 6].map((p) => [nFirst[p], nLast[p]])).toEqual([
    [4, 3],
    [1, 2],
    [1, 0],
  ])
  expect(faultsOf(headers)).toEqual([])
})

test('a batch is closed by its count, at the end of a message', async () => {
  await using network = await chain.network()
  const log = logWriter(network.nc)
  for (let i = 0; i < 6; i++) await log.write({ readings: 40 })
  await using _ = sealing(network, { intervalMs: hourMs, maxReadings: 100 })
  await sealedTo(network, 6)
  expect(headersOf(network).map(({ first, last, count }) => [first, last, count])).toEqual([
    [1, 3, 120],
    [4, 6, 120],
  ])
})

test('a log read late is cut where it would have been cut in time', async () => {
  await using network = await chain.network()
  const log = logWriter(network.nc)
  const startMs = Date.now() - 24 * hourMs
  for (let i = 0; i < 36; i++) await log.write({ arrivedMs: startMs + i * 5 * minuteMs })
  await using _ = sealing(network, { intervalMs: 10 * minuteMs })
  await sealedTo(network, 36)
  const headers = headersOf(network)
  expect(headers).toHaveLength(12)
  expect(faultsOf(headers)).toEqual([])
})

test('an idle hour is a heartbeat: no reading, no root, the log as far as it goes', async () => {
  await using network = await chain.network()
  const log = logWriter(network.nc)
  await log.write({ readings: 0 })
  await log.write({ readings: 0 })
  await using _ = sealing(network, { intervalMs: 50, heartbeatMs: 300 })
  await eventually('two heartbeats', () => network.batches.last() >= 2)
  const headers = headersOf(network)
  expect(headers[0]).toMatchObject({ first: 1, last: 2, count: 0, root: zeroHash, timeMaxMs: 0 })
  expect(headers[1]).toMatchObject({ first: 3, last: 2, count: 0 })
  expect(faultsOf(headers)).toEqual([])
  expect((await (await openBatchBlobs(network.nc)).top(2))?.leaves).toBe(0)
})

test('two sealers at once cut one chain of batches', async () => {
  await using network = await chain.network()
  const log = logWriter(network.nc)
  {
    await using _one = sealing(network, { maxReadings: 70 })
    await using _other = sealing(network, { maxReadings: 110, intervalMs: 30 })
    for (let i = 0; i < 40; i++) await log.write({ readings: 25, partition: i % 3 })
    await sealedTo(network, 40)
  }
  const headers = headersOf(network)
  expect(headers.reduce((sum, { count }) => sum + count, 0)).toBe(1_000)
  expect(faultsOf(headers)).toEqual([])
})

test('stopped at any step it goes on, and nothing is sealed twice or left out', async () => {
  await using network = await chain.network()
  const log = logWriter(network.nc)
  const { batches } = network
  const steps = ['decideBoundary', 'putSealed', 'putOpen'] as const
  for (const step of steps) {
    for (const when of ['before', 'after'] as const) {
      const last = await log.write({ readings: 300 })
      const crashing = {
        ...batches,
        [step]: async (...printed: never[]) => {
          const act = batches[step] as (...words: never[]) => Promise<unknown>
          if (when === 'after') await act(...printed)
          throw new Error('killed')
        },
      }
      await using killed = sealing(network, { batches: crashing })
      await expect(killed.running).rejects.toThrow('killed')
      await using _ = sealing(network)
      await sealedTo(network, last)
    }
  }
  const headers = headersOf(network)
  expect(headers.reduce((sum, { count }) => sum + count, 0)).toBe(1_800)
  expect(faultsOf(headers)).toEqual([])
  const blobs = await openBatchBlobs(network.nc)
  for (const { index, count } of headers) expect((await blobs.top(index))?.leaves).toBe(count)
})

test('the beacon of a batch is the finalized block that was seen when it opened', async () => {
  await using network = await chain.network()
  const log = logWriter(network.nc)
  let seen: Hex = `0x${'a'.repeat(64)}`
  let opened = 0
  const beacon = (): Hex => {
    opened++
    return seen
  }
  await using _ = sealing(network, { beacon })
  await sealedTo(network, await log.write())
  // what is sealed is seen before the next batch is open
  await eventually('the next batch is open', () => opened === 1)
  seen = `0x${'b'.repeat(64)}`
  await sealedTo(network, await log.write())
  expect(headersOf(network).map(({ beacon }) => beacon)).toEqual([zeroHash, `0x${'a'.repeat(64)}`])
})

test('a hole in the log stops the sealer with words for a person', async () => {
  await using network = await chain.network()
  const log = logWriter(network.nc)
  for (let i = 0; i < 3; i++) await log.write()
  await (await jetstreamManager(network.nc)).streams.purge(readingsStream, { seq: 3 })
  await using broken = sealing(network)
  await expect(broken.running).rejects.toThrow('READINGS goes from 0 to 3')
})

/** For clients. */
const nothing: KeptForClients = { forMs: 0, bytes: 0 }

test('nothing is trimmed while a partition has no snapshot, nor past its last message', async () => {
  await using network = await chain.network()
  const log = logWriter(network.nc)
  for (let i = 0; i < 5; i++) await log.write()
  const system = await new Kvm(network.nc).open(buckets.system)
  await system.put('rollup', JSON.stringify({ position: 5, dirty: [], dirtyDays: [] }))
  expect(
    await trimLog(network.nc, system, { finalLast: 5, nowMs: Date.now(), kept: nothing }),
  ).toBe(1)
  const { state } = await (await jetstreamManager(network.nc)).streams.info(readingsStream)
  expect(state).toMatchObject({ first_seq: 1, messages: 5 })
})

test('what is anchored and read by all is trimmed, each partition keeps its last message', async () => {
  await using network = await chain.network()
  const { nc } = network
  const log = logWriter(nc)
  for (let i = 0; i < 12; i++) await log.write({ partition: i < 2 ? 3 : 0, readings: 2 })
  const system = await new Kvm(nc).open(buckets.system)
  await system.put('rollup', JSON.stringify({ position: 12, dirty: [], dirtyDays: [] }))
  await putSnapshot(nc, { partition: 3, seq: 2 })
  await putSnapshot(nc, { partition: 0, seq: 12 })
  // partition 3 was last heard at 2
  expect(await trimLog(nc, system, { finalLast: 12, nowMs: Date.now(), kept: nothing })).toBe(2)
  await log.write({ partition: 3 })
  await putSnapshot(nc, { partition: 3, seq: 13 })
  await system.put('needed.notifier.0', JSON.stringify({ readings: 5 }))
  await system.put('needed.notifier.1', JSON.stringify({ readings: null }))
  expect(await trimLog(nc, system, { finalLast: 12, nowMs: Date.now(), kept: nothing })).toBe(5)
  await system.put('needed.notifier.0', JSON.stringify({ readings: null }))
  expect(await trimLog(nc, system, { finalLast: 8, nowMs: Date.now(), kept: nothing })).toBe(9)
  expect(await trimLog(nc, system, { finalLast: 12, nowMs: Date.now(), kept: nothing })).toBe(12)
  const { state } = await (await jetstreamManager(nc)).streams.info(readingsStream)
  expect(state).toMatchObject({ first_seq: 12, messages: 2 })
  await system.delete('needed.notifier.0')
  await system.delete('needed.notifier.1')
})

test('what only others need goes after seven days: of a paused, a retired or an unreadable one', async () => {
  await using network = await chain.network()
  const { nc } = network
  const log = logWriter(nc)
  for (let i = 0; i < 12; i++) await log.write()
  const system = await new Kvm(nc).open(buckets.system)
  await system.put('rollup', JSON.stringify({ position: 12, dirty: [], dirtyDays: [] }))
  await putSnapshot(nc, { partition: 0, seq: 12 })
  const keys = { 'needed.notifier.0': '{"readings":5}', 'needed.retired': '{"readings":2}' }
  for (const [key, printed] of Object.entries(keys)) await system.put(key, printed)
  await system.put('needed.broken', '{"readings":')
  const trimAt = (nowMs: number) => trimLog(nc, system, { finalLast: 12, nowMs, kept: nothing })
  const [writtenMs, weekMs] = [Date.now(), 7 * dayMs]
  expect(await trimAt(writtenMs)).toBe(1)
  await system.put('needed.broken', '{"readings":null}')
  expect(await trimAt(writtenMs)).toBe(2)
  expect(await trimAt(writtenMs + weekMs - minuteMs)).toBe(2)
  expect(await trimAt(writtenMs + weekMs + minuteMs)).toBe(12)
  for (const key of [...Object.keys(keys), 'needed.broken']) await system.delete(key)
})

test('what is trimmable is kept for clients for some hours, within some bytes', async () => {
  await using network = await chain.network()
  const { nc } = network
  const log = logWriter(nc)
  for (let i = 0; i < 12; i++) await log.write()
  const system = await new Kvm(nc).open(buckets.system)
  await system.put('rollup', JSON.stringify({ position: 12, dirty: [], dirtyDays: [] }))
  await putSnapshot(nc, { partition: 0, seq: 12 })
  const streams = (await jetstreamManager(nc)).streams
  const { bytes } = (await streams.info(readingsStream)).state
  const trimAt = (nowMs: number, kept: KeptForClients) =>
    trimLog(nc, system, { finalLast: 10, nowMs, kept })
  const nowMs = Date.now()
  const day = { forMs: 24 * hourMs, bytes }
  expect(await trimAt(nowMs, day)).toBe(1)
  expect(await trimAt(nowMs + 24 * hourMs - minuteMs, day)).toBe(1)
  // about two of the twelve
  expect(await trimAt(nowMs, { ...day, bytes: Math.ceil((bytes * 10) / 12) })).toBe(3)
  // however few bytes there may be, nothing goes that is still needed
  expect(await trimAt(nowMs, { ...day, bytes: 0 })).toBe(11)
  expect(await trimAt(nowMs + 24 * hourMs + minuteMs, day)).toBe(11)
})

test('a partition whose last message is foreign keeps its last one of the log', async () => {
  await using network = await chain.network()
  const { nc } = network
  const log = logWriter(nc)
  for (let i = 0; i < 4; i++) await log.write()
  for (let i = 0; i < 3; i++) await jetstream(nc).publish(readingsSubject(0), 'no message of ours')
  const system = await new Kvm(nc).open(buckets.system)
  await system.put('rollup', JSON.stringify({ position: 7, dirty: [], dirtyDays: [] }))
  await putSnapshot(nc, { partition: 0, seq: 3 })
  expect(await trimLog(nc, system, { finalLast: 7, nowMs: Date.now(), kept: nothing })).toBe(4)
  await putSnapshot(nc, { partition: 0, seq: 4 })
  expect(await trimLog(nc, system, { finalLast: 7, nowMs: Date.now(), kept: nothing })).toBe(4)
})

test('a foreign message where a blob is to be is named, and the next batches are sealed', async () => {
  await using network = await chain.network()
  const { nc } = network
  const met: string[] = []
  const stop = onBroken(({ stream, subject }) => met.push(`${stream} ${subject}`))
  const log = logWriter(nc)
  await jetstream(nc).publish(blobTopSubject(1), 'foreign')
  await using _ = sealing(network)
  await sealedTo(network, await log.write())
  await sealedTo(network, await log.write())
  stop()
  expect(met).toEqual([`${blobsStream} ${blobTopSubject(1)}`])
  expect((await (await openBatchBlobs(nc)).top(2))?.leaves).toBe(1)
})

test('entries of a batch that cannot be read decide nothing and are written over', async () => {
  await using network = await chain.network()
  const { nc } = network
  const log = logWriter(nc)
  const kv = await new Kvm(nc).open(buckets.batches)
  for (const key of [batchKey(1), headerKey(2), 'open']) await kv.put(key, '{"first":')
  await using _ = sealing(network)
  await sealedTo(network, await log.write())
  await sealedTo(network, await log.write())
  expect(faultsOf(headersOf(network))).toEqual([])
  expect(headersOf(network)).toHaveLength(2)
})

test('foreign messages are in the range of a batch and bring it nothing', async () => {
  await using network = await chain.network()
  const { nc } = network
  const log = logWriter(nc)
  await log.write({ readings: 3 })
  const foreign = jetstream(nc)
  await foreign.publish(readingsSubject(0), 'no message of ours')
  await foreign.publish(readingsSubject(7), '')
  await log.write({ readings: 2 })
  await foreign.publish(readingsSubject(0), '{"v":1}')
  await using _ = sealing(network, { intervalMs: hourMs, maxReadings: 5 })
  await eventually('both messages are sealed', async () => {
    await network.batches.barrier()
    return network.batches.last() === 1
  })
  await log.write({ readings: 6 })
  await sealedTo(network, 6)
  const headers = headersOf(network)
  expect(headers.map(({ first, last, count }) => [first, last, count])).toEqual([
    [1, 4, 5],
    [5, 6, 6],
  ])
  expect(faultsOf(headers)).toEqual([])
})
