/** A batch that was anchored on a live anvil, and the bundles of its readings. */
import { createWalletClient, type Hex, http } from 'viem'
import { foundry } from 'viem/chains'
import { buildChainProof } from '../../anchor/chain/bundle.ts'
import { encodeAnchorCall, encodeDeployment } from '../../anchor/contract/registry.ts'
import { nOfSeq, partitionOfSeq, seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { toHex } from '../../core/hex.ts'
import { beforeFirst, endOf, nextHeader } from '../../core/proof/batch.ts'
import { bundleText, type ChainProof } from '../../core/proof/bundle.ts'
import { type BatchHeader, headerHash } from '../../core/proof/header.ts'
import { type LeafFields, leafOf } from '../../core/proof/leaf.ts'
import { merkleTree, sortLeaves } from '../../core/proof/merkle.ts'
import { nodeHash } from '../../core/proof/nodes.ts'
import { createKeccak } from '../../runtime/keccak.ts'
import { anvilAccount, type TestAnvil } from './anvil.ts'
import { eventually } from './eventually.ts'
import { valued } from './readings.ts'

const keccak = await createKeccak()
const startMs = Date.UTC(2026, 0, 1)

export type TxType = 'legacy' | 'eip2930' | 'eip1559'

export type AnchoredOptions = {
  readonly readings: readonly LeafFields[]
  /** What the header claims for each partition, if it does not match the readings. */
  readonly counts?: readonly number[]
  /** How the anchor itself is sent. */
  readonly type?: TxType
  /** Other transactions in the same block, before the anchor. */
  readonly crowd?: number
  /** A deposit of an OP-stack chain in the same block; anvil must run as one. */
  readonly hasDeposit?: boolean
  /** Heartbeats that are anchored before. */
  readonly heartbeats?: number
}

export type AnchoredBatch = {
  readonly contract: Hex
  readonly header: BatchHeader
  readonly chain: ChainProof
  /** The bundle of each reading, in the given order. */
  readonly bundles: readonly string[]
}

/** Believable readings of a few sensors: numbers from 1 in each of the 16 partitions. */
export const someReadings = (count: number): LeafFields[] =>
  Array.from({ length: count }, (_, n) =>
    valued({
      sensor: `NGR-LOS-IKJ-${String(n % 40).padStart(3, '0')}` as SensorId,
      timeMs: startMs + n * 1_000,
      seq: seqOf(n % 16, 1 + Math.floor(n / 16)),
      pm25: n % 7 === 3 ? null : 1_850 + n,
      pm10: 3_200 + n,
      co2: n % 5 === 0 ? null : 41_200 + n,
      temperature: n % 2 === 0 ? 2_850 : -150,
      humidity: 6_500,
      aqi: n % 7 === 3 ? null : 69,
    }),
  )

/** Deploys a new registry, anchors the readings as one batch and builds their bundles. */
export async function anchoredBatch(
  anvil: TestAnvil,
  {
    readings,
    counts,
    type = 'eip1559',
    crowd = 0,
    hasDeposit = false,
    heartbeats = 0,
  }: AnchoredOptions,
): Promise<AnchoredBatch> {
  const wallet = (account = anvilAccount(0)) =>
    createWalletClient({ account, chain: foundry, transport: http(anvil.url) })
  const mined = (hash: Hex): Promise<{ contractAddress: Hex }> =>
    eventually(`${hash} is mined`, async () => {
      const receipt = await anvil.rpc('eth_getTransactionReceipt', [hash])
      return (receipt ?? undefined) as { contractAddress: Hex } | undefined
    })
  const writer = anvilAccount(1)
  const deployment = await wallet().sendTransaction({
    data: encodeDeployment(anvilAccount(0).address, writer.address),
  })
  const { contractAddress: contract } = await mined(deployment)

  const gas = { gas: 100_000n, ...(type === 'eip1559' ? {} : { gasPrice: 10_000_000_000n }) }
  const anchor = (header: BatchHeader): Promise<Hex> =>
    wallet(writer).sendTransaction({
      to: contract,
      data: encodeAnchorCall({ ...header, headerHash: headerHash(header, keccak) }),
      ...gas,
      ...(type === 'eip2930' ? { accessList: [{ address: contract, storageKeys: [] }] } : {}),
    } as Parameters<ReturnType<typeof wallet>['sendTransaction']>[0])

  const chainId = Number(await anvil.rpc('eth_chainId'))
  let end = beforeFirst(chainId, contract, keccak)
  for (let n = 0; n < heartbeats; n++) {
    const idle = nextHeader(end, { last: end.last, sealedMs: startMs + n })
    await mined(await anchor(idle))
    end = endOf(idle, keccak)
  }
  const sorted = sortLeaves(readings.map((reading) => leafOf(reading, keccak)))
  const tree = merkleTree(sorted, nodeHash(keccak, 1))
  const header = nextHeader(end, {
    last: end.last + 3,
    sealedMs: startMs + 700_000,
    beacon: toHex(keccak(new TextEncoder().encode('a block seen before'))),
    readings: {
      root: toHex(tree.root),
      timeMinMs: Math.min(...readings.map(({ timeMs }) => timeMs)),
      timeMaxMs: Math.max(...readings.map(({ timeMs }) => timeMs)),
      counts: counts ?? countsOf(readings),
    },
  })

  await anvil.rpc('anvil_setIntervalMining', [0])
  await anvil.rpc('evm_setAutomine', [false])
  if (hasDeposit) await anvil.rpc('eth_sendTransaction', [deposit])
  for (let n = 0; n < crowd; n++) await anvil.rpc('eth_sendTransaction', [crowdTransaction(n)])
  const txHash = await anchor(header)
  await anvil.rpc('evm_mine')
  await anvil.rpc('evm_setAutomine', [true])
  await mined(txHash)

  const chain = await buildChainProof({ ask: anvil.rpc, chainId, contract, txHash })
  if (chain === undefined) throw new Error('the anchor is in no block')
  const bundles = readings.map((reading) => {
    const leaf = leafOf(reading, keccak)
    const path = tree.pathOf(sorted.findIndex((one) => Buffer.compare(one, leaf) === 0))
    return bundleText({ reading, path, header, chain }, keccak)
  })
  return { contract, header, chain, bundles }
}

/** @throws Error if the numbers of a partition do not run from 1 without a gap */
function countsOf(readings: readonly LeafFields[]): number[] {
  const numbers = Array.from({ length: 16 }, (): number[] => [])
  for (const { seq } of readings) numbers[partitionOfSeq(seq)]?.push(nOfSeq(seq))
  if (numbers.some((list) => list.length > 0 && Math.max(...list) !== list.length)) {
    throw new Error('these readings are not a whole range')
  }
  return numbers.map((list) => list.length)
}

const crowdTransaction = (n: number) => ({
  from: anvilAccount(2).address,
  to: anvilAccount(3).address,
  value: `0x${(n + 1).toString(16)}`,
  gas: '0x5208',
  // above the anchor's, so that it comes after them
  ...(n % 3 === 0
    ? { gasPrice: '0x4a817c800' }
    : { maxFeePerGas: '0x4a817c800', maxPriorityFeePerGas: '0x2540be400' }),
})

const deposit = {
  from: anvilAccount(0).address,
  to: anvilAccount(1).address,
  value: '0x1',
  gas: '0x5208',
  type: '0x7e',
  sourceHash: `0x${'11'.repeat(32)}`,
  mint: '0x5',
  isSystemTx: false,
}
