/**
 * A restored instance is the original: the same id, the same key, the same contract. Two of them at
 * once would give out the same numbers for different readings, and each anchor would be foreign to the
 * other. What can be noticed of an original that still runs: its supervisor on this machine, its NATS
 * where the backup found it, and what was anchored after the backup. An original that is elsewhere,
 * cut off from here, and does not anchor, cannot be noticed.
 */
import { hostname } from 'node:os'
import { readStory } from '../../anchor/audit/story.ts'
import { openRpc } from '../../anchor/chain/rpc.ts'
import { readChainSettings } from '../../anchor/config.ts'
import { MustAct } from '../../runtime/exit.ts'
import { isRunning } from '../../runtime/machine/process-list.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import type { NatsLogin } from '../../runtime/nats/nats-trouble.ts'
import { readNetworkId } from '../../runtime/nats/network-id.ts'
import type { SettingsSource } from '../../runtime/settings.ts'
import { type AnyDeployment, parseDeploymentAt } from '../../schemas/anchoring/deployments.ts'
import type { Manifest } from './manifest.ts'
import type { SecretFiles } from './seal-files.ts'

type Looking = {
  readonly manifest: Manifest
  readonly secrets: SecretFiles
  readonly natsLogin: NatsLogin | undefined
  readonly stop: AbortSignal
}

/** @throws MustAct the original runs */
export async function refuseLivingOriginal(options: Looking): Promise<void> {
  const { original, network } = options.manifest
  const up = original.host === hostname() ? readRunningInstance(original.folder) : undefined
  const pid = up?.pids['up']
  const where =
    pid !== undefined && isRunning(pid)
      ? `on ${original.folder} (process ${pid})`
      : (await answersAs(network, options))
        ? `with its NATS at ${original.nats}`
        : undefined
  if (where !== undefined)
    throw new MustAct(
      `the instance that this backup was made of still runs ${where}: two of them would give the same numbers to different readings, and anchor in the same contract. Stop it for good first`,
    )
}

/** Whether the NATS of the original answers, and holds the same instance. */
async function answersAs(
  network: string,
  { manifest, secrets, natsLogin, stop }: Looking,
): Promise<boolean> {
  const natsUrl = manifest.original.nats
  for (const login of [operatorOf(secrets), natsLogin]) {
    const settings = { natsUrl, natsLogin: login }
    const nc = await connectNats(settings, { name: 'airproof restore', once: true, stop }).catch(
      () => undefined,
    )
    if (nc === undefined) continue
    try {
      if ((await readNetworkId(nc)) === network) return true
    } catch {
      // another program's NATS
    } finally {
      await nc.close()
    }
  }
  return false
}

/** Of the NATS that `up` started, by the passwords in the backup. */
function operatorOf(secrets: SecretFiles): NatsLogin | undefined {
  const access: unknown = JSON.parse(secrets.get('nats-access.json')?.toString() ?? '{}')
  const password: unknown = Reflect.get(
    Object(Reflect.get(Object(access), 'passwords')),
    'operator',
  )
  return typeof password === 'string' ? { user: 'operator', password } : undefined
}

/**
 * What the contract has that the backup lacks: batches whose readings may be gone.
 * @returns undefined: nothing; or no node is known to ask
 * @throws MustAct, TryAgain of the nodes
 */
export async function anchoredSince(
  { anchoring }: Manifest,
  source: SettingsSource,
  dataFolder: string,
): Promise<string | undefined> {
  const { rpcUrls, rpcTimeoutMs } = readChainSettings(source, dataFolder)
  const deployments = anchoring.deployments
    .map((value) => parseDeploymentAt(Reflect.get(value, 'version') === 2 ? 2 : 1, value))
    .filter((deployment): deployment is AnyDeployment => deployment !== undefined)
  const [first] = deployments
  if (first === undefined || rpcUrls.length === 0) return undefined
  const { chainId, genesisHash } = first
  const ask = openRpc({
    urls: rpcUrls,
    timeoutMs: rpcTimeoutMs,
    expected: { chainId, genesisHash },
  })
  const { contracts } = await readStory(ask, deployments)
  const ahead = contracts.at(-1)?.anchors.filter(({ index }) => index > anchoring.sealed) ?? []
  const [from, to] = [ahead[0], ahead.at(-1)]
  if (from === undefined || to === undefined) return undefined
  const readings = ahead.reduce((sum, { count }) => sum + count, 0)
  return `the contract ${contracts.at(-1)?.deployment.contract} holds ${ahead.length === 1 ? `batch ${from.index}` : `batches ${from.index} to ${to.index}`} (${readings} readings), anchored after this backup was made`
}
