/**
 * The registry contract in the words of this project: what to send it, and what it says, in both of
 * its versions. It only encodes, decodes and asks: sending and waiting are the sender's.
 */
import {
  type Address,
  BaseError,
  decodeErrorResult,
  decodeEventLog,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  isHex,
  numberToHex,
  type PublicClient,
  RpcRequestError,
} from 'viem'
import type { ChainRecord } from '../../core/proof/chain-record.ts'
import { packNumbers, unpackNumbers } from '../../core/proof/packed-numbers.ts'
import type { ContractVersion } from '../../schemas/anchoring/contract-code.ts'
import { registryAbi, registryAbi2 } from './abi.ts'
import { bytecodeOf, isRegistryCode } from './contract-code.ts'

/** The arguments of `anchor` in version 1, in order, as `core/proof/header.ts` gives them. */
export type AnchorCall = {
  readonly prevHead: Hex
  readonly index: number
  readonly root: Hex
  readonly headerHash: Hex
  readonly first: number
  readonly last: number
  readonly count: number
}

/** Those of version 2, which has the rest from `prev`: the record that its head is the hash of. */
export type AnchorCall2 = Pick<AnchorCall, 'root' | 'headerHash' | 'last'> & {
  readonly prev: ChainRecord
  /** For each partition the number of its last reading up to the end of this batch. */
  readonly nLast: readonly number[]
}

/** A contract takes any number of 64 bits for them. */
type ChainNumber = 'index' | 'first' | 'last' | 'count'

/** What the contract said when it anchored a batch, and where it said it. */
export type Anchored = AnchorCall & {
  /** The head from then on. */
  readonly head: Hex
  /** Only where one of them is 2^53 or more, which no batch of ours has: what the head is made of. */
  readonly exact?: Readonly<Record<ChainNumber, bigint>>
  /** Version 2 alone: the last numbers of the batch before, and of this one, by partition. */
  readonly before?: readonly number[]
  readonly n?: readonly number[]
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly txHash: Hex
  readonly logIndex: number
}

/** Where a contract of version 2 goes on from. */
export type Beginning = {
  /** The contract that anchored `from`; zero: there is none. */
  readonly former: Address
  readonly from: ChainRecord
}

export type Began = Beginning & { readonly head: Hex; readonly blockNumber: number }

export type WriterChanged = {
  readonly previous: Address
  readonly current: Address
  readonly blockNumber: number
}

/** A block by number, or by what the chain says of it. */
export type At = { readonly blockNumber: bigint } | { readonly blockTag: 'latest' | 'finalized' }

export type Registry = {
  readonly address: Address
  readonly version: ContractVersion
  /** At the latest block unless `at` says otherwise. */
  readonly head: (at?: At) => Promise<Hex>
  readonly writer: (at?: At) => Promise<Address>
  readonly owner: () => Promise<Address>
  /** Whether the code at the address is that of our contract in this version. */
  readonly isDeployed: () => Promise<boolean>
  /**
   * All anchors of the blocks, both included, in the order of the chain. Nodes bound how many blocks
   * one question may span, so a long history is read in steps.
   */
  readonly anchored: (span: BlockSpan) => Promise<Anchored[]>
  readonly writerChanges: (span: BlockSpan) => Promise<WriterChanged[]>
  /** Its beginning, which the contract emits once; undefined: not in these blocks, or version 1. */
  readonly began: (span: BlockSpan) => Promise<Began | undefined>
}

export type BlockSpan = { readonly fromBlock: number; readonly toBlock: number }

/** Every call asks the node again, once; errors are viem's. */
export function registryAt(
  client: Pick<PublicClient, 'readContract' | 'getCode' | 'getContractEvents'>,
  address: Address,
  version: ContractVersion = 1,
): Registry {
  // what both versions have is asked by the interface of the first
  const contract = { address, abi: registryAbi } as const
  const within = (span: BlockSpan) => ({
    address,
    fromBlock: BigInt(span.fromBlock),
    toBlock: BigInt(span.toBlock),
    strict: true as const,
  })
  return {
    address,
    version,
    head: (at = latest) => client.readContract({ ...contract, functionName: 'head', ...at }),
    writer: (at = latest) => client.readContract({ ...contract, functionName: 'writer', ...at }),
    owner: () => client.readContract({ ...contract, functionName: 'owner' }),
    isDeployed: async () => isRegistryCode((await client.getCode({ address })) ?? '0x', version),
    anchored: async (span) => {
      const abi = version === 1 ? registryAbi : registryAbi2
      const logs = await client.getContractEvents({ ...within(span), abi, eventName: 'Anchored' })
      return logs.map((log) => anchoredOf(log, version))
    },
    writerChanges: async (span) => {
      const eventName = 'WriterChanged'
      const logs = await client.getContractEvents({ ...within(span), abi: registryAbi, eventName })
      return logs.map(({ args, blockNumber }) => ({ ...args, blockNumber: Number(blockNumber) }))
    },
    began: async (span) => {
      if (version === 1) return undefined
      const abi = registryAbi2
      const [log] = await client.getContractEvents({ ...within(span), abi, eventName: 'Began' })
      if (log === undefined) return undefined
      const { former, head, from } = log.args
      return { former, head, from: recordOf(from), blockNumber: Number(log.blockNumber) }
    },
  }
}

