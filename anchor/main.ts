import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { beforeFirst } from '../core/proof/batch.ts'
import { secondMs } from '../core/time.ts'
import { createKeccak } from '../runtime/keccak.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { leaseRoundMs, openLeases } from '../runtime/nats/leases.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { needStreams } from '../runtime/nats/streams.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { openInstance } from '../runtime/process/instance-id.ts'
import { tryAgainWhereAway } from '../runtime/process/process.ts'
import { stopped } from '../runtime/process/stop-signal.ts'
import { buckets } from '../schemas/subjects.ts'
import { type Anchoring, startAnchoring } from './anchoring.ts'
import { openRpc } from './chain/rpc.ts'
import { readAnchorConfig } from './config.ts'
import { findDeployment } from './deploy/deployment.ts'
import { readKeyFile } from './deploy/key-file.ts'
import { anchorMetrics } from './metrics.ts'
import { openSealedBatches } from './sealed-batches.ts'
import { openSender } from './send/open-sender.ts'

/** One process at a time; the others stand by. Two at once would do no harm. */
const anchorTask = 'task.anchor'
/** A process has 10 s to stop. */
const orderlyMs = 7_000

export const run = tryAgainWhereAway(async ({ config, env, flags, log, stop }) => {
  const settings = readAnchorConfig({ env, flags }, config.dataFolder)
  const account = readKeyFile(settings.keyFile)
  await using opened = new AsyncDisposableStack()
  const failed = Promise.withResolvers<never>()
  // whoever waits for it is below; a failure before that must not count as unhandled
  failed.promise.catch(() => undefined)
  const ending = new AbortController()
  const stopping = AbortSignal.any([stop, ending.signal])
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: stopping }).catch(() => undefined)

  const nc = await connectNats(config, { name: 'anchor', log, stop })
  opened.defer(() => nc.close())
  await needStreams(nc, config)
  const instance = openInstance(config.dataFolder, 'anchor')
  const kvm = new Kvm(nc)
  const journal = await kvm.open(buckets.anchoring)
  const deployment = await findDeployment(journal, settings, { pause, stop, log })
  const { chainId, genesisHash, contract } = deployment
  const keccak = await createKeccak()
  const start = beforeFirst(chainId, contract, keccak)
  const batches = opened.use(await openSealedBatches(nc, start))
  const registry = openMetrics('anchor')
  const metrics = anchorMetrics(registry)
  const ask = openRpc({
    urls: settings.rpcUrls,
    timeoutMs: settings.rpcTimeoutMs,
    expected: { chainId, genesisHash },
    onTrouble: (host, why) => log.warn({ host, err: why }, 'a node of the chain does not do'),
  })
  const js = jetstream(nc)
  const proofs = await kvm.open(buckets.proofs)
  const system = await kvm.open(buckets.system)

  let anchoring: Anchoring | undefined
  const begin = (): void => {
    log.info({ chain: chainId, contract, writer: account.address }, 'anchoring')
    const tick = openSender({
      ask,
      account,
      deployment,
      batches,
      js,
      keccak,
      journal,
      proofs,
      rules: settings.fees,
      recheckMs: Math.max(settings.pollMs, 2 * secondMs),
      nowMs: Date.now,
    })
    anchoring = startAnchoring({
      nc,
      js,
      keccak,
      batches,
      start,
      settings,
      tick,
      system,
      metrics,
      log,
      nowMs: Date.now,
      onFatal: failed.reject,
    })
  }
  const end = async (): Promise<void> => {
    await anchoring?.stop()
    anchoring = undefined
  }
  const leases = openLeases({
    kv: await kvm.open(buckets.leases),
    holder: instance.id,
    shared: [],
    single: [anchorTask],
    // the pipelines count who is alive among themselves
    aliveAs: 'anchor-alive.',
    onHeld: begin,
    onRelease: end,
    onLost: () => void end(),
    onFailure: (error) => log.warn({ err: error }, 'leases: trying again'),
  })
  const leasing = (async () => {
    while (!stopping.aborted) {
      await leases.round()
      await pause(leaseRoundMs)
    }
  })()

  opened.use(
    await openAdmin({
      ...config.admin,
      metrics: registry,
      ready: [{ name: 'nats', check: async () => void (await nc.rtt()) }],
    }),
  )
  try {
    await Promise.race([stopped(stop), failed.promise])
  } finally {
    ending.abort()
    await leasing
    await Promise.race([end().then(leases.releaseAll), sleep(orderlyMs, undefined, { ref: false })])
  }
})
