/** The chain as it is on bad days: pools that forget, fees, reorganisations, nodes that do not do. */
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { ChainAway, openRpc, WrongChain } from '../../anchor/chain/rpc.ts'
import type { Alarm } from '../../anchor/send/alarm.ts'
import { resync } from '../../anchor/send/resync.ts'
import type { TickReport } from '../../anchor/send/sender.ts'
import { oneEach, rules } from '../support/chain/anchor-network.ts'
import { sharedChain } from '../support/chain/shared-chain.ts'
import { isSend, rpcProxy } from '../support/rpc-proxy.ts'

const chain = sharedChain()
const gwei = 1_000_000_000n
const reasonsOf = ({ alarms }: TickReport): Alarm['reason'][] => alarms.map(({ reason }) => reason)
const hex = (wei: bigint): string => `0x${wei.toString(16)}`
const poolSize = async (): Promise<number> => {
  const status = (await chain.anvil().rpc('txpool_status')) as Record<string, string>
  return Number(status['pending']) + Number(status['queued'])
}

test('a transaction that the pool forgot is sent again, the very same', async () => {
  await using network = await chain.network()
  await network.seal(2)
  const tick = await network.sender()
  await tick()
  const sent = (await network.journal.entry(1)).value?.versions[0]?.hash
  await chain.anvil().rpc('anvil_dropAllTransactions')
  expect(await poolSize()).toBe(0)
  await network.settle(tick)
  expect((await network.anchors())[0]?.txHash).toBe(sent)
  expect(await network.reported()).toEqual(oneEach(2))
})

test('a gap of nonces, the first of three forgotten, is filled again', async () => {
  await using network = await chain.network()
  await network.seal(3)
  const tick = await network.sender()
  await tick()
  const first = (await network.journal.entry(1)).value?.versions[0]?.hash
  await chain.anvil().rpc('anvil_dropTransaction', [first])
  await network.mine()
  expect(await network.anchors()).toEqual([])
  await network.settle(tick)
  expect(await network.reported()).toEqual(oneEach(3))
})

test('when the base fee rises above an offer, a higher one with the same nonce replaces it', async () => {
  await using network = await chain.network()
  await network.seal(2)
  const tick = await network.sender({ rules: { ...rules, bumpAfterMs: 0 } })
  await tick()
  const entry = (await network.journal.entry(1)).value
  await chain.anvil().rpc('anvil_setNextBlockBaseFeePerGas', [hex(20n * gwei)])
  await network.mine()
  expect(await network.anchors()).toEqual([])
  await network.settle(tick)
  const after = (await network.journal.entry(1)).value
  expect(after?.nonce).toBe(entry?.nonce)
  expect(after?.versions.length).toBeGreaterThan(1)
  expect(await network.reported()).toEqual(oneEach(2))
})

test('above the cap it waits and says so, sends nothing, and goes on when fees fall', async () => {
  await using network = await chain.network()
  await using proxy = await rpcProxy(chain.anvil().url)
  await chain.anvil().rpc('anvil_setNextBlockBaseFeePerGas', [hex(500n * gwei)])
  await network.mine()
  await network.seal(2)
  const tick = await network.sender({
    urls: [proxy.url],
    rules: { ...rules, bumpAfterMs: 0 },
  })
  expect(reasonsOf(await tick())).toEqual(['FEE_CAP'])
  expect(reasonsOf(await tick())).toEqual(['FEE_CAP'])
  expect(proxy.asked.filter(isSend)).toEqual([])
  await chain.anvil().rpc('anvil_setNextBlockBaseFeePerGas', [hex(gwei)])
  await network.mine()
  expect(reasonsOf(await tick())).toEqual([])
  // sent, and now the cap is in the way of raising it
  await chain.anvil().rpc('anvil_setNextBlockBaseFeePerGas', [hex(500n * gwei)])
  await network.mine()
  const sent = proxy.asked.filter(isSend).length
  for (let i = 0; i < 50; i++) await tick()
  expect(reasonsOf(await tick())).toEqual(['FEE_CAP'])
  const offered = (await network.journal.entry(1)).value?.versions.at(-1)?.maxFeePerGas ?? 0
  expect(BigInt(offered)).toBeLessThanOrEqual(rules.capWei)
  expect(proxy.asked.filter(isSend).length - sent).toBeLessThan(80)
  await chain.anvil().rpc('anvil_setNextBlockBaseFeePerGas', [hex(gwei)])
  await network.settle(tick)
  expect(await network.reported()).toEqual(oneEach(2))
})

test('a node that wants a tenth more for a replacement gets an eighth', async () => {
  await using network = await chain.network()
  await using proxy = await rpcProxy(chain.anvil().url)
  const offers: bigint[] = []
  proxy.be(async (question) => {
    if (!isSend(question)) return undefined
    const entry = (await network.journal.entry(1)).value
    const offer = BigInt(entry?.versions.at(-1)?.maxFeePerGas ?? 0)
    const former = offers.at(-1) ?? 0n
    if (offer * 100n < former * 110n)
      return { error: { code: -32_000, message: 'replacement transaction underpriced' } }
    offers.push(offer)
    return undefined
  })
  await network.seal()
  const tick = await network.sender({
    urls: [proxy.url],
    rules: { ...rules, bumpAfterMs: 0 },
  })
  for (let i = 0; i < 4; i++) expect(reasonsOf(await tick())).toEqual([])
  expect(offers.length).toBe(4)
  await network.settle(tick)
  expect(await network.reported()).toEqual(oneEach(1))
})

