/** The archive: every reading that is final, in files that prove themselves complete. */
import { Kvm } from '@nats-io/kv'
import { createKeccak } from '../runtime/keccak.ts'
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
import { archiveOnce } from './archive-once.ts'
import { Archiving } from './archiving.ts'
import { readArchiveConfig } from './config.ts'
import { Expiry } from './expire.ts'
import { archiveMetrics } from './metrics.ts'
import { noteChange } from './note-change.ts'
import { Retaining } from './retaining.ts'

export const run = tryAgainIfAway(async ({ config, env, flags, log, stop }) => {
  const settings = readArchiveConfig({ env, flags }, config.dataFolder)
  await using opened = new AsyncDisposableStack()
  const life = new Lifetime(stop)
  const nowMs = Date.now

  const nc = await connectNats(config, { name: 'archive', log, stop })
  opened.defer(() => nc.close())
  const instance = openInstance(config.dataFolder, 'archive')
  opened.use(await joinInstance(nc, { ...config, name: 'archive', id: instance.worker }))
  await assertKeptStore(nc, config)
  const store = opened.use(await openStore(config.store, { readOnly: true }))
  const kvm = new Kvm(nc)
  const keccak = await createKeccak()
  const registry = openMetrics('archive')
  const metrics = archiveMetrics(registry)
  const system = await kvm.open(buckets.system)
  const { folder, rawDays, blobDays, everyMs } = settings
  const expiry = new Expiry({
    nc,
    store,
    openWriter: () => openStore(config.store),
    folder,
    rawDays,
    blobDays,
    keccak,
    pause: life.pause,
  })
  const retaining = new Retaining({
    rawDays,
    blobDays,
    expire: (catalogue, now) => expiry.round(catalogue, now),
    unusedBytes: store.unusedBytes,
    system,
    metrics,
    nowMs,
    log,
  })
  const archiving = new Archiving({
    archive: (stopping) =>
      archiveOnce({
        nc,
        store,
        settings,
        keccak,
        nowMs: nowMs(),
        isPart: false,
        stop: stopping,
      }),
    // a former setting leaves its record, which says what is gone; there is nothing to report
    retaining: rawDays === undefined && blobDays === undefined ? undefined : retaining,
    noteChange: (stopping) => noteChange(nc, { rawDays, blobDays, system, nowMs, log }, stopping),
    everyMs,
    folder,
    system,
    metrics,
    nowMs,
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
