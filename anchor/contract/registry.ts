/**
 * The registry contract in the words of this project: what to send it, and what it says. It only
 * encodes, decodes and asks: sending and waiting are the sender's.
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
  type PublicClient,
  RpcRequestError,
} from 'viem'
import { registryAbi } from './abi.ts'
import artifact from './airproof-anchors.json' with { type: 'json' }

/** The arguments of `anchor`, in order, as `core/proof/header.ts` gives them. */
export type AnchorCall = {
  readonly prevHead: Hex
  readonly index: number
  readonly root: Hex
  readonly headerHash: Hex
  readonly first: number
  readonly last: number
  readonly count: number
}

/** What the contract said when it anchored a batch, and where it said it. */
export type Anchored = AnchorCall & {
  /** The head from then on. */
  readonly head: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly txHash: Hex
  readonly logIndex: number
}

export type WriterChanged = {
  readonly previous: Address
  readonly current: Address
  readonly blockNumber: number
}

/** A block by number, or by what the chain says of it. */
export type At = { readonly blockNumber: bigint } | { readonly blockTag: 'latest' | 'finalized' }

export type Registry = {
  readonly address: Address
  /** At the latest block unless `at` says otherwise. */
  readonly head: (at?: At) => Promise<Hex>
  readonly writer: (at?: At) => Promise<Address>
  readonly owner: () => Promise<Address>
  /** Whether the code at the address is this contract's: false also where there is none. */
  readonly isDeployed: () => Promise<boolean>
  /**
   * All anchors of the blocks, both included, in the order of the chain. Nodes bound how many
   * blocks one question may span: whoever replays a long history asks in steps.
   */
  readonly anchored: (span: BlockSpan) => Promise<Anchored[]>
  readonly writerChanges: (span: BlockSpan) => Promise<WriterChanged[]>
}

export type BlockSpan = { readonly fromBlock: number; readonly toBlock: number }

/** Every call asks the node anew, once; errors are viem's. */
export function registryAt(
  client: Pick<PublicClient, 'readContract' | 'getCode' | 'getContractEvents'>,
  address: Address,
): Registry {
  const contract = { address, abi: registryAbi } as const
  const events = (span: BlockSpan) => ({
    ...contract,
    fromBlock: BigInt(span.fromBlock),
    toBlock: BigInt(span.toBlock),
    strict: true as const,
  })
  return {
    address,
    head: (at = latest) => client.readContract({ ...contract, functionName: 'head', ...at }),
    writer: (at = latest) => client.readContract({ ...contract, functionName: 'writer', ...at }),
    owner: () => client.readContract({ ...contract, functionName: 'owner' }),
    isDeployed: async () => isRegistryCode((await client.getCode({ address })) ?? '0x'),
    anchored: async (span) => {
      const logs = await client.getContractEvents({ ...events(span), eventName: 'Anchored' })
      return logs.map(anchoredOf)
    },
    writerChanges: async (span) => {
      const logs = await client.getContractEvents({ ...events(span), eventName: 'WriterChanged' })
      return logs.map(({ args, blockNumber }) => ({ ...args, blockNumber: Number(blockNumber) }))
    },
  }
}

const latest = { blockTag: 'latest' } as const

/** `data` of the transaction that anchors. */
export const encodeAnchorCall = (call: AnchorCall): Hex =>
  encodeFunctionData({
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

/** `data` of the transaction that names another writer; the owner's to send. */
export const encodeSetWriter = (writer: Address): Hex =>
  encodeFunctionData({ abi: registryAbi, functionName: 'setWriter', args: [writer] })

/** `data` of the transaction, without `to`, that deploys the contract. */
export const encodeDeployment = (owner: Address, writer: Address): Hex =>
  encodeDeployData({ abi: registryAbi, bytecode: hexOf(artifact.bytecode), args: [owner, writer] })

/** Whether code from a chain is this contract's, whoever its owner is. */
export function isRegistryCode(code: Hex): boolean {
  const expected = artifact.deployedBytecode
  if (code.length !== expected.length) return false
  const masked = artifact.immutables.reduce((text, start) => {
    const at = 2 + 2 * start
    return `${text.slice(0, at)}${'0'.repeat(64)}${text.slice(at + 64)}`
  }, code.toLowerCase())
  return masked === expected
}

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
 * @throws viem's error where it is another event
 */
export function anchoredOf(log: Log): Anchored {
  const { args } = decodeEventLog({ abi: registryAbi, eventName: 'Anchored', ...log })
  return {
    prevHead: args.prevHead,
    index: Number(args.index),
    root: args.root,
    headerHash: args.headerHash,
    first: Number(args.first),
    last: Number(args.last),
    count: Number(args.count),
    head: args.head,
    blockNumber: Number(log.blockNumber),
    blockHash: log.blockHash,
    txHash: log.transactionHash,
    logIndex: log.logIndex,
  }
}

function hexOf(text: string): Hex {
  if (!/^0x([0-9a-f]{2})+$/.test(text)) throw new RangeError('the artifact holds no bytecode')
  return `0x${text.slice(2)}`
}

/** The contract's own reason in viem's error of a call or an estimate, if it has one. */
export function refusalOf(error: unknown) {
  if (!(error instanceof BaseError)) return undefined
  const told = error.walk((cause) => cause instanceof RpcRequestError)
  const data = told instanceof RpcRequestError ? told.data : undefined
  if (typeof data !== 'string' || !isHex(data)) return undefined
  try {
    return decodeErrorResult({ abi: registryAbi, data })
  } catch {
    // another contract's error, or none at all
    return undefined
  }
}
