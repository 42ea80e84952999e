import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll } from 'vitest'
import { type TestAnvil, testAnvil } from '../anvil.ts'
import { type TestNats, testNats } from '../nats.ts'
import { type AnchorNetwork, anchorNetwork } from './anchor-network.ts'

/**
 * One anvil and one nats-server for a test file, each of its tests with a network of its own.
 * Blocks come only when the test mines one.
 */
export function sharedChain() {
  let anvil: TestAnvil
  let nats: TestNats
  let nc: NatsConnection
  beforeAll(async () => {
    ;[anvil, nats] = await Promise.all([testAnvil(), testNats()])
    nc = await nats.connect()
    await anvil.rpc('evm_setIntervalMining', [0])
    await anvil.rpc('evm_setAutomine', [false])
  })
  afterAll(async () => {
    await nc.close()
    await Promise.all([anvil[Symbol.asyncDispose](), nats[Symbol.asyncDispose]()])
  })
  return {
    anvil: (): TestAnvil => anvil,
    nc: (): NatsConnection => nc,
    nats: (): TestNats => nats,
    network: (over: { readonly ether?: number } = {}): Promise<AnchorNetwork> =>
      anchorNetwork({ anvil, nc, ...over }),
  }
}
