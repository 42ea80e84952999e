import { readFileSync } from 'node:fs'
import {
  type Abi,
  type Address,
  createPublicClient,
  createWalletClient,
  encodeDeployData,
  type Hex,
  http,
} from 'viem'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registryAbi, registryAbi2 } from '../../anchor/contract/abi.ts'
import { isRegistryCode } from '../../anchor/contract/contract-code.ts'
import {
  anchoredOf,
  encodeAnchorCall,
  encodeDeployment,
  encodeSetWriter,
  refusalOf,
  registryAt,
} from '../../anchor/contract/registry.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { toHex, zeroHash } from '../../core/hex.ts'
import { type BatchEnd, beforeFirst, endOf, nextHeader } from '../../core/proof/batch.ts'
import { type BatchHeader, headerHash, headOf } from '../../core/proof/header.ts'
import { leafOf, presentBits } from '../../core/proof/leaf.ts'
import { sortLeaves } from '../../core/proof/sort-leaves.ts'
import { merkleTree, nodeHash } from '../../core/proof/tree.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import fixture from '../fixtures/leaf-vectors.json' with { type: 'json' }
import { anvilAccount, anvilChainId, type TestAnvil, testAnvil } from '../support/anvil.ts'
import { eventually } from '../support/eventually.ts'
import { valued } from '../support/readings.ts'
import { compile, registries } from '../support/solidity.ts'

const keccak = await createKeccak()
const owner = anvilAccount(0)
const writer = anvilAccount(1)
const stranger = anvilAccount(2)
const readings = fixture.vectors.map(({ reading, leaf }) =>
  valued({ ...reading, leaf, sensor: reading.sensor as SensorId }),
)

let anvil: TestAnvil
const connect = () =>
  createPublicClient({ chain: foundry, transport: http(anvil.url), cacheTime: 0 })
let client: ReturnType<typeof connect>

beforeAll(async () => {
  anvil = await testAnvil()
  client = connect()
})
afterAll(() => anvil[Symbol.asyncDispose]())

/** Mined before it returns; a revert is in the receipt, not thrown. */
async function send(from: typeof owner, data: Hex, to?: Address) {
  const wallet = createWalletClient({ account: from, chain: foundry, transport: http(anvil.url) })
  const hash = await wallet.sendTransaction({ data, gas: 3_000_000n, ...(to ? { to } : {}) })
  return eventually(`${hash} is mined`, () =>
    client.getTransactionReceipt({ hash }).catch(() => undefined),
  )
}

async function deployed() {
  const { contractAddress } = await send(owner, encodeDeployment(owner.address, writer.address))
  if (!contractAddress) throw new Error('nothing was deployed')
  return registryAt(client, contractAddress)
}

const root = `0x${'b2'.repeat(32)}` as const
const callOf = (header: BatchHeader) =>
  encodeAnchorCall({ ...header, headerHash: headerHash(header, keccak) })
const oneReading = (end: BatchEnd): BatchHeader =>
  nextHeader(end, {
    last: end.last + 1,
    sealedMs: 1,
    readings: { root, timeMinMs: 1, timeMaxMs: 2, counts: [1] },
  })
/** Why a call from the address would be refused: the contract's error, by name. */
const refusal = (from: Address, to: Address, data: Hex) =>
  client.call({ account: from, to, data }).then(() => 'accepted', refusalOf)

describe.each([
  { ...registries[1], version: 1, abi: registryAbi },
  { ...registries[2], version: 2, abi: registryAbi2 },
])('the artifact of version $version', ({ source, artifact, more, abi }) => {
  test('is what the compiler makes of the source today', () => {
    expect(JSON.parse(readFileSync(artifact, 'utf8'))).toEqual(compile(source, more))
  })

  test('has the interface that our types are made of', () => {
    expect(plainAbi(abi)).toEqual(plainAbi(compile(source, more).abi))
  })
})

type Param = {
  readonly name?: string
  readonly type: string
  readonly indexed?: boolean
  readonly components?: readonly Param[]
}
type Item = {
  readonly type: string
  readonly name?: string
  readonly inputs: readonly Param[]
  readonly outputs?: readonly Param[]
  readonly stateMutability?: string
}

/** What counts of an interface, in an order of its own. */
const plainAbi = (abi: Abi): readonly string[] =>
  (JSON.parse(JSON.stringify(abi)) as readonly Item[])
    .map(({ type, name = '', inputs, outputs = [], stateMutability = '' }) =>
      JSON.stringify([
        type,
        name,
        inputs.map(plainParam),
        outputs.map(({ type: of }) => of),
        stateMutability,
      ]),
    )
    .toSorted()

const plainParam = ({ type, name, indexed = false, components = [] }: Param): unknown => [
  type,
  name,
  indexed,
  components.map(plainParam),
]

