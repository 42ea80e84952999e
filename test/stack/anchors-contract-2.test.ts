/** Version 2 of the contract on a live chain: what it takes, and each thing that it refuses. */
import {
  type Address,
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  type Hex,
  http,
  keccak256,
  zeroAddress,
  zeroHash,
} from 'viem'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRegistryCode, versionOfCode } from '../../anchor/contract/contract-code.ts'
import {
  anchoredOf,
  type Beginning,
  encodeAnchorCall,
  encodeDeployment,
  encodeSetWriter,
  refusalOf,
  registryAt,
} from '../../anchor/contract/registry.ts'
import {
  beginningOf as beginningOfCore,
  type ChainRecord,
  noRecord,
  recordHead,
} from '../../core/proof/chain-record.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { anvilAccount, anvilChainId, type TestAnvil, testAnvil } from '../support/anvil.ts'
import { eventually } from '../support/eventually.ts'

const keccak = await createKeccak()
const owner = anvilAccount(0)
const writer = anvilAccount(1)
const stranger = anvilAccount(2)
const elsewhere = 99

let anvil: TestAnvil
let otherAnvil: TestAnvil
beforeAll(async () => {
  ;[anvil, otherAnvil] = await Promise.all([testAnvil(), testAnvil({ chainId: elsewhere })])
})
afterAll(() => Promise.all([anvil, otherAnvil].map((one) => one[Symbol.asyncDispose]())))

const clientOf = ({ url }: TestAnvil) => createPublicClient({ transport: http(url), cacheTime: 0 })

/** Mined before it returns; a revert is in the receipt, not thrown. */
async function send(from: typeof owner, data: Hex, to?: Address, chain = anvil) {
  const wallet = createWalletClient({
    account: from,
    chain: { ...foundry, id: chain === anvil ? anvilChainId : elsewhere },
    transport: http(chain.url),
  })
  const hash = await wallet.sendTransaction({ data, gas: 3_000_000n, ...(to ? { to } : {}) })
  return eventually(`${hash} is mined`, () =>
    clientOf(chain)
      .getTransactionReceipt({ hash })
      .catch(() => undefined),
  )
}

const anew: Beginning = { former: zeroAddress, from: noRecord }

async function deployed(beginning = anew, chain = anvil) {
  const data = encodeDeployment(owner.address, writer.address, beginning)
  const { contractAddress, blockNumber } = await send(owner, data, undefined, chain)
  if (!contractAddress) throw new Error('nothing was deployed')
  const span = { fromBlock: Number(blockNumber), toBlock: Number(blockNumber) }
  const registry = registryAt(clientOf(chain), contractAddress, 2)
  return { registry, span, start: beginningOf(contractAddress, beginning) }
}

// the formulas once more, by viem's encoder and not by ours
const recordType = {
  type: 'tuple',
  components: [
    { name: 'prevHead', type: 'bytes32' },
    { name: 'index', type: 'uint64' },
    { name: 'root', type: 'bytes32' },
    { name: 'headerHash', type: 'bytes32' },
    { name: 'last', type: 'uint64' },
    { name: 'n', type: 'uint256[3]' },
  ],
} as const
const wordsOf = (n: readonly number[]): [bigint, bigint, bigint] => {
  const words: [bigint, bigint, bigint] = [0n, 0n, 0n]
  for (const [p, number] of n.entries())
    words[Math.floor(p / 6)]! += BigInt(number) * 2n ** BigInt(40 * (p % 6))
  return words
}
const hashOf = ({ index, last, n, ...hashes }: ChainRecord): Hex =>
  keccak256(
    encodeAbiParameters(
      [recordType],
      [{ ...hashes, index: BigInt(index), last: BigInt(last), n: wordsOf(n) }],
    ),
  )
const beginningOf = (contract: Address, { former, from }: Beginning, chainId = anvilChainId) => ({
  ...from,
  prevHead: keccak256(
    encodeAbiParameters(
      [{ type: 'uint256' }, { type: 'address' }, { type: 'address' }, { type: 'bytes32' }],
      [BigInt(chainId), contract, former, hashOf(from)],
    ),
  ),
})

