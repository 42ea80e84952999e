/**
 * The bytes that a block commits to, from the JSON of a node: header, transactions of types
 * 0 to 4 and 0x7e (the deposits of OP-stack chains), and their receipts. A node that returns something
 * else is found out by the roots, which the caller compares.
 */
import { concatHex, type Hex, isHex, toRlp } from 'viem'

/** An object of a node's answer. */
export type RpcObject = { readonly [name: string]: unknown }
type Item = Hex | readonly Item[]

const headerFields = [
  ['parentHash', 'bytes'],
  ['sha3Uncles', 'bytes'],
  ['miner', 'bytes'],
  ['stateRoot', 'bytes'],
  ['transactionsRoot', 'bytes'],
  ['receiptsRoot', 'bytes'],
  ['logsBloom', 'bytes'],
  ['difficulty', 'number'],
  ['number', 'number'],
  ['gasLimit', 'number'],
  ['gasUsed', 'number'],
  ['timestamp', 'number'],
  ['extraData', 'bytes'],
  ['mixHash', 'bytes'],
  ['nonce', 'bytes'],
  // each later upgrade of the chain added at the end
  ['baseFeePerGas', 'number'],
  ['withdrawalsRoot', 'bytes'],
  ['blobGasUsed', 'number'],
  ['excessBlobGas', 'number'],
  ['parentBeaconBlockRoot', 'bytes'],
  ['requestsHash', 'bytes'],
] as const

/** @param block of `eth_getBlockByHash` @throws RangeError */
export function encodeBlockHeader(block: RpcObject): Hex {
  return toRlp(
    headerFields
      .filter(([name]) => isThere(block[name]))
      .map(([name, kind]) => (kind === 'number' ? quantity(block, name) : bytes(block, name))),
  )
}

/** @param tx of a block's full transactions @throws RangeError for a type that is not known */
export function encodeTransaction(tx: RpcObject): Hex {
  const type = typeOf(tx)
  const { to, value, input } = {
    to: isThere(tx['to']) ? bytes(tx, 'to') : ('0x' as const),
    value: quantity(tx, 'value'),
    input: bytes(tx, 'input'),
  }
  const gas = quantity(tx, 'gas')
  // not at once: a deposit need not have one
  const nonce = (): Hex => quantity(tx, 'nonce')
  const signature = (): Item[] => [
    quantity(tx, isThere(tx['yParity']) ? 'yParity' : 'v'),
    quantity(tx, 'r'),
    quantity(tx, 's'),
  ]
  const tips = (): Item[] => [
    quantity(tx, 'chainId'),
    nonce(),
    quantity(tx, 'maxPriorityFeePerGas'),
    quantity(tx, 'maxFeePerGas'),
    gas,
    to,
    value,
    input,
    accessList(tx),
  ]
  switch (type) {
    case 0:
      return toRlp([
        nonce(),
        quantity(tx, 'gasPrice'),
        gas,
        to,
        value,
        input,
        quantity(tx, 'v'),
        quantity(tx, 'r'),
        quantity(tx, 's'),
      ])
    case 1:
      return typed(type, [
        quantity(tx, 'chainId'),
        nonce(),
        quantity(tx, 'gasPrice'),
        gas,
        to,
        value,
        input,
        accessList(tx),
        ...signature(),
      ])
    case 2:
      return typed(type, [...tips(), ...signature()])
    case 3:
      return typed(type, [
        ...tips(),
        quantity(tx, 'maxFeePerBlobGas'),
        texts(tx['blobVersionedHashes']),
        ...signature(),
      ])
    case 4:
      return typed(type, [
        ...tips(),
        objects(tx['authorizationList']).map(authorization),
        ...signature(),
      ])
    case 0x7e:
      return typed(type, [
        bytes(tx, 'sourceHash'),
        bytes(tx, 'from'),
        to,
        isThere(tx['mint']) ? quantity(tx, 'mint') : '0x',
        value,
        gas,
        tx['isSystemTx'] === true ? '0x01' : '0x',
        input,
      ])
    default:
      throw new RangeError(`a transaction of type ${type}`)
  }
}

/** @param receipt of `eth_getBlockReceipts` @throws RangeError */
export function encodeReceipt(receipt: RpcObject): Hex {
  const fields: Item[] = [
    // before Byzantium a state root stood where the status is
    isThere(receipt['status']) ? quantity(receipt, 'status') : bytes(receipt, 'root'),
    quantity(receipt, 'cumulativeGasUsed'),
    bytes(receipt, 'logsBloom'),
    objects(receipt['logs']).map((log) => [
      bytes(log, 'address'),
      texts(log['topics']),
      bytes(log, 'data'),
    ]),
  ]
  const type = typeOf(receipt)
  if (type === 0) return toRlp(fields)
  // deposits have two fields more since Canyon, which is when the version appeared
  const isCanyon = type === 0x7e && isThere(receipt['depositReceiptVersion'])
  return typed(
    type,
    isCanyon
      ? [...fields, quantity(receipt, 'depositNonce'), quantity(receipt, 'depositReceiptVersion')]
      : fields,
  )
}

const typed = (type: number, fields: readonly Item[]): Hex =>
  concatHex([`0x${type.toString(16).padStart(2, '0')}`, toRlp(fields)])

const typeOf = (object: RpcObject): number => (isThere(object['type']) ? Number(object['type']) : 0)

const accessList = (tx: RpcObject): Item =>
  objects(tx['accessList']).map((entry) => [bytes(entry, 'address'), texts(entry['storageKeys'])])

const authorization = (entry: RpcObject): Item => [
  quantity(entry, 'chainId'),
  bytes(entry, 'address'),
  quantity(entry, 'nonce'),
  quantity(entry, isThere(entry['yParity']) ? 'yParity' : 'v'),
  quantity(entry, 'r'),
  quantity(entry, 's'),
]

const isThere = (value: unknown): boolean => value !== undefined && value !== null

function bytes(object: RpcObject, name: string): Hex {
  const value = object[name]
  if (!isHex(value) || value.length % 2 === 1) throw new RangeError(`no bytes in ${name}`)
  return value
}

/** A number without leading zeros; zero is the empty string. */
function quantity(object: RpcObject, name: string): Hex {
  const value = object[name]
  if (!isHex(value)) throw new RangeError(`no number in ${name}`)
  const digits = value.slice(2).replace(/^0+/, '')
  return `0x${digits.length % 2 === 1 ? '0' : ''}${digits}`
}

const texts = (value: unknown): Hex[] => listOf(value).filter((item) => isHex(item))

export const objects = (value: unknown): RpcObject[] => listOf(value).filter(isRpcObject)

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const isRpcObject = (value: unknown): value is RpcObject =>
  typeof value === 'object' && value !== null
