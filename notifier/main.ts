/** The notifier: owns shards of deliveries, which processes share by lease. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Kvm } from '@nats-io/kv'
import { openMetrics } from '../runtime/metrics.ts'
import { leaseRoundMs } from '../runtime/nats/leases.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { openInstance } from '../runtime/process/instance-id.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { tryAgainIfAway } from '../runtime/process/process.ts'
import { stopped } from '../runtime/process/stop-signal.ts'
import { openSecretBox } from '../runtime/secrets/secret-key.ts'
import { buckets } from '../schemas/subjects.ts'
import { readNotifierConfig } from './config.ts'
import { openGauges } from './gauges.ts'
import { openNeeds } from './needs.ts'
import { openContext } from './open-context.ts'
import { openShardLeases } from './shard-leases.ts'
import { createShards, type Shards } from './shards.ts'

/** A process has 10 s to stop; connections are closed in the time that is left. */
const orderlyMs = 8_000
const reportNeededMs = 10_000

export const run = tryAgainIfAway(async ({ config, env, flags, log: logger, stop }) => {
  await using opened = new AsyncDisposableStack()
  const settings = readNotifierConfig({ env, flags })
  const failed = Promise.withResolvers<never>()
  // awaited below; a failure before that must not count as unhandled
  failed.promise.catch(() => undefined)
  const ending = new AbortController()
  const pause = (ms: number, until = ending.signal): Promise<void> =>
    sleep(ms, undefined, { signal: until }).catch(() => undefined)

  const nc = await connectNats(config, { name: 'notifier', log: logger, stop })
  opened.defer(() => nc.close())
  const instance = openInstance(config.dataFolder, 'notifier')
  opened.use(await joinInstance(nc, { ...config, name: 'notifier', id: instance.worker }))
  const box = await openSecretBox(nc, { env, flags }, config.dataFolder)
  const registry = openMetrics('notifier')
  const kv = await new Kvm(nc).open(buckets.leases)
  const { idPrefix } = config
  const shared = { nc, settings, idPrefix, instance, box, leases: kv, registry, opened }
  const working = {
    stop: ending.signal,
    onFatal: failed.reject,
    onNeeds: () => void needs.report(),
  }
  const context = await openContext({ ...shared, ...working, pause, logger })
  const shards: Shards = createShards(context, logger)
  const needs = openNeeds(await new Kvm(nc).open(buckets.system), shards.all, logger)
  openGauges(context.metrics, { ...context, shards: shards.all })
  const owning = { shards, ending: ending.signal, onLost: failed.reject, logger }
  const leases = openShardLeases({ ...owning, nc, kv, holder: instance.id })

  const either = AbortSignal.any([stop, ending.signal])
  const repeat = async (ms: number, task: () => Promise<void>): Promise<void> => {
    for (; !either.aborted; await pause(ms, either)) await task()
  }
  const background = [repeat(leaseRoundMs, leases.round), repeat(reportNeededMs, needs.report)]
  const ready = [
    { name: 'shards', check: shards.assertWorking },
    { name: 'nats', check: async () => void (await nc.rtt()) },
  ]
  opened.use(await openAdmin({ ...config.admin, metrics: registry, ready }))
  try {
    await Promise.race([stopped(stop), failed.promise])
    // in order: start no attempts, write how those under way ended, then close everything
    const letGo = shards.giveAll().then(leases.releaseAll)
    await Promise.race([letGo, sleep(orderlyMs, undefined, { ref: false })])
  } finally {
    // a result that was not written is tried again, by us or by the shard's next owner
    ending.abort()
    await Promise.allSettled([...background, shards.giveAll()])
  }
})
