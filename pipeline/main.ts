import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { sensorIdRules } from '../core/air/sensor-id.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { watchBucket } from '../runtime/nats/watched-bucket.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { openInstance } from '../runtime/process/instance-id.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { claimStore } from '../runtime/process/kept-store.ts'
import { Lifetime } from '../runtime/process/lifetime.ts'
import {
  type ProcessContext,
  type ProcessMain,
  tryAgainIfAway,
} from '../runtime/process/process.ts'
import { parseSensor } from '../schemas/devices/registered-sensor.ts'
import { buckets } from '../schemas/subjects.ts'
import { openStore } from '../store/open-store.ts'
import { sqliteHasRows } from '../store/sqlite/has-rows.ts'
import { thresholdOf } from './decide/thresholds.ts'
import { LeasedWork } from './leased-work.ts'
import type { Log } from './log/commit.ts'
import { pipelineMetrics } from './metrics.ts'
import { openContext } from './open-context.ts'
import { openWriter } from './open-writer.ts'
import { createPartitions } from './partitions.ts'
import { readEntriesOf } from './projections/read-entries.ts'
import { RollUpTask } from './projections/roll-up-task.ts'
import { parsePositions } from './projections/stored-positions.ts'

const publishTimeoutMs = 2_000

export const run: ProcessMain = tryAgainIfAway(runPipeline)

async function runPipeline({ config, log: logger, stop }: ProcessContext): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const life = new Lifetime(stop)
  const { pause, stopping } = life
  const nc = await connectNats(config, { name: 'pipeline', log: logger, stop })
  opened.defer(() => nc.close())
  const instance = openInstance(config.dataFolder, 'pipeline')
  const level = opened.use(
    await joinInstance(nc, { ...config, name: 'pipeline', id: instance.worker }),
  )
  const former = await claimStore(nc, { ...config, hasRows: sqliteHasRows })
  if (former !== undefined) logger.warn(`history stays in ${former}`)
  const store = opened.use(await openStore(config.store, { onNotice: (line) => logger.info(line) }))
  const registry = openMetrics('pipeline')
  const metrics = pipelineMetrics(registry)
  const rules = sensorIdRules(config.idPrefix)
  const sensors = opened.use(
    await watchBucket(nc, buckets.sensors, (value, key) => parseSensor(value, rules, key)),
  )
  const webhooks = opened.use(await watchBucket(nc, buckets.webhooks, thresholdOf))
  const system = opened.use(await watchBucket(nc, buckets.system, parsePositions))

  const log: Log = {
    nc,
    // one in flight when the server dies waits for it to the end
    js: jetstream(nc, { timeout: publishTimeoutMs }),
    level,
    pause,
    stop: stopping,
    onRetry: (error) => {
      metrics.natsRetries.inc()
      logger.debug({ err: error }, 'NATS did not take a message: trying again')
    },
  }
  const readEntries = readEntriesOf(nc)
  const writer = openWriter({
    store,
    readEntries,
    log,
    logger,
    metrics,
    rememberRefused: (partition, refused) => partitions.rememberRefused(partition, refused),
  })
  const leaseKeys = await new Kvm(nc).open(buckets.leases)
  const { id: holder, worker } = instance
  const opening = { log, logger, worker, holder, leaseKeys, sensors, webhooks, store, writer }
  const { earliestMs } = config
  const context = await openContext({ ...opening, metrics, earliestMs, life })
  const partitions = createPartitions(context, logger)
  const { gauge } = metrics
  gauge('airproof_store_waiting_rows', 'Rows committed and not yet stored', writer.waitingRows)
  gauge('airproof_late_waiting', 'Deferred readings in memory', partitions.lateWaiting)
  const rollUps = new RollUpTask({
    store,
    positions: system,
    readEntries,
    nowMs: Date.now,
    pause,
    onFailure: (error) => logger.warn({ err: error }, 'statistics: trying again'),
    stop: stopping,
  })
  const held = { partitions, rollUps, writer, life, logger }
  const work = new LeasedWork({ nc, leaseKeys, system: system.kv, holder, ...held })
  opened.use(
    await openAdmin({
      ...config.admin,
      metrics: registry,
      ready: [
        { name: 'partitions', check: () => assertWorking(partitions.areWorking()) },
        { name: 'nats', check: async () => void (await nc.rtt()) },
      ],
    }),
  )
  await life.work(work.end, work.letGo)
}

function assertWorking(isWorking: boolean): void {
  if (!isWorking) throw new Error('not all partitions of this process are at work yet')
}
