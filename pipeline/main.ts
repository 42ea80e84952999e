import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { usualBounds } from '../core/air/quality.ts'
import { sensorIdRules } from '../core/air/sensor-id.ts'
import { openArchiveFiles } from '../operate/archive/archive-files.ts'
import { archiveFolder } from '../operate/archive/archive-folder.ts'
import { expiredRows } from '../operate/archive/expired-rows.ts'
import { takeStore } from '../operate/store-copy.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { keepImage } from '../runtime/nats/buckets/keep-image.ts'
import { watchSensors } from '../runtime/nats/buckets/packed-bucket.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { watchRetention } from '../runtime/nats/retention.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { openInstance } from '../runtime/process/instance-id.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { Lifetime } from '../runtime/process/lifetime.ts'
import { readNetworkSettings } from '../runtime/process/network-settings.ts'
import {
  type ProcessContext,
  type ProcessMain,
  tryAgainIfAway,
} from '../runtime/process/process.ts'
import { parseAnySensor, parseSensor } from '../schemas/devices/registered-sensor.ts'
import { buckets } from '../schemas/subjects.ts'
import { tasks } from '../schemas/system-keys.ts'
import { openStore } from '../store/open-store.ts'
import { thresholdOf } from './decide/thresholds.ts'
import { openGauges, watchBehind } from './gauges.ts'
import { leasedJob } from './leased-job.ts'
import { LeasedWork } from './leased-work.ts'
import type { Log } from './log/commit.ts'
import { pipelineMetrics } from './metrics.ts'
import { judgeNeighbours } from './neighbours/judge-neighbours.ts'
import { neighbourOptions } from './neighbours/neighbour-options.ts'
import { followNeighbours } from './neighbours/reports.ts'
import { openContext } from './open-context.ts'
import { openWriter } from './open-writer.ts'
import { createPartitions } from './partitions.ts'
import { expiredReadings } from './projections/expired-readings.ts'
import { rollUpTask } from './projections/roll-up-task.ts'
import { keepSensorList } from './projections/sensor-list.ts'
import { parsePositions } from './projections/stored-positions.ts'
import { readRowsOf } from './read-rows.ts'
import { RowsAtHand } from './rows-at-hand.ts'

const publishTimeoutMs = 2_000

export const run: ProcessMain = tryAgainIfAway(runPipeline)

async function runPipeline({
  config,
  env,
  flags,
  log: logger,
  stop,
}: ProcessContext): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const life = new Lifetime(stop)
  const { pause, stopping } = life
  const nc = await connectNats(config, { name: 'pipeline', log: logger, stop })
  opened.defer(() => nc.close())
  const instance = openInstance(config.dataFolder, 'pipeline')
  const level = opened.use(
    await joinInstance(nc, { ...config, name: 'pipeline', id: instance.worker }),
  )
  const former = await takeStore(nc, config)
  if (former !== undefined) logger.warn(former)
  const store = opened.use(await openStore(config.store, { onNotice: (line) => logger.info(line) }))
  const registry = openMetrics('pipeline')
  const metrics = pipelineMetrics(registry)
  const rules = sensorIdRules(config.idPrefix)
  const sensors = opened.use(
    await watchSensors(nc, rules, parseSensor, (line) => logger.info(line)),
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
  const atHand = new RowsAtHand()
  const archive = openArchiveFiles(archiveFolder({ env, flags }, config.dataFolder))
  const retention = opened.use(await watchRetention(nc))
  const expired = expiredReadings({
    store,
    rows: expiredRows(archive, retention.now),
    retention,
    nowMs: Date.now,
    onUnreadable: (error) =>
      logger.error({ err: error }, `hours of a late reading stay as they were: ${error.message}`),
  })
  const readRows = readRowsOf(nc, atHand)
  const writer = openWriter({
    store,
    readRows,
    log,
    logger,
    metrics,
    rememberRefused: (partition, refused) => partitions.rememberRefused(partition, refused),
  })
  const leaseKeys = await new Kvm(nc).open(buckets.leases)
  const { id: holder, worker } = instance
  const { existing } = expired
  const opening = {
    log,
    atHand,
    logger,
    worker,
    holder,
    leaseKeys,
    sensors,
    webhooks,
    existing,
    writer,
  }
  const { earliestMs } = config
  const usual = usualBounds(readNetworkSettings({ env, flags }).usual)
  const neighbours = opened.use(followNeighbours(nc))
  const context = await openContext({ ...opening, metrics, earliestMs, usual, life, neighbours })
  const partitions = createPartitions(context, logger)
  const onFailure = (error: unknown): void =>
    logger.debug({ err: error }, 'how far the partitions are behind is looked up later')
  const looking = { nc, partitions, writer, life, onFailure }
  openGauges(registry, { ...looking, behind: watchBehind(looking), nowMs: Date.now })
  const rollUps = {
    store: expired.statistics,
    positions: system,
    readRows,
    nowMs: Date.now,
    pause,
    onFailure: (error: unknown) => logger.warn({ err: error }, 'statistics: trying again'),
  }
  const judging = neighbourOptions({ nc, sensors, pause, logger, readRows })
  const listing = {
    registry: sensors.viewedBy((value, key, _writtenMs, isFine) =>
      parseAnySensor(value, rules, key, isFine),
    ),
    store,
    nowMs: Date.now,
    pause,
    onFailure: (error: unknown) => logger.warn({ err: error }, 'the list of sensors: trying again'),
  }
  const imaging = {
    nc,
    bucket: buckets.sensors,
    held: sensors,
    onFailure: (error: unknown) =>
      logger.debug({ err: error }, 'the image of sensors: trying again'),
  }
  const jobs = new Map([
    [tasks.sensorList, leasedJob((until) => keepSensorList(listing, until), stopping)],
    [tasks.sensorsImage, leasedJob((until) => keepImage(imaging, until), stopping)],
    [tasks.rollUp, leasedJob((until) => rollUpTask(rollUps, until), stopping)],
    [tasks.neighbours, leasedJob((until) => judgeNeighbours(judging, until), stopping)],
  ])
  const held = { partitions, jobs, writer, life, logger }
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