const hash = (text: string): Hex => keccak256(new TextEncoder().encode(text))
type Step = { readonly add?: readonly number[]; readonly last?: number }
/** The batch after `prev`: so many readings more in each partition, and its call. */
function after(prev: ChainRecord, { add = [], last = prev.last + 1 }: Step = {}) {
  const n = prev.n.map((number, p) => number + (add[p] ?? 0))
  const index = prev.index + 1
  const count = add.reduce((sum, more) => sum + more, 0)
  const root = count === 0 ? zeroHash : hash(`root ${index}`)
  const headerHash = hash(`header ${index}`)
  const record: ChainRecord = { prevHead: hashOf(prev), index, root, headerHash, last, n }
  const call = { prev, root, headerHash, last, nLast: n }
  return { record, count, call }
}
const all = (number: number): number[] => Array.from({ length: 16 }, () => number)
const one = (partition: number, number = 1): number[] => all(0).with(partition, number)
const big = 123_456_789

/** Why a call from the address would be refused: the contract's error; or 'accepted'. */
const refusal = (from: Address, to: Address | undefined, data: Hex, chain = anvil) =>
  clientOf(chain)
    .call({ account: from, data, ...(to && { to }) })
    .then(() => 'accepted', refusalOf)

describe('a registry of version 2', () => {
  test('begins with the hash of chain, contract and what it goes on from', async () => {
    const v1: ChainRecord = {
      prevHead: hash('head 6'),
      index: 7,
      root: hash('root 7'),
      headerHash: hash('header 7'),
      last: 1_000,
      n: all(0).map((_, p) => 60 + p),
    }
    for (const beginning of [anew, { former: stranger.address, from: v1 }]) {
      const { registry, span, start } = await deployed(beginning)
      const head = hashOf(start)
      expect(await registry.head()).toBe(head)
      const ours = beginningOfCore(
        { chainId: anvilChainId, contract: registry.address, ...beginning },
        keccak,
      )
      expect(recordHead(ours, keccak)).toBe(head)
      expect(await registry.began(span)).toMatchObject({ ...beginning, head })
      expect([await registry.writer(), await registry.owner()]).toEqual([
        writer.address,
        owner.address,
      ])
      expect(await registry.writerChanges(span)).toMatchObject([
        { previous: zeroAddress, current: writer.address },
      ])
      const { call, record } = after(start, { add: one(2, 5) })
      const { status, logs } = await send(writer, encodeAnchorCall(call), registry.address)
      expect(status).toBe('success')
      expect(await registry.head()).toBe(hashOf(record))
      expect(anchoredOf(logs[0]!, 2)).toMatchObject({ index: beginning.from.index + 1, count: 5 })
    }
  })

  test('goes on from a record of another contract of its version', async () => {
    const former = await deployed()
    const first = after(former.start, { add: all(3) })
    await send(writer, encodeAnchorCall(first.call), former.registry.address)
    const beginning = { former: former.registry.address, from: first.record }
    const { registry, start } = await deployed(beginning)
    expect(await registry.head()).toBe(hashOf(start))
    const second = encodeAnchorCall(after(start, { add: one(0) }).call)
    expect((await send(writer, second, registry.address)).status).toBe('success')
    // what was made for the one is not valid for the other, whose last batch is the same
    const wrong = encodeAnchorCall(after(first.record, { add: one(0) }).call)
    expect(await refusal(writer.address, registry.address, wrong)).toMatchObject({
      errorName: 'WrongHead',
      args: [await registry.head(), hashOf(first.record)],
    })
  })

  test('is distinguished from version 1, from other code and from none', async () => {
    const { registry } = await deployed()
    const client = clientOf(anvil)
    const code = (await client.getCode({ address: registry.address })) ?? '0x'
    expect([versionOfCode(code), isRegistryCode(code, 1), isRegistryCode(code, 2)]).toEqual([
      2,
      false,
      true,
    ])
    const old = await send(owner, encodeDeployment(owner.address, writer.address))
    const oldCode = (await client.getCode({ address: old.contractAddress! })) ?? '0x'
    expect([versionOfCode(oldCode), isRegistryCode(oldCode, 2)]).toEqual([1, false])
    const altered: Hex = `0x${code.slice(2, -1)}${code.endsWith('0') ? '1' : '0'}`
    expect([versionOfCode(altered), versionOfCode('0x')]).toEqual([undefined, undefined])
    expect(await registry.isDeployed()).toBe(true)
    expect(await registryAt(client, registry.address, 1).isDeployed()).toBe(false)
    expect(await registryAt(client, registry.address, 1).began({ fromBlock: 0, toBlock: 0 })).toBe(
      undefined,
    )
  })

  test('moves its head by the formula, and emits the numbers of both sides', async () => {
    const from = { ...noRecord, n: all(big), last: 1e9, index: 100 }
    const { registry, start, span } = await deployed({ former: stranger.address, from })
    const steps: readonly [string, Step][] = [
      ['16 partitions', { add: all(31_250), last: start.last + 4_096 }],
      ['16 again', { add: all(31_250).map((n, p) => n + p) }],
      ['2 partitions', { add: one(4, 12).with(15, 7) }],
      ['1 partition', { add: one(5) }],
      ['heartbeat', {}],
      ['heartbeat of no message', { last: start.last + 4_100 }],
      ['the greatest number', { add: one(11, 2 ** 40 - 1 - big - 62_500 - 11) }],
    ]
    let prev: ChainRecord = start
    const sent: object[] = []
    const gas: string[] = []
    for (const [name, step] of steps) {
      const { record, count, call } = after(prev, step)
      const receipt = await send(writer, encodeAnchorCall(call), registry.address)
      expect([name, receipt.status]).toEqual([name, 'success'])
      expect(await registry.head()).toBe(hashOf(record))
      const { prevHead, index, root, headerHash, last, n } = record
      const numbers = { before: prev.n, n }
      const first = prev.last + 1
      sent.push({
        prevHead,
        index,
        root,
        headerHash,
        first,
        last,
        count,
        head: hashOf(record),
        ...numbers,
      })
      gas.push(`${name} ${receipt.gasUsed}`)
      expect(receipt.gasUsed).toBeLessThanOrEqual(43_000n)
      prev = record
    }
    const toBlock = Number(await clientOf(anvil).getBlockNumber())
    expect(await registry.anchored({ ...span, toBlock })).toMatchObject(sent)
    console.log(`gas of an anchor of version 2: ${gas.join(', ')}`)
  })

  test('anchors no batch twice, and none that is not the next one', async () => {
    const { registry, start } = await deployed()
    const first = after(start, { add: all(2) })
    const data = encodeAnchorCall(first.call)
    expect((await send(writer, data, registry.address)).status).toBe('success')
    const { record } = first
    const head = hashOf(record)
    const stranded = after(after(record, { add: one(1) }).record, { add: one(1) })
    const wrong: readonly [string, ChainRecord][] = [
      ['the same again', start],
      ['the one after the next', stranded.call.prev],
      ['another index', { ...record, index: 2 }],
      ['another root', { ...record, root: hash('other') }],
      ['another header', { ...record, headerHash: hash('other') }],
      ['another last', { ...record, last: 0 }],
      ['smaller numbers', { ...record, n: all(1) }],
      ['another head before', { ...record, prevHead: zeroHash }],
    ]
    for (const [name, prev] of wrong) {
      const call = encodeAnchorCall({ ...after(record, { add: one(1) }).call, prev })
      const why = await refusal(writer.address, registry.address, call)
      expect([name, why]).toMatchObject([
        name,
        { errorName: 'WrongHead', args: [head, hashOf(prev)] },
      ])
    }
    expect((await send(writer, data, registry.address)).status).toBe('reverted')
    expect(await registry.head()).toBe(head)
  })

  test('takes no number back, in any partition, whatever the others bring', async () => {
    const { registry, start } = await deployed({ ...anew, from: { ...noRecord, n: all(big) } })
    for (let p = 0; p < 16; p++) {
      for (const others of [0, 1_000]) {
        const add = all(others).with(p, -1)
        const call = { ...after(start, { add }).call, root: hash('root') }
        expect(
          await refusal(writer.address, registry.address, encodeAnchorCall(call)),
        ).toMatchObject({
          errorName: 'NumberGoesBack',
          args: [BigInt(p), BigInt(big), BigInt(big - 1)],
        })
      }
    }
  })

  test('takes no log sequence back', async () => {
    const { registry, start } = await deployed({ ...anew, from: { ...noRecord, last: 50 } })
    for (const add of [one(0), all(0)]) {
      const back = encodeAnchorCall(after(start, { add, last: 49 }).call)
      expect(await refusal(writer.address, registry.address, back)).toMatchObject({
        errorName: 'LastGoesBack',
        args: [50n, 49n],
      })
    }
    const same = encodeAnchorCall(after(start, { last: 50 }).call)
    expect(await refusal(writer.address, registry.address, same)).toBe('accepted')
  })

  test('takes no bits that are no number, in a call or at its beginning', async () => {
    const { registry, start } = await deployed()
    const { call } = after(start, { add: all(1) })
    const good = encodeAnchorCall(call)
    // the last three words of a call are the numbers, as those of a beginning are
    const withBit = (data: Hex, word: number, bit: number): Hex => {
      const at = data.length - 64 * (3 - word)
      const value = BigInt(`0x${data.slice(at, at + 64)}`) | (1n << BigInt(bit))
      const text = value.toString(16).padStart(64, '0')
      return `0x${data.slice(2, at)}${text}${data.slice(at + 64)}`
    }
    const first = { ...anew, from: { ...noRecord, n: all(1) } }
    const creation = encodeDeployment(owner.address, writer.address, first)
    for (const [word, bits] of [
      [0, [240, 255]],
      [1, [240, 255]],
      [2, [160, 200, 255]],
    ] as const) {
      for (const bit of bits) {
        const refused = { errorName: 'NotNumbers', args: [BigInt(word), expect.any(BigInt)] }
        const data = withBit(good, word, bit)
        expect(await refusal(writer.address, registry.address, data)).toMatchObject(refused)
        const made = withBit(creation, word, bit)
        expect(await refusal(owner.address, undefined, made)).toMatchObject(refused)
      }
    }
    expect(await refusal(writer.address, registry.address, good)).toBe('accepted')
    expect(await refusal(owner.address, undefined, creation)).toBe('accepted')
  })

  test('refuses readings without a root and a root without readings', async () => {
    const { registry, start } = await deployed()
    const wrong = [
      { ...after(start, { add: all(4) }).call, root: zeroHash },
      { ...after(start).call, root: hash('root') },
    ]
    const refused = [
      [64n, zeroHash],
      [0n, hash('root')],
    ]
    for (const [i, call] of wrong.entries()) {
      expect(await refusal(writer.address, registry.address, encodeAnchorCall(call))).toMatchObject(
        {
          errorName: 'CountWithoutRoot',
          args: refused[i],
        },
      )
    }
  })

  test('is written by its writer alone, and only the owner names another, or none', async () => {
    const { registry, start } = await deployed()
    const data = encodeAnchorCall(after(start, { add: one(9) }).call)
    const { address } = registry
    for (const from of [stranger, owner])
      expect(await refusal(from.address, address, data)).toMatchObject({
        errorName: 'NotWriter',
        args: [from.address],
      })
    const rotate = encodeSetWriter(stranger.address)
    for (const from of [writer, stranger])
      expect(await refusal(from.address, address, rotate)).toMatchObject({
        errorName: 'NotOwner',
        args: [from.address],
      })
    await send(owner, encodeSetWriter(zeroAddress), address)
    expect(await registry.writer()).toBe(zeroAddress)
    expect(await refusal(writer.address, address, data)).toMatchObject({ errorName: 'NotWriter' })
    await send(owner, rotate, address)
    expect(await registry.writer()).toBe(stranger.address)
    expect((await send(stranger, data, address)).status).toBe('success')
  })
})

describe('an owner that is the writer', () => {
  const both = encodeDeployment(owner.address, owner.address, anew)

  test('is taken on the demonstration chain alone', async () => {
    expect(await refusal(owner.address, undefined, both)).toBe('accepted')
    expect(await refusal(owner.address, undefined, both, otherAnvil)).toMatchObject({
      errorName: 'OwnerIsWriter',
      args: [owner.address],
    })
    expect((await send(owner, both, undefined, otherAnvil)).status).toBe('reverted')
  })

  test('cannot become so later either', async () => {
    const rotate = encodeSetWriter(owner.address)
    const there = await deployed(anew, otherAnvil)
    expect(await refusal(owner.address, there.registry.address, rotate, otherAnvil)).toMatchObject({
      errorName: 'OwnerIsWriter',
      args: [owner.address],
    })
    const here = await deployed()
    expect(await refusal(owner.address, here.registry.address, rotate)).toBe('accepted')
  })

  test('has another first head on every chain', async () => {
    const { registry } = await deployed(anew, otherAnvil)
    expect(await registry.head()).toBe(hashOf(beginningOf(registry.address, anew, elsewhere)))
    expect(await registry.head()).not.toBe(hashOf(beginningOf(registry.address, anew)))
  })
})
