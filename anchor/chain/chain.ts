/**
 * The chain as the sender sees it: questions and one kind of transaction. Nothing is remembered
 * here: each answer may be different at the next look.
 */
import {
  type Address,
  BaseError,
  createPublicClient,
  custom,
  hexToBigInt,
  isHex,
  numberToHex,
} from 'viem'
import type { Hex } from '../../core/hex.ts'
import type { BlockId } from '../../schemas/anchoring/batch-record.ts'
import type { ContractVersion } from '../../schemas/anchoring/contract-code.ts'
import {
  type Anchored,
  type At,
  type Began,
  type BlockSpan,
  registryAt,
} from '../contract/registry.ts'
import type { Market } from './fees.ts'
import { type Ask, RpcRefusal } from './rpc.ts'
import { answerOf, type SendAnswer } from './send-answer.ts'

/** One look; state is read at its block. */
export type Look = {
  readonly latest: BlockId & { readonly baseFee: bigint }
  readonly finalized: BlockId
  /** The contract's head at the latest block. */
  readonly head: Hex
  /** At the finalized block; undefined where the contract was not there yet, or the node does not know. */
  readonly finalHead: Hex | undefined
  /** Transactions of the writer in blocks, up to the latest and up to the finalized one. */
  readonly nonce: number
  readonly finalNonce: number | undefined
}

export type Outcome = { readonly status: 'success' | 'reverted' } & BlockId

export type Chain = {
  readonly ask: Ask
  readonly look: () => Promise<Look>
  readonly finalized: () => Promise<(BlockId & { readonly timeS: number }) | undefined>
  /** The contract's head at a block. */
  readonly headAt: (block: number) => Promise<Hex>
  /** Who anchors and who names that account, by the latest block. */
  readonly roles: () => Promise<{ readonly owner: Hex; readonly writer: Hex }>
  /** All anchors in the blocks, both included. */
  readonly anchored: (fromBlock: number, toBlock: number) => Promise<Anchored[]>
  /** How a contract of version 2 began; undefined: not in these blocks. */
  readonly began: (fromBlock: number, toBlock: number) => Promise<Began | undefined>
  readonly market: (baseFee: bigint) => Promise<Market>
  readonly balance: () => Promise<bigint>
  /** Gas of a call of the contract by the writer. @throws RpcRefusal where it would revert */
  readonly gasOf: (data: Hex) => Promise<bigint>
  /** @returns the answer, and the node's words where it refused */
  readonly send: (raw: Hex) => Promise<{ readonly answer: SendAnswer; readonly words: string }>
  /** The node holds the transaction, in its pool or in a block. */
  readonly knows: (hash: Hex) => Promise<boolean>
  /** What became of it; undefined where it is in no block. */
  readonly outcome: (hash: Hex) => Promise<Outcome | undefined>
  readonly block: (number: number) => Promise<(BlockId & { readonly timeS: number }) | undefined>
}

/** Nodes bound how many blocks one question about logs may span. */
const logSpan = 2_000

function* spansOf(fromBlock: number, last: number): Generator<BlockSpan> {
  for (let from = fromBlock; from <= last; from += logSpan)
    yield { fromBlock: from, toBlock: Math.min(from + logSpan - 1, last) }
}

