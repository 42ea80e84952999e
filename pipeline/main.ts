import { setFlagsFromString } from 'node:v8'
import { Kvm } from '@nats-io/kv'
import { usualBounds } from '../core/air/quality.ts'
import { sensorIdRules } from '../core/air/sensor-id.ts'
import { archiveFolder } from '../operate/archive/archive-folder.ts'
import { takeStore } from '../operate/store-copy.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { watchSensors } from '../runtime/nats/buckets/packed-bucket.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { openInstance } from '../runtime/process/instance-id.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { Lifetime } from '../runtime/process/lifetime.ts'
import { readNetworkSettings } from '../runtime/process/network-settings.ts'
import { tryAgainIfAway } from '../runtime/process/process.ts'
import { parseSensor } from '../schemas/devices/registered-sensor.ts'
import { buckets } from '../schemas/subjects.ts'
import { openStore } from '../store/open-store.ts'
import { thresholdOf } from './decide/thresholds.ts'
import { openGauges, watchBehind } from './gauges.ts'
import { LeasedWork } from './leased-work.ts'
import { pipelineMetrics } from './metrics.ts'
import { followNeighbours } from './neighbours/reports.ts'
import { openContext } from './open-context.ts'
import { openHistory } from './open-history.ts'
import { openJobs } from './open-jobs.ts'
import { openLog } from './open-log.ts'
import { openWriter } from './open-writer.ts'
import { createPartitions } from './partitions.ts'
import { parsePositions } from './projections/stored-positions.ts'
import { readRowsOf } from './read-rows.ts'
import { RowsAtHand } from './rows-at-hand.ts'

export const run = tryAgainIfAway(async ({ config, env, flags, log: logger, stop }) => {
  // the threads that would help with young objects mostly wait for one another, busily (decision 63)
  setFlagsFromString('--no-parallel-scavenge')
  await using opened = new AsyncDisposableStack()
  const life = new Lifetime(stop)
  const nowMs = Date.now
  const onNotice = (line: string): void => logger.info(line)
  const nc = await connectNats(config, { name: 'pipeline', log: logger, stop })
  opened.defer(() => nc.close())
  const { id: holder, worker } = openInstance(config.dataFolder, 'pipeline')
  const level = opened.use(await joinInstance(nc, { ...config, name: 'pipeline', id: worker }))
  const former = await takeStore(nc, config)
  if (former !== undefined) logger.warn(former)
  const store = opened.use(await openStore(config.store, { onNotice }))
  const registry = openMetrics('pipeline')
  const metrics = pipelineMetrics(registry)
  const rules = sensorIdRules(config.idPrefix)
  const sensors = opened.use(await watchSensors(nc, rules, parseSensor, onNotice))
  const webhooks = opened.use(await watchBucket(nc, buckets.webhooks, thresholdOf))
  const positions = opened.use(await watchBucket(nc, buckets.system, parsePositions))
  const leaseKeys = await new Kvm(nc).open(buckets.leases)
  const neighbours = opened.use(followNeighbours(nc))
  const log = openLog({ nc, level, metrics, life, logger })
  const folder = archiveFolder({ env, flags }, config.dataFolder)
  const { existing, statistics } = await openHistory({ nc, store, folder, nowMs, logger }, opened)
  const atHand = new RowsAtHand()
  const readRows = readRowsOf(nc, atHand)
  const writer = openWriter({ store, readRows, log, logger, metrics, partitions: () => partitions })
  const usual = usualBounds(readNetworkSettings({ env, flags }).usual)
  const judging = { sensors, webhooks, existing, neighbours, earliestMs: config.earliestMs, usual }
  const own = { worker, holder, leaseKeys, log, atHand, writer, metrics, life, logger }
  const context = await openContext({ ...own, ...judging })
  const partitions = createPartitions(context, logger)
  const held = { nc, partitions, writer, life, logger }
  openGauges(registry, { ...held, behind: watchBehind(held), nowMs })
  const reading = { rules, sensors, store, statistics, positions, readRows, nowMs }
  const jobs = openJobs({ nc, ...reading, life, logger })
  const work = new LeasedWork({ ...held, jobs, leaseKeys, system: positions.kv, holder })
  const ready = [
    { name: 'partitions', check: partitions.assertWorking },
    { name: 'nats', check: async () => void (await nc.rtt()) },
  ]
  opened.use(await openAdmin({ ...config.admin, metrics: registry, ready }))
  await life.work(work.end, work.letGo)
})
