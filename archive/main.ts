/** The archive: every reading that is final, in files that prove themselves complete. */
import { Kvm } from '@nats-io/kv'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { openInstance } from '../runtime/process/instance-id.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { assertKeptStore } from '../runtime/process/kept-store.ts'
import { LeasedTask } from '../runtime/process/leased-task.ts'
import { Lifetime } from '../runtime/process/lifetime.ts'
import { tryAgainIfAway } from '../runtime/process/process.ts'
import { buckets } from '../schemas/subjects.ts'
import { alivePrefixes, tasks } from '../schemas/system-keys.ts'
import { openStore } from '../store/open-store.ts'
import { readArchiveConfig } from './config.ts'
import { archiveMetrics } from './metrics.ts'
import { openArchiving } from './open-archiving.ts'

export const run = tryAgainIfAway(async ({ config, env, flags, log, stop }) => {
  const settings = readArchiveConfig({ env, flags }, config.dataFolder)
  await using opened = new AsyncDisposableStack()
  const life = new Lifetime(stop)

  const nc = await connectNats(config, { name: 'archive', log, stop })
  opened.defer(() => nc.close())
  const instance = openInstance(config.dataFolder, 'archive')
  opened.use(await joinInstance(nc, { ...config, name: 'archive', id: instance.worker }))
  await assertKeptStore(nc, config)
  const store = opened.use(await openStore(config.store, { readOnly: true }))
  const kvm = new Kvm(nc)
  const registry = openMetrics('archive')
  const archiving = openArchiving({
    nc,
    store,
    openWriter: () => openStore(config.store),
    settings,
    keccak: await createKeccak(),
    system: await kvm.open(buckets.system),
    metrics: archiveMetrics(registry),
    nowMs: Date.now,
    life,
    log,
  })
  const work = new LeasedTask({
    start: archiving.start,
    task: tasks.archive,
    aliveAs: alivePrefixes.archive,
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
      ready: [
        { name: 'store', check: store.ping },
        { name: 'nats', check: async () => void (await nc.rtt()) },
      ],
    }),
  )
  await life.work(work.end)
})
