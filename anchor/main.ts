import { Kvm } from '@nats-io/kv'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { openInstance } from '../runtime/process/instance-id.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { LeasedTask } from '../runtime/process/leased-task.ts'
import { Lifetime } from '../runtime/process/lifetime.ts'
import { tryAgainIfAway } from '../runtime/process/process.ts'
import { buckets } from '../schemas/subjects.ts'
import { alivePrefixes, tasks } from '../schemas/system-keys.ts'
import { readAnchorConfig } from './config.ts'
import { readKeyFile } from './deploy/key-file.ts'
import { anchorMetrics } from './metrics.ts'
import { openRecords } from './open-records.ts'
import { openWork } from './open-work.ts'

export const run = tryAgainIfAway(async ({ config, env, flags, log, stop }) => {
  const settings = readAnchorConfig({ env, flags }, config.dataFolder)
  const account = readKeyFile(settings.keyFile)
  await using opened = new AsyncDisposableStack()
  const life = new Lifetime(stop)

  const nc = await connectNats(config, { name: 'anchor', log, stop })
  opened.defer(() => nc.close())
  const instance = openInstance(config.dataFolder, 'anchor')
  opened.use(await joinInstance(nc, { ...config, name: 'anchor', id: instance.worker }))
  const kvm = new Kvm(nc)
  const keccak = await createKeccak()
  const records = await openRecords({ nc, kvm, settings, keccak, life, stop, log }, opened)
  const registry = openMetrics('anchor')
  const metrics = anchorMetrics(registry, Date.now)
  const system = await kvm.open(buckets.system)
  const working = { ...records, nc, settings, account, keccak, system, metrics, life, stop, log }

  // two at once do no harm
  const work = new LeasedTask({
    start: await openWork({ ...working, nowMs: Date.now }),
    task: tasks.anchor,
    // the pipelines count who is alive among themselves
    aliveAs: alivePrefixes.anchor,
    nc,
    leaseKeys: await kvm.open(buckets.leases),
    holder: instance.id,
    life,
    log,
  })

  opened.use(
    await openAdmin({
      ...config.admin,
      metrics: registry,
      ready: [{ name: 'nats', check: async () => void (await nc.rtt()) }],
    }),
  )
  await life.work(work.end)
})
