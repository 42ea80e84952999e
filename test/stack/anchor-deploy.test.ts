import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPublicClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStory } from '../../anchor/audit/story.ts'
import { registryAt } from '../../anchor/contract/registry.ts'
import { command } from '../../cli/anchor/anchor.ts'
import { TryAgain } from '../../runtime/exit.ts'
import type { Deployment } from '../../schemas/anchoring/batch-record.ts'
import { anvilAccount, testAnvil } from '../support/anvil.ts'
import { anchorNetwork } from '../support/chain/anchor-network.ts'
import { type TestNats, testNats } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let nats: TestNats
beforeAll(async () => {
  nats = await testNats()
})
afterAll(() => nats[Symbol.asyncDispose]())

test('off the demonstration chain a contract has an owner who is not its writer', async () => {
  await using anvil = await testAnvil({ chainId: 99 })
  using folder = temporaryFolder()
  const key = generatePrivateKey()
  const writer = privateKeyToAccount(key).address
  const keyFile = join(folder.path, 'anchor.key')
  writeFileSync(keyFile, key, { mode: 0o600 })
  await anvil.rpc('anvil_setBalance', [writer, `0x${(10n ** 18n).toString(16)}`])
  const deploy = (flags: Readonly<Record<string, string | boolean>>) =>
    runCommand(command, {
      words: ['deploy'],
      flags: { ...flags, json: true },
      env: {
        AIRPROOF_DATA: folder.path,
        NATS_URL: nats.url,
        CHAIN_RPC_URL: anvil.url,
        ANCHOR_KEY_FILE: keyFile,
      },
    })
  for (const flags of [{}, { owner: writer }, { owner: writer.toLowerCase() }]) {
    const { code, err } = await deploy(flags)
    expect([code, err]).toEqual([2, expect.stringContaining('could never be shut out')])
  }
  expect(await anvil.rpc('eth_getTransactionCount', [writer, 'latest'])).toBe('0x0')
  const owner = anvilAccount(5).address
  const { code, out } = await deploy({ owner })
  expect(code).toBe(0)
  const { contract }: Deployment = JSON.parse(out)
  const client = createPublicClient({ transport: http(anvil.url) })
  const registry = registryAt(client, contract)
  expect([await registry.owner(), await registry.writer()]).toEqual([owner, writer])
})

test('right after its chain was started again an audit is asked to try again', async () => {
  using folder = temporaryFolder()
  await using anvil = await testAnvil({ statePath: join(folder.path, 'chain.json') })
  const nc = await nats.connect()
  await using network = await anchorNetwork({ anvil, nc })
  const read = () => readStory(network.chain.ask, [network.deployment])
  const goOn = () => anvil.rpc('anvil_mine', ['0x4'])
  await goOn()
  expect(await read()).toMatchObject({ contracts: [{ isOurCode: true }] })
  await anvil.restart()
  // it knows its final block, and not the state at it
  await expect(read()).rejects.toThrow(TryAgain)
  await expect(read()).rejects.toThrow(/audit again when the chain has gone on/)
  await goOn()
  expect(await read()).toMatchObject({ contracts: [{ isOurCode: true }] })
  await nc.close()
})

test('a contract whose first block becomes final while an audit reads is not final yet', async () => {
  await using anvil = await testAnvil()
  const nc = await nats.connect()
  await anvil.rpc('anvil_mine', ['0x4'])
  const finalBefore = await anvil.rpc('eth_getBlockByNumber', ['finalized', false])
  await using network = await anchorNetwork({ anvil, nc })
  await anvil.rpc('anvil_mine', ['0x4'])
  const { ask } = network.chain
  const { number } = finalBefore as { readonly number: string }
  const isFinal = (method: string, [block]: readonly unknown[]) =>
    method === 'eth_getBlockByNumber' && block === 'finalized'
  const story = readStory(
    async (method, params = []) =>
      isFinal(method, params) ? finalBefore : await ask(method, params),
    [{ ...network.deployment, block: Number(number) }],
  )
  await expect(story).rejects.toThrow(TryAgain)
  await expect(story).rejects.toThrow(/is not final yet/)
  await nc.close()
})
