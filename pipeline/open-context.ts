/** What the workers of all partitions share, from what the process has opened. */
import type { KV } from '@nats-io/kv'
import type { UsualBounds } from '../core/air/quality.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import type { Logger } from '../runtime/log.ts'
import { entriesWith } from '../runtime/nats/buckets/entries-with.ts'
import type { PackedBucket } from '../runtime/nats/buckets/packed-bucket.ts'
import type { WatchedBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { heldByAnother } from '../runtime/nats/leases.ts'
import type { Lifetime } from '../runtime/process/lifetime.ts'
import type { RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import { partitionLease } from '../schemas/system-keys.ts'
import { createCheckSignature } from './decide/check-signatures.ts'
import { createClockWatch } from './decide/clock-watch.ts'
import { createStormWatch } from './decide/storm-watch.ts'
import { thresholdsOf } from './decide/thresholds.ts'
import { Beat } from './intake/beat.ts'
import { watchMarks } from './log/border.ts'
import type { Log } from './log/commit.ts'
import type { PipelineMetrics } from './metrics.ts'
import type { NeighbourBoard } from './neighbours/reports.ts'
import type { PartitionContext } from './partition-context.ts'
import type { ExpiredReadings } from './projections/expired-readings.ts'
import type { StoreWriter } from './projections/store-writer.ts'
import type { RowsAtHand } from './rows-at-hand.ts'

type Opened = {
  readonly log: Log
  readonly atHand: RowsAtHand
  readonly logger: Logger
  readonly worker: string
  readonly holder: string
  readonly leaseKeys: KV
  readonly sensors: PackedBucket<RegisteredSensor>
  readonly webhooks: WatchedBucket<number>
  readonly existing: ExpiredReadings['existing']
  readonly writer: StoreWriter
  readonly metrics: PipelineMetrics
  readonly earliestMs: number
  readonly usual: UsualBounds
  readonly life: Lifetime
  readonly neighbours: NeighbourBoard
}

export async function openContext(opened: Opened): Promise<PartitionContext> {
  const { log, logger, worker, sensors, existing, writer, metrics, earliestMs, life } = opened
  const clock = watchClock(opened)
  const keccak = await createKeccak()
  const monotonicMs = (): number => Math.floor(performance.now())
  const isTaken = heldByAnother(opened.leaseKeys, opened.holder)
  return {
    isTaken: (partition) => isTaken(partitionLease(partition)),
    log,
    beat: new Beat(monotonicMs),
    marks: watchMarks(log),
    logger,
    worker,
    sensorOf: sensors.get,
    registryBarrier: () => untilCaughtUp(sensors, life),
    thresholds: thresholdsOf(opened.webhooks),
    keccak,
    checkSignature: createCheckSignature(keccak),
    existing,
    writer,
    storm: createStormWatch((silent) => {
      metrics.storms.inc()
      logger.error({ silent }, 'most sensors fell silent at once: offline events are held 15 min')
    }),
    wantReceipts: entriesWith(sensors, 'receipts', ({ receipts }) => receipts === true),
    metrics: {
      ...metrics,
      count: (message) => {
        metrics.count(message)
        clock.note(message)
      },
    },
    atHand: opened.atHand,
    neighbours: opened.neighbours,
    earliestMs,
    usual: opened.usual,
    nowMs: Date.now,
    monotonicMs,
    onFatal: life.fail,
  }
}

async function untilCaughtUp(
  sensors: WatchedBucket<RegisteredSensor>,
  { stopping, pause }: Lifetime,
): Promise<void> {
  while (!stopping.aborted) {
    try {
      return await sensors.barrier()
    } catch {
      await pause(250)
    }
  }
}

function watchClock({ logger, metrics }: Opened): ReturnType<typeof createClockWatch> {
  const clock = createClockWatch({
    monotonicMs: () => performance.now(),
    onChange: (isBehind, counts) => {
      if (isBehind)
        logger.error(
          counts,
          "nearly all readings are refused as `future`: is the clock of the NATS server's machine behind?",
        )
      else logger.info(counts, 'readings are no longer refused as `future`')
    },
  })
  metrics.clockBehind(clock.isBehind)
  return clock
}
