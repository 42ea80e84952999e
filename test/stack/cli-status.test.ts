import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openRawPublisher } from '../../cli/raw-publisher.ts'
import { statusLines } from '../../cli/status.ts'
import { partitionOf } from '../../core/sensor-id.ts'
import { readStatus } from '../../runtime/status-report.ts'
import { ensureStreams } from '../../runtime/streams.ts'
import { buckets } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { type TestNats, testNats } from '../support/nats.ts'
import { playPipeline } from '../support/played-pipeline.ts'

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

const sensor = 'NGR-LOS-IKJ-017'
const partition = partitionOf(sensor)

const publish = async (count: number): Promise<void> => {
  await using publisher = openRawPublisher(nc)
  for (let i = 0; i < count; i++) {
    const timestamp = new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString()
    await publisher.publish(sensor, JSON.stringify({ timestamp, pm25: i }))
  }
  await publisher.drain()
}

it('shows what waits in each stage, and what does not any more', async () => {
  await publish(3)
  const waiting = await readStatus(nc, { lookMs: 1 })
  expect(waiting.partitions[partition]).toEqual({
    partition,
    raw: 3,
    unjudged: 3,
    accepted: 0,
    log_seq: 0,
    log_time: null,
    unstored: 0,
    worker: null,
  })
  {
    await using _pipeline = await playPipeline(nc)
    await eventually('the played pipeline has judged them', async () => {
      const { partitions } = await readStatus(nc, { lookMs: 1 })
      return partitions[partition]?.unjudged === 0
    })
  }
  const kv = await new Kvm(nc).open(buckets.system)
  await kv.put('stored.one', JSON.stringify({ [partition]: 1 }))
  await kv.put('stored.two', JSON.stringify({ [partition]: 2 }))
  const judged = await readStatus(nc, { lookMs: 1 })
  expect(judged.partitions[partition]).toMatchObject({
    raw: 3,
    unjudged: 0,
    accepted: 3,
    log_seq: 3,
    // the farthest that any process has told
    unstored: 1,
  })
  expect(judged.readings).toMatchObject({ last_seq: 3, messages: 3 })
  expect(judged.partitions.filter(({ raw }) => raw === 0)).toHaveLength(15)
})

it('says how fast readings come in while it looks', async () => {
  let isLooking = true
  const report = readStatus(nc, { lookMs: 100 }).finally(() => {
    isLooking = false
  })
  while (isLooking) await publish(5)
  expect((await report).rates.raw).toBeGreaterThan(0)
})

it('fits one screen, and says where nobody works', async () => {
  const lines = statusLines(await readStatus(nc, { lookMs: 1 }), { up: 7 })
  expect(lines.length).toBeLessThanOrEqual(30)
  expect(lines[0]).toBe('processes  up 7')
  expect(lines.join('\n')).toContain('nobody works on 16 of 16 partitions')
  for (const line of lines) expect(line.length).toBeLessThan(110)
})
