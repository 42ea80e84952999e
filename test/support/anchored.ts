/** A batch that was anchored on a live anvil, and the bundles of its readings. */
import { createWalletClient, type Hex, http } from 'viem'
import { foundry } from 'viem/chains'
import { buildChainProof } from '../../anchor/chain/bundle.ts'
import { encodeAnchorCall, encodeDeployment } from '../../anchor/contract/registry.ts'
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { nOfSeq, partitionOfSeq, seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { toHex } from '../../core/hex.ts'
import {
  type BatchEnd,
  beforeFirst,
  endOf,
  endOfRecord,
  nextHeader,
} from '../../core/proof/batch.ts'
import { bundleText, type ChainProof } from '../../core/proof/bundle.ts'
import {
  beginningOf,
  type ChainRecord,
  noContract,
  noRecord,
} from '../../core/proof/chain-record.ts'
import { type BatchHeader, headerHash, recordOf } from '../../core/proof/header.ts'
import { type LeafFields, type LeafFields2, leafOf } from '../../core/proof/leaf.ts'
import { sortLeaves } from '../../core/proof/sort-leaves.ts'
import { merkleTree, nodeHash } from '../../core/proof/tree.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { anvilAccount, type TestAnvil } from './anvil.ts'
import { eventually } from './eventually.ts'
import { valued } from './readings.ts'

const keccak = await createKeccak()
const startMs = Date.UTC(2026, 0, 1)

export type TxType = 'legacy' | 'eip2930' | 'eip1559'

/** With what its device signed, which is in its leaf and its bundle. */
export type AnchoredReading = LeafFields & { readonly signed?: DeviceSignature }

export type AnchoredOptions = {
  readonly readings: readonly AnchoredReading[]
  /** The contract: 1 unless given. */
  readonly contract?: 2
  /** The batch of another contract, after whose last one that of version 2 goes on. */
  readonly after?: Pick<AnchoredBatch, 'contract' | 'header'>
  /** What the header claims for each partition, if it does not match the readings. */
  readonly counts?: readonly number[]
  /** What the header says otherwise than the contract. */
  readonly claims?: Partial<BatchHeader>
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

/** The same at format level 3. @param before how many each partition had before these */
export const someReadings2 = (count: number, before = 0): LeafFields2[] =>
  someReadings(count).map((reading, n) => ({
    ...reading,
    leafVersion: 2,
    seq: reading.seq + before,
    area: n % 3 === 0 ? 'Ìkẹjà "GRA"' : 'Ikeja',
    flags: n % 4 === 0 ? 0 : 256,
    values: n % 2 === 0 ? reading.values : [...reading.values, null, null, 101_325, 1_250],
  }))

/** Deploys a new registry, anchors the readings as one batch and builds their bundles. */
export async function anchoredBatch(
  anvil: TestAnvil,
  {
    readings,
    contract: version,
    after,
    counts,
    claims = {},
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
  const beginning =
    version === undefined
      ? undefined
      : {
          former: after?.contract ?? noContract,
          from: after === undefined ? noRecord : recordOf(after.header, keccak),
        }
  const deployment = await wallet().sendTransaction({
    data: encodeDeployment(anvilAccount(0).address, writer.address, beginning),
  })
  const { contractAddress: contract } = await mined(deployment)
  const chainId = Number(await anvil.rpc('eth_chainId'))
  let prev: ChainRecord =
    beginning === undefined ? noRecord : beginningOf({ chainId, contract, ...beginning }, keccak)
  let end: BatchEnd =
    version === undefined ? beforeFirst(chainId, contract, keccak) : endOfRecord(prev, keccak)

  const gas = { gas: 100_000n, ...(type === 'eip1559' ? {} : { gasPrice: 10_000_000_000n }) }
  const anchor = (header: BatchHeader): Promise<Hex> => {
    const call = { ...header, headerHash: headerHash(header, keccak) }
    return wallet(writer).sendTransaction({
      to: contract,
      data: encodeAnchorCall(version === undefined ? call : { ...call, prev }),
      ...gas,
      ...(type === 'eip2930' ? { accessList: [{ address: contract, storageKeys: [] }] } : {}),
    } as Parameters<ReturnType<typeof wallet>['sendTransaction']>[0])
  }
  for (let n = 0; n < heartbeats; n++) {
    const idle = nextHeader(end, { last: end.last, sealedMs: startMs + n })
    await mined(await anchor(idle))
    end = endOf(idle, keccak)
    prev = recordOf(idle, keccak)
  }
  const leaves = (version === 2 ? readings.toSorted((a, b) => a.seq - b.seq) : readings).map(
    (reading) => leafOf(reading, keccak),
  )
  const sorted = version === 2 ? leaves : sortLeaves(leaves)
  const tree = merkleTree(sorted, nodeHash(keccak, version ?? 1))
  const truth = nextHeader(end, {
    last: end.last + 3,
    sealedMs: startMs + 700_000,
    beacon: toHex(keccak(new TextEncoder().encode('a block seen before'))),
    readings: {
      root: toHex(tree.root),
      timeMinMs: Math.min(...readings.map(({ timeMs }) => timeMs)),
      timeMaxMs: Math.max(...readings.map(({ timeMs }) => timeMs)),
      counts: counts ?? countsOf(readings, end.nLast),
    },
  })

  const header = { ...truth, ...claims }

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
    const { signed: signature } = reading
    return bundleText({ reading, path, header, chain, ...(signature && { signature }) }, keccak)
  })
  return { contract, header, chain, bundles }
}

/** @throws Error if the numbers of a partition do not run from those before them without a gap */
function countsOf(readings: readonly LeafFields[], before: readonly number[]): number[] {
  const numbers = Array.from({ length: 16 }, (): number[] => [])
  for (const { seq } of readings) numbers[partitionOfSeq(seq)]?.push(nOfSeq(seq))
  const isWhole = (list: readonly number[], partition: number): boolean =>
    list.length === 0 || Math.max(...list) === (before[partition] ?? 0) + list.length
  if (!numbers.every(isWhole)) throw new Error('these readings are not a whole range')
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
