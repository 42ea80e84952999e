import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { partitionCount, sensorIdRules } from '../core/air/sensor-id.ts'
import { TryAgain } from '../runtime/exit.ts'
import { createKeccak } from '../runtime/keccak.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { leaseRoundMs, openLeases, takenBySomeoneElse } from '../runtime/nats/leases.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { needStreams } from '../runtime/nats/streams.ts'
import { watchBucket } from '../runtime/nats/watched-bucket.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { openInstance } from '../runtime/process/instance-id.ts'
import { claimStore } from '../runtime/process/kept-store.ts'
import { tryAgainWhereAway } from '../runtime/process/process.ts'
import { parseSensor } from '../schemas/devices/registered-sensor.ts'
import { buckets } from '../schemas/subjects.ts'
import { openStore } from '../store/open-store.ts'
import { sqliteHasRows } from '../store/sqlite/has-rows.ts'
import { createClockWatch } from './clock-watch.ts'
import type { Log } from './commit.ts'
import { pipelineMetrics } from './metrics.ts'
import { createPartitions } from './partitions.ts'
import { readEntriesOf } from './read-entries.ts'
import { watchReceipts } from './receipts.ts'
import { listRefusedRows } from './refused-rows.ts'
import { runRollUps } from './roll-ups.ts'
import { startStoreWriter } from './store-writer.ts'
import { farthest, parsePositions, positionTeller } from './stored-positions.ts'
import { createStormWatch } from './storm-watch.ts'
import { thresholdOf, thresholdsOf } from './thresholds.ts'

const rollUpTask = 'task.rollup'
const partitionTask = (partition: number): string => `partition.${partition}`
const partitionOfTask = (name: string): number => Number(name.slice('partition.'.length))
const tellPositionsMs = 2_000
const publishTimeoutMs = 2_000
/** A process has 10 s to stop; connections and files are closed in what is left. */
const orderlyMs = 7_000