test('an unknown version in the pool that offers more is outbid, or mined, never doubled', async () => {
  await using network = await chain.network()
  await network.seal(2)
  const rich = await network.sender({ rules: { ...rules, bumpAfterMs: 0 } })
  for (let i = 0; i < 3; i++) await rich()
  await network.loseJournal()
  // geth's rule, that anvil does not have
  await using proxy = await rpcProxy(chain.anvil().url)
  proxy.be((question) =>
    isSend(question)
      ? { error: { code: -32_000, message: 'replacement transaction underpriced' } }
      : undefined,
  )
  const tick = await network.sender({ urls: [proxy.url] })
  for (let i = 0; i < 3; i++) await tick()
  expect((await network.journal.entry(1)).value?.versions.length).toBeGreaterThan(1)
  await network.mine()
  await network.settle(tick)
  expect(await network.reported()).toEqual(oneEach(2))
})

test('a reorganisation before an anchor is final puts it back, and it is mined again', async () => {
  await using network = await chain.network()
  await network.seal(2)
  const tick = await network.sender()
  await tick()
  await network.mine()
  expect(await tick()).toMatchObject({ onChain: 2, final: 0 })
  expect((await network.journal.entry(2)).value?.state).toBe('mined')
  await chain.anvil().rpc('anvil_reorg', [1, []])
  expect(await tick()).toMatchObject({ onChain: 0, final: 0 })
  expect((await network.journal.entry(2)).value?.state).toBe('sent')
  expect(network.batches.anchored(2)?.status).not.toBe('final')
  await network.settle(tick)
  expect(await network.reported()).toEqual(oneEach(2))
})

test('a reorganisation of 70 blocks takes back what was final; it is anchored again, reported once', async () => {
  await using network = await chain.network()
  await network.mine(70)
  await network.seal(3)
  const tick = await network.sender()
  await network.settle(tick)
  const before = await network.anchors()
  await chain.anvil().rpc('anvil_reorg', [70, []])
  expect(await network.anchors()).toEqual([])
  expect(await tick()).toMatchObject({ onChain: 0, final: 0 })
  await network.batches.barrier()
  expect(network.batches.anchored(3)?.status).toBe('sent')
  await network.settle(tick)
  expect(await network.reported()).toEqual(oneEach(3))
  const after = await network.anchors()
  expect(after.map(({ blockHash }) => blockHash)).not.toEqual(
    before.map(({ blockHash }) => blockHash),
  )
  await network.batches.barrier()
  expect(network.batches.anchored(3)).toMatchObject({
    status: 'final',
    blockHash: after[2]?.blockHash,
  })
})

test('a node that hangs, or says 429, is left for the next one', async () => {
  await using network = await chain.network()
  await using hanging = await rpcProxy(chain.anvil().url)
  await using busy = await rpcProxy(chain.anvil().url)
  hanging.be(() => 'hang')
  busy.be(() => ({ httpStatus: 429 }))
  await network.seal(2)
  const urls = [hanging.url, busy.url, chain.anvil().url]
  const tick = await network.sender({ urls, timeoutMs: 200 })
  await network.settle(tick)
  expect(hanging.asked.length).toBeLessThan(10)
  expect(await network.reported()).toEqual(oneEach(2))
})

test('while no node answers nothing happens, and then it goes on', async () => {
  await using network = await chain.network()
  await using proxy = await rpcProxy(chain.anvil().url)
  await network.seal(2)
  const tick = await network.sender({ urls: [proxy.url], timeoutMs: 1_500 })
  await tick()
  for (const fault of ['cut', 'hang'] as const) {
    proxy.be(() => fault)
    await expect(tick()).rejects.toThrow(ChainAway)
  }
  proxy.beGood()
  await network.settle(tick)
  expect(await network.reported()).toEqual(oneEach(2))
})

test('a node of another chain is refused, by its number and by its first block', async () => {
  await using network = await chain.network()
  await using proxy = await rpcProxy(chain.anvil().url)
  await network.seal()
  const tick = await network.sender({ urls: [proxy.url] })
  proxy.be(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined))
  await expect(tick()).rejects.toThrow(WrongChain)
  proxy.be(({ method, params }) =>
    method === 'eth_getBlockByNumber' && params[0] === '0x0'
      ? { result: { hash: `0x${'1'.repeat(64)}` } }
      : undefined,
  )
  await expect(tick()).rejects.toThrow(WrongChain)
  expect(proxy.asked.filter(isSend)).toEqual([])
  // one of several may be wrong: the others are used
  const both = await network.sender({ urls: [proxy.url, chain.anvil().url] })
  await network.settle(both)
  expect(await network.reported()).toEqual(oneEach(1))
})

