/**
 * The chain of a city on one machine: anvil as a service, with the contract on it. The writer's
 * key, the chain's first block and so the contract's address are the same at every start: where
 * the chain was lost altogether, the very same contract is deployed again, and every anchor after
 * it.
 */
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { readDeployment } from '../../anchor/deploy/deployment.ts'
import { ensureContract } from '../../anchor/deploy/ensure-contract.ts'
import { ensureKeyFile } from '../../anchor/deploy/key-file.ts'
import { type Anvil, startAnvil } from '../../runtime/engines/anvil.ts'
import { findAnvil } from '../../runtime/engines/find-anvil.ts'
import type { Logger } from '../../runtime/log.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import type { Service } from '../../runtime/machine/keep-alive.ts'
import type { Environment } from '../../runtime/settings.ts'
import { buckets } from '../../schemas/subjects.ts'
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
    const known = await readDeployment(await new Kvm(nats).open(buckets.anchoring))
    const contract = known?.contract ?? env['ANCHOR_CONTRACT']
    if (contract !== undefined) return { rpc: rpcUrl, contract, env: hurry, anchor }
    note(
      'no contract on that chain yet, so readings are not anchored: run `airproof anchor deploy --owner ADDRESS`',
    )
    return undefined
  }
  const service = await chainService(options)
  if (service === undefined) return undefined
  await keep(service)
  const contract = await service.remember(nats)
  const { url: rpc, keyFile } = service
  return { rpc, contract, env: { ...hurry, CHAIN_RPC_URL: rpc, ANCHOR_KEY_FILE: keyFile }, anchor }
}

type ChainService = Service & {
  readonly url: string
  readonly keyFile: string
  /** Records which contract is used, once. @returns its address */
  readonly remember: (nats: NatsConnection) => Promise<string>
}

async function chainService(options: Options): Promise<ChainService | undefined> {
  const { dataFolder, env, log, note, stop } = options
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
  const contract = ensureContract({ url, account: ensureKeyFile(keyFile), stop })
  return {
    name: 'anvil',
    url,
    keyFile,
    start: async (): Promise<Anvil> => {
      const anvil = await startAnvil({ command, folder, port, env, log })
      try {
        if (await contract.ensure()) await anvil.keepState()
      } catch (error) {
        await anvil.stop()
        throw error
      }
      return anvil
    },
    remember: contract.remember,
  }
}