const latest = { blockTag: 'latest' } as const

/** `data` of the transaction that anchors; a call with `prev` is one of version 2. */
export const encodeAnchorCall = (call: AnchorCall | AnchorCall2): Hex =>
  'prev' in call
    ? encodeFunctionData({
        abi: registryAbi2,
        functionName: 'anchor',
        args: [
          wordsOf(call.prev),
          call.root,
          call.headerHash,
          BigInt(call.last),
          wordsOfNumbers(call.nLast),
        ],
      })
    : encodeFunctionData({
        abi: registryAbi,
        functionName: 'anchor',
        args: [
          call.prevHead,
          BigInt(call.index),
          call.root,
          call.headerHash,
          BigInt(call.first),
          BigInt(call.last),
          BigInt(call.count),
        ],
      })

/** `data` of the transaction that names another writer, which the owner sends. */
export const encodeSetWriter = (writer: Address): Hex =>
  encodeFunctionData({ abi: registryAbi, functionName: 'setWriter', args: [writer] })

/** `data` of the transaction, without `to`, that deploys the contract; with a beginning, version 2. */
export const encodeDeployment = (owner: Address, writer: Address, beginning?: Beginning): Hex =>
  beginning === undefined
    ? encodeDeployData({ abi: registryAbi, bytecode: bytecodeOf(1), args: [owner, writer] })
    : encodeDeployData({
        abi: registryAbi2,
        bytecode: bytecodeOf(2),
        args: [owner, writer, beginning.former, wordsOf(beginning.from)],
      })

type Words = {
  readonly prevHead: Hex
  readonly index: bigint
  readonly root: Hex
  readonly headerHash: Hex
  readonly last: bigint
  readonly n: NumberWords
}

type NumberWords = readonly [bigint, bigint, bigint]

const wordsOfNumbers = (n: readonly number[]): NumberWords => {
  const [first, second, third] = packNumbers(n)
  return [BigInt(first), BigInt(second), BigInt(third)]
}

const numbersOf = ([first, second, third]: NumberWords): readonly number[] =>
  unpackNumbers([wordHex(first), wordHex(second), wordHex(third)])

const wordHex = (word: bigint): Hex => numberToHex(word, { size: 32 })

const wordsOf = ({ index, last, n, ...hashes }: ChainRecord): Words => ({
  ...hashes,
  index: BigInt(index),
  last: BigInt(last),
  n: wordsOfNumbers(n),
})

const recordOf = ({ index, last, n, ...hashes }: Words): ChainRecord => ({
  ...hashes,
  index: Number(index),
  last: Number(last),
  n: numbersOf(n),
})

type Log = {
  readonly data: Hex
  readonly topics: [] | [signature: Hex, ...args: Hex[]]
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly logIndex: number
}

/**
 * A mined log of the contract, as receipts and queries give it.
 * @throws viem's error if it is another event
 */
export function anchoredOf(log: Log, version: ContractVersion = 1): Anchored {
  if (version === 1) {
    const { args } = decodeEventLog({ abi: registryAbi, eventName: 'Anchored', ...log })
    return withPlace(args, log)
  }
  const { args } = decodeEventLog({ abi: registryAbi2, eventName: 'Anchored', ...log })
  const { before, n, ...rest } = args
  return { ...withPlace(rest, log), before: numbersOf(before), n: numbersOf(n) }
}

type AnchoredArgs = Pick<Anchored, 'prevHead' | 'root' | 'headerHash' | 'head'> &
  Readonly<Record<ChainNumber, bigint>>

function withPlace({ index, first, last, count, ...hashes }: AnchoredArgs, log: Log): Anchored {
  const isBeyond = [index, first, last, count].some((number) => number > Number.MAX_SAFE_INTEGER)
  return {
    ...hashes,
    index: Number(index),
    first: Number(first),
    last: Number(last),
    count: Number(count),
    ...(isBeyond && { exact: { index, first, last, count } }),
    blockNumber: Number(log.blockNumber),
    blockHash: log.blockHash,
    txHash: log.transactionHash,
    logIndex: log.logIndex,
  }
}

/** Version 2 has every error of version 1. */
const errors = registryAbi2

/** The contract's own reason in viem's error of a call or an estimate, if it has one. */
export function refusalOf(error: unknown) {
  if (!(error instanceof BaseError)) return undefined
  const refusal = error.walk((cause) => cause instanceof RpcRequestError)
  const data = refusal instanceof RpcRequestError ? refusal.data : undefined
  if (typeof data !== 'string' || !isHex(data)) return undefined
  try {
    return decodeErrorResult({ abi: errors, data })
  } catch {
    // another contract's error, or none at all
    return undefined
  }
}
