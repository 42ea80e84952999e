import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { secondMs } from '../core/time.ts'
import { createKeccak } from '../runtime/keccak.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { openInstance } from '../runtime/process/instance-id.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { LeasedTask } from '../runtime/process/leased-task.ts'
import { Lifetime } from '../runtime/process/lifetime.ts'
import { tryAgainIfAway } from '../runtime/process/process.ts'
import { startOf } from '../schemas/anchoring/deployments.ts'
import { buckets } from '../schemas/subjects.ts'
import { alivePrefixes, tasks } from '../schemas/system-keys.ts'
import { startAnchoring } from './anchoring.ts'
import { openRpc } from './chain/rpc.ts'
import { readAnchorConfig } from './config.ts'
import { contractToWorkOn } from './contract-to-work-on.ts'
import { closeFormer } from './deploy/close-former.ts'
import { findDeployments } from './deploy/deployment.ts'
import { readKeyFile } from './deploy/key-file.ts'
import { fencedBucket, openFence } from './fence.ts'
import { anchorMetrics } from './metrics.ts'
import { openNextContract } from './next-contract.ts'
import { openSealedBatches } from './sealed-batches.ts'
import { openSender } from './send/open-sender.ts'

export const run = tryAgainIfAway(async ({ config, env, flags, log, stop }) => {
  const settings = readAnchorConfig({ env, flags }, config.dataFolder)
  const account = readKeyFile(settings.keyFile)
  await using opened = new AsyncDisposableStack()
  const life = new Lifetime(stop)
  const { pause } = life

  const nc = await connectNats(config, { name: 'anchor', log, stop })
  opened.defer(() => nc.close())
  const instance = openInstance(config.dataFolder, 'anchor')
  opened.use(await joinInstance(nc, { ...config, name: 'anchor', id: instance.worker }))
  const kvm = new Kvm(nc)
  const anchoring = await kvm.open(buckets.anchoring)
  const deployments = await findDeployments(anchoring, settings, { pause, stop, log })
  const [{ chainId, genesisHash }] = deployments
  const keccak = await createKeccak()
  const starts = deployments.map((deployment) => startOf(deployment, keccak))
  const js = jetstream(nc)
  const fence = openFence(anchoring, deployments)
  const openBucket = async (bucket: string) =>
    fencedBucket({ js, kv: await kvm.open(bucket), fence })
  const journal = await openBucket(buckets.anchoring)
  const proofs = await openBucket(buckets.proofs)
  const records = await openBucket(buckets.batches)
  const batches = opened.use(await openSealedBatches(nc, starts, records))
  const registry = openMetrics('anchor')
  const metrics = anchorMetrics(registry, Date.now)
  const ask = openRpc({
    urls: settings.rpcUrls,
    timeoutMs: settings.rpcTimeoutMs,
    expected: { chainId, genesisHash },
    onTrouble: (host, why) => log.warn({ host, err: why }, 'a node of the chain does not do'),
  })
  const { deployment, until } = await contractToWorkOn({ deployments, ask, batches })
  const { contract } = deployment
  const system = await kvm.open(buckets.system)

  // two at once do no harm
  const work = new LeasedTask({
    start: () => {
      log.info({ chain: chainId, contract, writer: account.address }, 'anchoring')
      const tick = openSender({
        ask,
        account,
        deployment,
        batches,
        until,
        js,
        keccak,
        journal,
        proofs,
        fence,
        rules: settings.fees,
        recheckMs: Math.max(settings.pollMs, 2 * secondMs),
        nowMs: Date.now,
      })
      const onFatal = life.fail
      const start = startOf(deployment, keccak)
      const next = { ...settings, account, batches, keccak, nats: nc, stop }
      const nextContract = openNextContract(next, deployment)
      const shared = {
        nc,
        js,
        keccak,
        batches,
        deployments,
        deployment,
        start,
        until,
        records,
        journal,
        proofs,
        settings,
        system,
        metrics,
        log,
        nextContract,
        closeFormer: async () =>
          settings.makesContracts ? await closeFormer(ask, deployments) : [],
      }
      return startAnchoring({ ...shared, tick, nowMs: Date.now, onFatal })
    },
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