describe('a registry on a live chain', () => {
  test('is born with the head of its chain and address, its owner and its writer', async () => {
    const registry = await deployed()
    expect(await registry.head()).toBe(beforeFirst(anvilChainId, registry.address, keccak).head)
    expect(await registry.writer()).toBe(writer.address)
    expect(await registry.owner()).toBe(owner.address)
    expect(await registry.isDeployed()).toBe(true)
    const toBlock = Number(await client.getBlockNumber())
    expect(await registry.writerChanges({ fromBlock: 0, toBlock })).toMatchObject([
      { previous: '0x0000000000000000000000000000000000000000', current: writer.address },
    ])
  })

  test('is distinguished from other code and from none', async () => {
    expect(isRegistryCode('0x')).toBe(false)
    const registry = await deployed()
    const code = (await client.getCode({ address: registry.address })) ?? '0x'
    expect(isRegistryCode(code)).toBe(true)
    const altered: Hex = `0x${code.slice(2, -1)}${code.endsWith('0') ? '1' : '0'}`
    expect(isRegistryCode(altered)).toBe(false)
    expect(await registryAt(client, stranger.address).isDeployed()).toBe(false)
  })

  test('moves its head as we compute it, through batches and heartbeats, and tells all', async () => {
    const registry = await deployed()
    let end = beforeFirst(anvilChainId, registry.address, keccak)
    const sent: BatchHeader[] = []
    const gas: bigint[] = []
    for (const step of ['batch', 'heartbeat', 'batch', 'batch']) {
      const header =
        step === 'batch' ? oneReading(end) : nextHeader(end, { last: end.last, sealedMs: 9 })
      const receipt = await send(writer, callOf(header), registry.address)
      expect(receipt.status).toBe('success')
      end = endOf(header, keccak)
      expect(await registry.head()).toBe(end.head)
      const [log] = receipt.logs
      if (log === undefined) throw new Error('an anchor without an event')
      expect(anchoredOf(log)).toMatchObject({ index: header.index, head: end.head })
      sent.push(header)
      gas.push(receipt.gasUsed)
    }
    const toBlock = Number(await client.getBlockNumber())
    const anchors = await registry.anchored({ fromBlock: 0, toBlock })
    expect(anchors).toMatchObject(
      sent.map(({ prevHead, index, first, last, count, root: of }, n) => ({
        prevHead,
        index,
        first,
        last,
        count,
        root: of,
        headerHash: headerHash(sent[n] ?? oneReading(end), keccak),
      })),
    )
    console.log(`gas of an anchor: ${gas.join(', ')}`)
    expect(gas.every((used) => used <= 36_000n)).toBe(true)
  })

  test('refuses what was not made for its head: an old call, a repeated one, a gap', async () => {
    const registry = await deployed()
    const start = beforeFirst(anvilChainId, registry.address, keccak)
    const one = oneReading(start)
    expect((await send(writer, callOf(one), registry.address)).status).toBe('success')
    const head = headOf(one, keccak)
    for (const header of [one, oneReading(endOf(oneReading(endOf(one, keccak)), keccak))]) {
      expect(await refusal(writer.address, registry.address, callOf(header))).toMatchObject({
        errorName: 'WrongHead',
        args: [head, header.prevHead],
      })
      expect((await send(writer, callOf(header), registry.address)).status).toBe('reverted')
    }
    expect(await registry.head()).toBe(head)
  })

  test('refuses readings without a root and a root without readings', async () => {
    const registry = await deployed()
    const one = oneReading(beforeFirst(anvilChainId, registry.address, keccak))
    for (const over of [{ root: zeroHash }, { count: 0 }]) {
      const data = callOf({ ...one, ...over })
      expect(await refusal(writer.address, registry.address, data)).toMatchObject({
        errorName: 'CountWithoutRoot',
      })
    }
  })

  test('is written by its writer alone, and only the owner names another', async () => {
    const registry = await deployed()
    const data = callOf(oneReading(beforeFirst(anvilChainId, registry.address, keccak)))
    for (const { address } of [stranger, owner]) {
      expect(await refusal(address, registry.address, data)).toMatchObject({
        errorName: 'NotWriter',
        args: [address],
      })
    }
    const rotate = encodeSetWriter(stranger.address)
    expect(await refusal(writer.address, registry.address, rotate)).toMatchObject({
      errorName: 'NotOwner',
    })
    expect((await send(owner, rotate, registry.address)).status).toBe('success')
    expect(await registry.writer()).toBe(stranger.address)
    expect(await refusal(writer.address, registry.address, data)).toMatchObject({
      errorName: 'NotWriter',
    })
    expect((await send(stranger, data, registry.address)).status).toBe('success')
  })
})

describe('Solidity agrees on', () => {
  const check = compile('test/fixtures/contracts/ProofCheck.sol', { viaIR: true })
  const ask = async (functionName: string, args: readonly unknown[]): Promise<unknown> => {
    address ??= (await send(owner, encodeDeployData({ abi: check.abi, bytecode: check.bytecode })))
      .contractAddress
    if (!address) throw new Error('nothing was deployed')
    return client.readContract({ abi: check.abi, address, functionName, args })
  }
  let address: Address | null | undefined

  test.each(fixture.vectors)('the leaf of $name', async ({ reading, leaf, present }) => {
    const words = Object.fromEntries(
      Object.entries(reading).map(([name, value]) => [
        name,
        name === 'sensor' ? value : BigInt(value ?? 0),
      ]),
    )
    expect(await ask('leaf', [{ ...words, present, aqi: reading.aqi ?? 0 }])).toBe(leaf)
  })

  test('the hash of a header', async () => {
    const header = oneReading(beforeFirst(anvilChainId, writer.address, keccak))
    expect(await ask('headerHash', [header])).toBe(headerHash(header, keccak))
  })

  test('the root from every leaf and its path', async () => {
    const sorted = sortLeaves(readings.map((reading) => leafOf(reading, keccak)))
    const tree = merkleTree(sorted, nodeHash(keccak, 1))
    for (const [index, leaf] of sorted.entries()) {
      const path = tree.pathOf(index).map(toHex)
      expect(await ask('rootOf', [toHex(leaf), path])).toBe(toHex(tree.root))
    }
    expect(readings.every((reading) => presentBits(reading) >= 0)).toBe(true)
  })
})