export const run = tryAgainWhereAway(async ({ config, log: logger, stop }) => {
  await using opened = new AsyncDisposableStack()
  const failed = Promise.withResolvers<never>()
  // whoever waits for it is below; a failure before that must not count as unhandled
  failed.promise.catch(() => undefined)
  const ending = new AbortController()
  const stopping = AbortSignal.any([stop, ending.signal])
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: stopping }).catch(() => undefined)

  const nc = await connectNats(config, { name: 'pipeline', log: logger, stop })
  opened.defer(() => nc.close())
  await needStreams(nc, config)
  const instance = openInstance(config.dataFolder, 'pipeline')
  const former = await claimStore(nc, { ...config, hasRows: sqliteHasRows })
  if (former !== undefined) logger.warn(`history stays in ${former}`)
  const store = opened.use(await openStore(config.store))
  const registry = openMetrics('pipeline')
  const metrics = pipelineMetrics(registry)
  const rules = sensorIdRules(config.idPrefix)
  const sensors = opened.use(
    await watchBucket(nc, buckets.sensors, (value, key) => parseSensor(value, rules, key)),
  )
  const webhooks = opened.use(await watchBucket(nc, buckets.webhooks, thresholdOf))
  const system = opened.use(await watchBucket(nc, buckets.system, parsePositions))

  const thresholds = thresholdsOf(webhooks)

  const log: Log = {
    nc,
    // one in flight when the server dies waits for it to the end
    js: jetstream(nc, { timeout: publishTimeoutMs }),
    pause,
    stop: stopping,
    onRetry: (error) => {
      metrics.natsRetries.inc()
      logger.debug({ err: error }, 'NATS did not take a message: trying again')
    },
  }
  const readEntries = readEntriesOf(nc)
  const writer = startStoreWriter({
    store,
    readEntries,
    onRefused: async (partition, refused) => {
      metrics.storeRefused.inc(refused.length)
      logger.error(
        { partition, rows: refused.length, why: refused[0]?.why },
        'the store refused rows',
      )
      partitions.rememberRefused(partition, refused)
      await listRefusedRows(log, partition, refused)
    },
    onFailure: (error) => {
      metrics.storeFailures.inc()
      logger.warn({ err: error }, 'the store is away: rows wait')
    },
    onWritten: (rows) => metrics.storeRows.inc(rows),
    pause,
    stop: stopping,
    batchRows: config.store.kind === 'sqlite' ? 5_000 : 2_000,
    lanes: config.store.kind === 'sqlite' ? 1 : 2,
  })
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
  metrics.gauge(
    'airproof_broker_clock_behind',
    '1: more than nine of ten readings of the last minute were refused as future: a person should look',
    () => Number(clock.isBehind()),
  )
  const leaseKeys = await new Kvm(nc).open(buckets.leases)
  const isTaken = takenBySomeoneElse(leaseKeys, instance.id)
  const partitions = createPartitions(
    {
      isTaken: (partition) => isTaken(partitionTask(partition)),
      log,
      logger,
      worker: instance.worker,
      sensorOf: sensors.get,
      registryBarrier: async () => {
        while (!stopping.aborted) {
          try {
            return await sensors.barrier()
          } catch {
            await pause(250)
          }
        }
      },
      thresholds,
      keccak: await createKeccak(),
      store,
      writer,
      storm: createStormWatch((silent) => {
        metrics.storms.inc()
        logger.error({ silent }, 'most sensors fell silent at once: offline events are held 15 min')
      }),
      wantReceipts: watchReceipts(sensors),
      metrics: {
        ...metrics,
        count: (message) => {
          metrics.count(message)
          clock.note(message)
        },
      },
      earliestMs: config.earliestMs,
      nowMs: Date.now,
      monotonicMs: () => Math.floor(performance.now()),
      onFatal: failed.reject,
    },
    logger,
  )
  metrics.gauge(
    'airproof_store_waiting_rows',
    'Rows committed and not yet stored',
    writer.waitingRows,
  )
  metrics.gauge('airproof_late_waiting', 'Deferred readings in memory', partitions.lateWaiting)

  const storedBy = async (partition: number, seq: number, until: AbortSignal): Promise<void> => {
    while (!until.aborted && farthest(system, partition) < seq) await pause(tellPositionsMs / 4)
  }
  let rollUps: { readonly stop: AbortController; readonly done: Promise<void> } | undefined
  const stopRollUps = async (): Promise<void> => {
    rollUps?.stop.abort()
    await rollUps?.done
    rollUps = undefined
  }
  const leases = openLeases({
    nc,
    kv: leaseKeys,
    holder: instance.id,
    shared: Array.from({ length: partitionCount }, (_, partition) => partitionTask(partition)),
    single: [rollUpTask],
    onHeld: (name) => {
      if (name !== rollUpTask) return partitions.take(partitionOfTask(name))
      const stopRollUp = new AbortController()
      const done = runRollUps({
        store,
        kv: system.kv,
        readEntries,
        stored: storedBy,
        nowMs: Date.now,
        pause,
        onFailure: (error) => logger.warn({ err: error }, 'statistics: trying again'),
        stop: AbortSignal.any([stopping, stopRollUp.signal]),
      })
      rollUps = { stop: stopRollUp, done }
    },
    onRelease: (name) =>
      name === rollUpTask ? stopRollUps() : partitions.give(partitionOfTask(name)),
    onLost: (name) => {
      if (name === rollUpTask) void stopRollUps()
      else failed.reject(new TryAgain(`${name} is somebody else's now: starting anew`))
    },
    onFailure: (error) => logger.warn({ err: error }, 'leases: trying again'),
  })

  const repeat = async (ms: number, task: () => Promise<void>): Promise<void> => {
    while (!stopping.aborted) {
      await task()
      await pause(ms)
    }
  }
  const tell = positionTeller(system.kv, instance.id)
  const tellPositions = (): Promise<void> =>
    tell(Object.fromEntries(partitions.numbers().map((p) => [p, writer.position(p)]))).catch(
      (error: unknown) => logger.debug({ err: error }, 'positions were not told'),
    )
  const background = Promise.all([
    repeat(leaseRoundMs, leases.round),
    repeat(tellPositionsMs, tellPositions),
  ])

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
  const stopped = new Promise<void>((resolve) => {
    if (stop.aborted) resolve()
    else stop.addEventListener('abort', () => resolve(), { once: true })
  })
  const letGo = async (): Promise<void> => {
    // a round of leases under way may still take a partition
    await background
    await stopRollUps()
    await partitions.giveAll()
    await writer.drain()
    await leases.releaseAll()
  }
  try {
    await Promise.race([stopped, failed.promise])
    // in order: take no more, commit what is under way, then let go of everything
    await Promise.race([letGo(), sleep(orderlyMs, undefined, { ref: false })])
  } finally {
    // what NATS or the store did not take in time is in RAW or in the log, and waits there
    ending.abort()
    await Promise.allSettled([background])
    await Promise.allSettled([stopRollUps(), partitions.giveAll()])
  }
})

function assertWorking(isWorking: boolean): void {
  if (!isWorking) throw new Error('not all partitions of this process are at work yet')
}
