/** How far the partitions are behind, for metrics: asked of a real NATS, and scraped without it. */
import { jetstream } from '@nats-io/jetstream'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { openGauges, watchBehind } from '../../pipeline/gauges.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { rawSubject } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { sumOf } from '../support/metrics-text.ts'
import { testNats } from '../support/nats.ts'

test('what is not judged is counted by partition, and a scrape answers while NATS is away', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await ensureStreams(nc)
  for (let at = 0; at < 5; at++) await jetstream(nc).publish(rawSubject(3, 'NGR-LOS-IKJ-001'), '{}')
  const registry = new Registry()
  const at = { lastSeq: 0, n: 0, late: 0 }
  let looked = 0
  let look = async (): Promise<void> => undefined
  const watched = {
    nc,
    partitions: {
      positions: () => [
        { partition: 3, rawLast: 2, ...at },
        { partition: 4, rawLast: 0, ...at },
      ],
    },
    writer: { waitingRows: () => 0, position: () => 0 },
    life: {
      repeat: async (_ms: number, task: () => Promise<void>) => {
        look = async () => {
          await task()
          looked++
        }
        await look()
      },
    },
    logger: { debug: () => undefined },
  }
  openGauges(registry, { ...watched, behind: watchBehind(watched), nowMs: () => 0 })
  registry.setDefaultLabels({ process: 'pipeline' })
  await eventually('it has looked', () => looked === 1)
  const before = await registry.metrics()
  expect(before).toContain('airproof_unjudged_messages{partition="3",process="pipeline"} 3')
  expect(before).toContain('airproof_unjudged_messages{partition="4",process="pipeline"} 0')

  await nc.close()
  await look()
  expect(looked).toBe(2)
  expect(sumOf(await registry.metrics(), 'airproof_unjudged_messages')).toBe(3)
})
