/**
 * The chain's part of a proof bundle, made once a batch: where the anchor was mined, and the way
 * from the block's hash to the transaction and its receipt. What cannot be rebuilt byte for byte,
 * so that it has the hash that the block names, is left out, never guessed.
 */
import { fromRlp, type Hex, isHash, isHex, keccak256, toRlp } from 'viem'
import { lowerHex } from '../../core/hex.ts'
import type { ChainProof, TrieProofs } from '../../core/proof/bundle.ts'
import {
  encodeBlockHeader,
  encodeReceipt,
  encodeTransaction,
  isRpcObject,
  objects,
  type RpcObject,
} from './block-bytes.ts'
import { proveItem } from './patricia.ts'

/** One JSON-RPC question. @throws what the node or the connection to it reports */
export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

export type ChainProofOptions = {
  readonly ask: Ask
  readonly chainId: number
  readonly contract: Hex
  readonly txHash: Hex
}

/**
 * @returns undefined where the transaction is in no block, or its block was
 * reorganised away while we asked: look again later. @throws what `ask` throws
 */
export async function buildChainProof(options: ChainProofOptions): Promise<ChainProof | undefined> {
  const { ask, chainId, contract, txHash } = options
  const receipt = await ask('eth_getTransactionReceipt', [txHash])
  if (!isRpcObject(receipt)) return undefined
  const block = await ask('eth_getBlockByHash', [receipt['blockHash'], true])
  if (!isRpcObject(block)) return undefined
  const [txIndex, blockHash] = [Number(receipt['transactionIndex']), block['hash']]
  if (!isHex(blockHash) || !isHash(blockHash)) return undefined
  const tries = await buildTries(ask, { block, blockHash, txHash, txIndex })
  return {
    chainId,
    contract: lowerHex(contract),
    txHash: lowerHex(txHash),
    txIndex,
    blockHash: lowerHex(blockHash),
    blockNumber: Number(block['number']),
    blockTimeS: Number(block['timestamp']),
    ...(tries === undefined ? {} : { tries }),
  }
}

type Place = {
  readonly block: RpcObject
  readonly blockHash: Hex
  readonly txHash: Hex
  readonly txIndex: number
}

/** What a block commits to, as bytes. */
type BlockBytes = { readonly header: Hex; readonly transactions: readonly Hex[] }

/** The node's own bytes where it gives them, else ours; undefined where neither fits the hashes. */
async function buildTries(ask: Ask, place: Place): Promise<TrieProofs | undefined> {
  const { block, blockHash, txHash, txIndex } = place
  const blockBytes = await firstThatHolds(
    [
      () => rawBlock(optional(ask), block),
      () => encodedBlock(block),
      () => rawTransactions(optional(ask), block),
    ],
    ({ header, transactions }) =>
      keccak256(header) === blockHash &&
      keccak256(transactions[txIndex] ?? '0x') === txHash &&
      proveItem(transactions, txIndex).root === block['transactionsRoot'],
  )
  if (blockBytes === undefined) return undefined
  const receipts = await firstThatHolds(
    [() => rawReceipts(optional(ask), block), () => encodedReceipts(ask, place)],
    (all) => all[txIndex] !== undefined && proveItem(all, txIndex).root === block['receiptsRoot'],
  )
  if (receipts === undefined) return undefined
  return {
    blockHeader: blockBytes.header,
    transaction: proveItem(blockBytes.transactions, txIndex).nodes,
    receipt: proveItem(receipts, txIndex).nodes,
  }
}

/** The first way that gives something that holds; one that gives a RangeError gives nothing. */
async function firstThatHolds<T>(
  ways: readonly (() => T | Promise<T>)[],
  holds: (found: T) => boolean,
): Promise<T | undefined> {
  for (const way of ways) {
    try {
      const proof = await way()
      if (holds(proof)) return proof
    } catch (error) {
      // a node that cannot be reached is not a reason to store a lesser bundle forever
      if (!(error instanceof RangeError)) throw error
    }
  }
  return undefined
}

/** For methods that many nodes lack, each with its own error: a missing method is not a failure. */
const optional =
  (ask: Ask): Ask =>
  (method, params) =>
    ask(method, params).catch((cause: unknown) => {
      throw new RangeError(`${method} is not available`, { cause })
    })

async function rawBlock(ask: Ask, block: RpcObject): Promise<BlockBytes> {
  const raw = await ask('debug_getRawBlock', [block['number']])
  if (!isHex(raw)) throw new RangeError('no raw block')
  const [header, transactions] = fromRlp(raw)
  if (!Array.isArray(header) || !Array.isArray(transactions)) throw new RangeError('no raw block')
  return {
    header: toRlp(header),
    // an old transaction is in the block as a list, a typed one as bytes
    transactions: transactions.map((tx) => (isHex(tx) ? tx : toRlp(tx))),
  }
}

const encodedBlock = (block: RpcObject): BlockBytes => ({
  header: encodeBlockHeader(block),
  transactions: objects(block['transactions']).map(encodeTransaction),
})

async function rawTransactions(ask: Ask, block: RpcObject): Promise<BlockBytes> {
  const raw = await askForEach(ask, 'eth_getRawTransactionByHash', block)
  return { header: encodeBlockHeader(block), transactions: raw.filter((tx) => isHex(tx)) }
}

async function rawReceipts(ask: Ask, block: RpcObject): Promise<Hex[]> {
  const raw = await ask('debug_getRawReceipts', [block['number']])
  if (!Array.isArray(raw)) throw new RangeError('no raw receipts')
  return raw.filter((receipt) => isHex(receipt))
}

async function encodedReceipts(ask: Ask, { block, blockHash }: Place): Promise<Hex[]> {
  const receipts = await ask('eth_getBlockReceipts', [blockHash]).catch(() =>
    askForEach(ask, 'eth_getTransactionReceipt', block),
  )
  return objects(receipts).map(encodeReceipt)
}

const questionsAtOnce = 20

/** One question for each transaction of a block, a few at a time: some blocks hold thousands. */
async function askForEach(ask: Ask, method: string, block: RpcObject): Promise<unknown[]> {
  const answers: unknown[] = []
  const transactions = objects(block['transactions'])
  for (let at = 0; at < transactions.length; at += questionsAtOnce) {
    const some = transactions.slice(at, at + questionsAtOnce)
    answers.push(...(await Promise.all(some.map(({ hash }) => ask(method, [hash])))))
  }
  return answers
}