export function chainAt(
  ask: Ask,
  contract: Hex,
  writer: Address,
  version: ContractVersion = 1,
): Chain {
  const client = createPublicClient({
    cacheTime: 0,
    transport: custom(
      { request: ({ method, params }: Request) => ask(method, params ?? []) },
      { retryCount: 0 },
    ),
  })
  const registry = registryAt(client, contract, version)
  const headAt = (at: At): Promise<Hex> => plain(registry.head(at))

  const countAt = async (block: number): Promise<number> =>
    Number(await ask('eth_getTransactionCount', [writer, numberToHex(block)]))

  return {
    ask,
    look: async () => {
      const [latest, finalized] = await Promise.all([
        blockOf(ask, 'latest'),
        blockOf(ask, 'finalized'),
      ])
      if (latest === undefined || finalized === undefined)
        throw new RpcRefusal('the node knows no finalized block', 0, undefined)
      const at = { blockNumber: BigInt(latest.number) }
      const finalAt = { blockNumber: BigInt(finalized.number) }
      const [head, nonce, finalHead, finalNonce] = await Promise.all([
        headAt(at),
        countAt(latest.number),
        // before the contract was there, or where a node keeps no such old state
        headAt(finalAt).catch(() => undefined),
        countAt(finalized.number).catch(() => undefined),
      ])
      // only what it is: others write it down
      const { number, hash } = finalized
      return { latest, finalized: { number, hash }, head, finalHead, nonce, finalNonce }
    },
    finalized: () => blockOf(ask, 'finalized'),
    headAt: (block) => headAt({ blockNumber: BigInt(block) }),
    roles: async () => {
      const [owner, writer] = await plain(Promise.all([registry.owner(), registry.writer()]))
      return { owner, writer }
    },
    anchored: async (fromBlock, toBlock) => {
      const anchors: Anchored[] = []
      for (const span of spansOf(fromBlock, toBlock))
        anchors.push(...(await plain(registry.anchored(span))))
      return anchors
    },
    began: async (fromBlock, toBlock) => {
      for (const span of spansOf(fromBlock, toBlock)) {
        const began = await plain(registry.began(span))
        if (began !== undefined) return began
      }
      return undefined
    },
    market: async (baseFee) => ({
      baseFee,
      tip: quantity(await ask('eth_maxPriorityFeePerGas')),
    }),
    balance: async () => quantity(await ask('eth_getBalance', [writer, 'latest'])),
    gasOf: async (data) =>
      quantity(await ask('eth_estimateGas', [{ from: writer, to: contract, data }, 'latest'])),
    send: async (raw) => {
      try {
        await ask('eth_sendRawTransaction', [raw])
        return { answer: 'pooled', words: '' }
      } catch (error) {
        if (!(error instanceof RpcRefusal)) throw error
        return { answer: answerOf(error.message), words: error.message }
      }
    },
    knows: async (hash) => {
      const transaction = await ask('eth_getTransactionByHash', [hash])
      return transaction !== null && transaction !== undefined
    },
    outcome: async (hash) => {
      const receipt = await ask('eth_getTransactionReceipt', [hash])
      if (!isRpcObject(receipt) || !isHex(receipt['blockHash'])) return undefined
      return {
        status: receipt['status'] === '0x1' ? 'success' : 'reverted',
        number: Number(receipt['blockNumber']),
        hash: receipt['blockHash'],
      }
    },
    block: (number) => blockOf(ask, numberToHex(number)),
  }
}

/** viem wraps what our own `ask` throws; callers handle the original error. */
async function plain<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw error instanceof BaseError ? (error.walk(isNotViems) ?? error) : error
  }
}

const isNotViems = (error: unknown): boolean => !(error instanceof BaseError)

type Request = { readonly method: string; readonly params?: readonly unknown[] }
type RpcObject = Readonly<Record<string, unknown>>

const isRpcObject = (value: unknown): value is RpcObject =>
  typeof value === 'object' && value !== null

async function blockOf(ask: Ask, which: string) {
  const block = await ask('eth_getBlockByNumber', [which, false])
  if (!isRpcObject(block) || !isHex(block['hash'])) return undefined
  const baseFee = block['baseFeePerGas']
  return {
    number: Number(block['number']),
    hash: block['hash'],
    timeS: Number(block['timestamp']),
    // a chain without a base fee asks for none
    baseFee: baseFee === undefined ? 0n : quantity(baseFee),
  }
}

function quantity(value: unknown): bigint {
  if (!isHex(value)) throw new RpcRefusal(`not a number: ${String(value)}`, 0, undefined)
  return hexToBigInt(value)
}
