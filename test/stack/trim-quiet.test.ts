/** READINGS is trimmed past a partition that no sensor is in: its heartbeat moves its last message on. */
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { afterEach, expect, test, vi } from 'vitest'
import { trimLog } from '../../anchor/trim.ts'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { hourMs, minuteMs } from '../../core/time.ts'
import { readSnapshot } from '../../runtime/nats/read-snapshot.ts'
import { buckets, readingsStream } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { eventually } from '../support/eventually.ts'
import { testPipeline } from '../support/pipeline.ts'

afterEach(() => vi.restoreAllMocks())

test('a quiet partition keeps the log for two hours, not for ever', {
  timeout: 120_000,
}, async () => {
  let aheadMs = 0
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs)
  await using pipeline = await testPipeline()
  const { nc } = pipeline
  const manager = await jetstreamManager(nc)
  const partitions = Array.from({ length: partitionCount }, (_, at) => at)
  const lastSeq = async () => (await manager.streams.info(readingsStream)).state.last_seq
  const snapshots = () => Promise.all(partitions.map((at) => readSnapshot(nc, at)))
  /** Every partition has committed once more, and has a snapshot that knows it. */
  const beat = async () => {
    const before = await lastSeq()
    aheadMs += hourMs + minuteMs
    await eventually('heartbeats', async () => (await lastSeq()) >= before + partitionCount)
    aheadMs += minuteMs
    await eventually('snapshots', async () => {
      const states = await snapshots()
      return states.every(
        (one) =>
          one !== undefined && one.state.readingsSeq > before && one.positions.store > before,
      )
    })
    return before
  }
  const system = await new Kvm(nc).open(buckets.system)
  // an instance of level 1 was raised: no partition has more than its mark
  await pipeline.stop()
  await system.put(systemKeys.format, '{"level":3}')
  await pipeline.start()
  await eventually('marks', async () => (await lastSeq()) >= partitionCount)
  const marks = await lastSeq()
  await beat()
  const before = await beat()
  await eventually('statistics', async () => {
    const record = (await system.get(systemKeys.rollup))?.json<{ position: number }>()
    return (record?.position ?? 0) >= before
  })
  const from = await trimLog(nc, system, {
    finalLast: await lastSeq(),
    nowMs: Date.now() + hourMs,
    kept: { forMs: 0, bytes: 0 },
  })
  expect(from).toBeGreaterThan(marks)
})
