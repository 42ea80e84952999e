/** The sender dies, loses its memory, or is there twice: exactly one anchor a batch all the same. */
import { expect, test } from 'vitest'
import type { Ask } from '../../anchor/chain/rpc.ts'
import { Overtaken } from '../../anchor/fence.ts'
import { oneEach } from '../support/chain/anchor-network.ts'
import { seededChance } from '../support/chain/chance.ts'
import { sharedChain } from '../support/chain/shared-chain.ts'
import { eventually } from '../support/eventually.ts'

const chain = sharedChain()

class Crash extends Error {}

/** Dies at a question, before it is asked or after it was answered. */
const dying =
  (method: string, when: 'before' | 'after') =>
  (ask: Ask): Ask =>
  async (name, params) => {
    if (name !== method) return ask(name, params)
    if (when === 'after') await ask(name, params)
    throw new Crash(`${when} ${method}`)
  }

test('killed after it signed, before it sent: the same bytes are sent by the next one', async () => {
  await using network = await chain.network()
  await network.seal()
  const killed = await network.sender({ between: dying('eth_sendRawTransaction', 'before') })
  await expect(killed()).rejects.toThrow(Crash)
  const signed = (await network.journal.entry(1)).value
  expect(signed).toMatchObject({ state: 'signed', versions: [{}] })
  await network.settle(await network.sender())
  const [anchor] = await network.anchors()
  expect(anchor?.txHash).toBe(signed?.versions[0]?.hash)
  expect(await network.reported()).toEqual(oneEach(1))
})

test('killed after it sent: the node knows it already, and that is an answer', async () => {
  await using network = await chain.network()
  await network.seal(3)
  const killed = await network.sender({ between: dying('eth_sendRawTransaction', 'after') })
  await expect(killed()).rejects.toThrow(Crash)
  await network.settle(await network.sender())
  expect(await network.reported()).toEqual(oneEach(3))
})

test('killed again and again at random steps', async () => {
  await using network = await chain.network()
  const chance = seededChance(7)
  let crashes = 0
  const mortal = (ask: Ask): Ask => {
    return async (method, params) => {
      const fate = chance()
      if (fate < 0.04) {
        crashes++
        throw new Crash(`before ${method}`)
      }
      const answer = await ask(method, params)
      if (fate > 0.96) {
        crashes++
        throw new Crash(`after ${method}`)
      }
      return answer
    }
  }
  let tick = await network.sender({ between: mortal })
  for (let sealed = 0; sealed < 12; sealed += 3) {
    await network.seal(3)
    await eventually('all of them are final', async () => {
      try {
        const { final } = await tick()
        await network.mine()
        return final === network.batches.last()
      } catch (error) {
        if (!(error instanceof Crash)) throw error
        // nothing is left of the one that died but what it had written
        tick = await network.sender({ between: mortal })
        return false
      }
    })
  }
  expect(crashes).toBeGreaterThan(10)
  expect(await network.reported()).toEqual(oneEach(12))
})

test('the journal lost while transactions wait in the pool', async () => {
  await using network = await chain.network()
  await network.seal(3)
  await (await network.sender())()
  await network.loseJournal()
  await network.settle(await network.sender())
  expect(await network.reported()).toEqual(oneEach(3))
})

test('the journal lost after they were mined: adopted from the events of the contract', async () => {
  await using network = await chain.network()
  await network.seal(3)
  await (await network.sender())()
  await network.mine()
  await network.loseJournal()
  await network.seal(2)
  await network.settle(await network.sender())
  expect(await network.reported()).toEqual(oneEach(5))
})

test('a torn entry of the journal counts as lost', async () => {
  await using network = await chain.network()
  await network.seal(2)
  await (await network.sender())()
  const whole = (await network.journalKv.get('tx.1'))?.string() ?? ''
  await network.journalKv.put('tx.1', whole.slice(0, whole.length / 2))
  const altered = (await network.journalKv.get('tx.2'))?.string() ?? ''
  await network.journalKv.put('tx.2', altered.replace('"raw":"0x02f9', '"raw":"0x02f8'))
  expect((await network.journal.entry(1)).value).toBeUndefined()
  expect((await network.journal.entry(2)).value).toBeUndefined()
  await network.settle(await network.sender())
  expect(await network.reported()).toEqual(oneEach(2))
})

test('two senders with one key and one journal', async () => {
  await using network = await chain.network()
  await network.seal(10)
  const [one, other] = [await network.sender(), await network.sender()]
  await eventually('all of them are final', async () => {
    const ticks = await Promise.allSettled([one(), other()])
    for (const ended of ticks) {
      if (ended.status === 'rejected' && !(ended.reason instanceof Overtaken)) throw ended.reason
    }
    await network.mine()
    return ticks.some((ended) => ended.status === 'fulfilled' && ended.value.final === 10)
  })
  expect(await network.reported()).toEqual(oneEach(10))
})

test('a stranger who calls the contract changes nothing', async () => {
  await using network = await chain.network()
  await network.seal(2)
  const { deployment } = network
  const tick = await network.sender()
  await tick()
  const pooled = await network.journal.entry(1)
  const raw = pooled.value?.versions[0]?.raw ?? '0x'
  const call = (await chain
    .anvil()
    .rpc('eth_getTransactionByHash', [pooled.value?.versions[0]?.hash])) as { input: string }
  expect(raw).toContain(call.input.slice(2))
  const [stranger] = (await chain.anvil().rpc('eth_accounts')) as string[]
  const gas = { gas: '0x30d40', maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x174876e800' }
  const hash = await chain
    .anvil()
    .rpc('eth_sendTransaction', [
      { from: stranger, to: deployment.contract, data: call.input, ...gas },
    ])
  await network.settle(tick)
  expect(await chain.anvil().rpc('eth_getTransactionReceipt', [hash])).toMatchObject({
    status: '0x0',
  })
  expect(await network.reported()).toEqual(oneEach(2))
})