test('without funds it waits and says so; topped up it goes on', async () => {
  await using network = await chain.network({ ether: 0 })
  await network.seal(3)
  const tick = await network.sender()
  expect(reasonsOf(await tick())).toEqual(['NO_FUNDS'])
  expect(await poolSize()).toBe(0)
  await network.fund(1)
  await network.settle(tick)
  expect(await network.reported()).toEqual(oneEach(3))
})

test('a foreign transaction of the key is an alarm, then a stop; a resync goes on', async () => {
  await using network = await chain.network()
  await network.seal(2)
  const { account, deployment, nc } = network
  const pair = await network.sender()
  await pair()
  await chain.anvil().rpc('anvil_dropAllTransactions')
  const foreign = await account.signTransaction({
    type: 'eip1559',
    chainId: deployment.chainId,
    to: account.address,
    nonce: (await network.journal.entry(1)).value?.nonce ?? 0,
    gas: 21_000n,
    maxFeePerGas: 50n * gwei,
    maxPriorityFeePerGas: 2n * gwei,
  })
  await chain.anvil().rpc('eth_sendRawTransaction', [foreign])
  await network.mine()
  const tick = await network.sender()
  expect(reasonsOf(await tick())).toEqual(['NONCE'])
  await network.mine(3)
  expect(reasonsOf(await tick())).toEqual(['NONCE'])
  expect((await network.journal.stopped()).value?.reason).toBe('NONCE')
  expect(await network.anchors()).toEqual([])
  const ask = openRpc({
    urls: [chain.anvil().url],
    timeoutMs: 5_000,
    expected: { chainId: undefined, genesisHash: undefined },
  })
  const pairNow = await resync({ nc, kv: network.journalKv, deployment, account, ask })
  expect(pairNow).toMatchObject({ index0: 1 })
  await network.settle(tick)
  expect(await network.reported()).toEqual(oneEach(2))
})

test('a mined revert stops the sender, and a resync lets it go on', async () => {
  await using network = await chain.network()
  await network.seal(2)
  const { account, chain: seen, deployment, nc } = network
  const tick = await network.sender()
  await tick()
  // the writer is another one by the time our transactions are mined
  const rotate = async (to: string, nonceOver: number) =>
    chain
      .anvil()
      .rpc('anvil_setStorageAt', [
        deployment.contract,
        `0x${nonceOver.toString(16).padStart(64, '0')}`,
        `0x${to.slice(2).toLowerCase().padStart(64, '0')}`,
      ])
  await rotate('0x0000000000000000000000000000000000000001', 1)
  await network.mine()
  expect(reasonsOf(await tick())).toEqual(['REVERTED'])
  expect(reasonsOf(await tick())).toEqual(['REVERTED'])
  await rotate(account.address, 1)
  await network.mine(3)
  // nothing is sent until a person says so
  expect(reasonsOf(await tick())).toEqual(['REVERTED'])
  await resync({ nc, kv: network.journalKv, deployment, account, ask: seen.ask })
  await network.settle(tick)
  expect(await network.reported()).toEqual(oneEach(2))
})

test('after the owner names another writer, its key goes on with what the stolen one had sent', async () => {
  await using network = await chain.network()
  const { chain: seen, deployment, nc } = network
  await network.seal(2)
  await network.settle(await network.sender())
  await network.seal(2)
  const stolen = await network.sender()
  await stolen()
  await chain.anvil().rpc('anvil_dropAllTransactions')
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.anvil().rpc('anvil_setBalance', [account.address, hex(10n ** 18n)])
  const writerSlot = `0x${'1'.padStart(64, '0')}`
  const writer = `0x${account.address.slice(2).toLowerCase().padStart(64, '0')}`
  await chain.anvil().rpc('anvil_setStorageAt', [deployment.contract, writerSlot, writer])
  await network.mine(3)
  await resync({ nc, kv: network.journalKv, deployment, account, ask: seen.ask })
  await network.settle(await network.sender({ account }))
  expect(await network.reported()).toEqual(oneEach(4))
})

test('another root for an anchored index is reported, and nothing is sent on top of it', async () => {
  await using network = await chain.network()
  await network.seal(1)
  const tick = await network.sender()
  await network.settle(tick)
  // the same network, as a copy of it would go on that sealed something else
  await using other = await chain.network()
  await other.seal(1, () => 77)
  const head = (await network.anchors())[0]?.head ?? '0x'
  await chain
    .anvil()
    .rpc('anvil_setStorageAt', [other.deployment.contract, `0x${'0'.repeat(64)}`, head])
  await network.mine()
  const report = await (await other.sender())()
  expect(reasonsOf(report)).toEqual(['DIVERGED'])
  expect(await poolSize()).toBe(0)
})

test('a backlog of 200 goes through in order, at most 16 in flight', async () => {
  await using network = await chain.network()
  await network.seal(200)
  const tick = await network.sender()
  await tick()
  expect(await poolSize()).toBe(16)
  const ticks = await network.settle(tick)
  expect(ticks).toBeLessThan(30)
  expect(await network.reported()).toEqual(oneEach(200))
})
