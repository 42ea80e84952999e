/**
 * The chain of a city on one machine: anvil as a service, with the contracts on it. The writer's key,
 * the chain's first block and so the contracts' addresses are the same at every start: where the chain
 * was lost altogether, the very same contracts are deployed again, and every anchor after them.
 */
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { type EnsureOptions, ensureContract } from '../../anchor/deploy/ensure-contract.ts'
import { ensureKeyFile } from '../../anchor/deploy/key-file.ts'
import { noContract, noRecord } from '../../core/proof/chain-record.ts'
import { type Anvil, startAnvil } from '../../runtime/engines/anvil.ts'
import { findAnvil } from '../../runtime/engines/find-anvil.ts'
import type { Logger } from '../../runtime/log.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import type { Service } from '../../runtime/machine/keep-alive.ts'
import { levelOf } from '../../runtime/nats/format-level.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import type { Environment } from '../../runtime/settings.ts'
import { contractVersionAt, contractVersionOf } from '../../schemas/anchoring/deployments.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import type { CityChain } from './city.ts'
import { ourProcess } from './process.ts'

type Options = {
  readonly dataFolder: string
  readonly env: Environment
  readonly log: Logger
  readonly note: (line: string) => void
  readonly stop: AbortSignal
}

type UpChainOptions = Options & {
  readonly nats: NatsConnection
  readonly keep: (service: Service) => Promise<unknown>
  /** Another chain; undefined: our own anvil. */
  readonly rpcUrl: string | undefined
  readonly demoSensors: number
}

/** @returns undefined, with a note, where readings are not anchored */
export async function openUpChain(options: UpChainOptions): Promise<CityChain | undefined> {
  const { nats, keep, rpcUrl, demoSensors, env, note } = options
  // people look at a demonstration for minutes, not for hours
  const interval = demoSensors > 0 ? '1m' : undefined
  const hurry =
    env['ANCHOR_INTERVAL'] === undefined && interval ? { ANCHOR_INTERVAL: interval } : {}
  const anchor = ourProcess('anchor')
  if (rpcUrl !== undefined) {
    const known = await readDeployments(await new Kvm(nats).open(buckets.anchoring))
    const contract = known.at(-1)?.contract ?? env['ANCHOR_CONTRACT']
    if (contract !== undefined) return { rpc: rpcUrl, contract, env: hurry, anchor }
    note(
      'no contract on that chain yet, so readings are not anchored: run `airproof anchor deploy --owner ADDRESS`',
    )
    return undefined
  }
  const service = await chainService(options)
  if (service === undefined) return undefined
  await keep(service)
  const contract = await service.remember()
  const { url: rpc, keyFile } = service
  const ours = { CHAIN_RPC_URL: rpc, ANCHOR_KEY_FILE: keyFile, ANCHOR_MAKES_CONTRACTS: 'true' }
  return { rpc, contract, env: { ...hurry, ...ours }, anchor }
}

type ChainService = Service & {
  readonly url: string
  readonly keyFile: string
  /** Records which contract is used, once. @returns the newest one's address */
  readonly remember: () => Promise<string>
}

async function chainService(options: UpChainOptions): Promise<ChainService | undefined> {
  const { dataFolder, env, log, nats, note, stop } = options
  const command = await findAnvil(env)
  if (command === undefined) {
    note(
      'no anvil on this machine, so readings are not anchored: install foundry, or set CHAIN_RPC_URL',
    )
    return undefined
  }
  const port = await freePort()
  const folder = join(dataFolder, 'chain')
  const keyFile = join(dataFolder, 'anchor.key')
  const url = `http://127.0.0.1:${port}`
  const account = ensureKeyFile(keyFile)
  const contracts = async () =>
    (await contractsOf(nats)).map((second) => ensureContract({ url, account, stop, ...second }))
  return {
    name: 'anvil',
    url,
    keyFile,
    start: async (): Promise<Anvil> => {
      const anvil = await startAnvil({ command, folder, port, env, log })
      try {
        let isNew = false
        for (const contract of await contracts()) isNew = (await contract.ensure()) || isNew
        if (isNew) await anvil.keepState()
      } catch (error) {
        await anvil.stop()
        throw error
      }
      return anvil
    },
    remember: async () => {
      let address = ''
      for (const contract of await contracts()) address = await contract.remember(nats)
      return address
    },
  }
}

/** Of a new instance its first contract, else every one that it has had, in their order. */
async function contractsOf(
  nats: NatsConnection,
): Promise<readonly Pick<EnsureOptions, 'second'>[]> {
  const kvm = new Kvm(nats)
  const known = await readDeployments(await kvm.open(buckets.anchoring))
  if (known.length > 0)
    // those of version 2 are counted from 2, whether or not one of version 1 was there before
    return known.map((deployment, at) =>
      'from' in deployment
        ? { second: { k: at + contractVersionOf(known[0] ?? deployment), beginning: deployment } }
        : {},
    )
  const level = levelOf(await (await kvm.open(buckets.system)).get(systemKeys.format))
  const beginning = { former: noContract, from: noRecord }
  return [contractVersionAt(level) === 1 ? {} : { second: { k: 2, beginning } }]
}
