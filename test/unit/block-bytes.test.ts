import fc from 'fast-check'
import { type Hex, keccak256, numberToHex, serializeTransaction, toRlp } from 'viem'
import { serializeTransaction as serializeOpStack } from 'viem/op-stack'
import { describe, expect, test } from 'vitest'
import {
  encodeBlockHeader,
  encodeReceipt,
  encodeTransaction,
} from '../../anchor/chain/block-bytes.ts'
import { proveItem } from '../../anchor/chain/patricia.ts'

const bytesOf = (length: number): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const amount = fc.bigInt({ min: 0n, max: 2n ** 96n })
const small = fc.nat()
const accessList = fc.array(
  fc.record({ address: bytesOf(20), storageKeys: fc.array(bytesOf(32), { maxLength: 3 }) }),
  { maxLength: 3 },
)
const signature = fc.record({ r: bytesOf(32), s: bytesOf(32), yParity: fc.constantFrom(0, 1) })
const authorizationList = fc.array(
  fc.record({
    chainId: small,
    address: bytesOf(20),
    nonce: small,
    r: bytesOf(32),
    s: bytesOf(32),
    yParity: fc.constantFrom(0, 1),
  }),
  { maxLength: 3 },
)
const transaction = fc.record({
  chainId: fc.integer({ min: 1, max: 2 ** 31 }),
  nonce: small,
  gas: amount,
  to: bytesOf(20),
  value: amount,
  data: fc.uint8Array({ maxLength: 300 }).map((b): Hex => `0x${Buffer.from(b).toString('hex')}`),
  accessList,
  gasPrice: amount,
  maxPriorityFeePerGas: amount,
  maxFeePerBlobGas: amount,
  blobVersionedHashes: fc.array(
    bytesOf(32).map((hash): Hex => `0x01${hash.slice(4)}`),
    { minLength: 1, maxLength: 3 },
  ),
  authorizationList,
})

/** As a node writes it in JSON: numbers in hex, `input` for data. */
const printed = (value: unknown): unknown => {
  if (typeof value === 'bigint' || typeof value === 'number') return numberToHex(value)
  if (Array.isArray(value)) return value.map(printed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name === 'data' ? 'input' : name,
      printed(inner),
    ]),
  )
}
const asObject = (value: unknown): Record<string, unknown> => value as Record<string, unknown>

describe('a transaction that a node describes has the bytes that viem gives it:', () => {
  test.each([
    { type: '0x0', name: 'legacy', fees: ['gasPrice'] },
    { type: '0x1', name: 'eip2930', fees: ['gasPrice', 'accessList'] },
    { type: '0x2', name: 'eip1559', fees: ['maxPriorityFeePerGas', 'maxFeePerGas', 'accessList'] },
    {
      type: '0x3',
      name: 'eip4844',
      fees: [
        'maxPriorityFeePerGas',
        'maxFeePerGas',
        'accessList',
        'maxFeePerBlobGas',
        'blobVersionedHashes',
      ],
    },
    {
      type: '0x4',
      name: 'eip7702',
      fees: ['maxPriorityFeePerGas', 'maxFeePerGas', 'accessList', 'authorizationList'],
    },
  ])('$name', ({ type, name, fees }) => {
    fc.assert(
      fc.property(transaction, signature, (tx, { r, s, yParity }) => {
        const all: Record<string, unknown> = {
          ...tx,
          maxFeePerGas: tx.maxPriorityFeePerGas + 1n,
        }
        const common = ['chainId', 'nonce', 'gas', 'to', 'value', 'data']
        const fields = Object.fromEntries([...common, ...fees].map((key) => [key, all[key]]))
        const v = BigInt(tx.chainId * 2 + 35 + yParity)
        const byViem = serializeTransaction(
          { ...fields, type: name } as Parameters<typeof serializeTransaction>[0],
          name === 'legacy' ? { r, s, v } : { r, s, yParity },
        )
        const json = asObject(printed({ ...fields, r: BigInt(r), s: BigInt(s) }))
        const signed = name === 'legacy' ? { v: numberToHex(v) } : { yParity: numberToHex(yParity) }
        expect(encodeTransaction({ ...json, ...signed, type })).toBe(byViem)
      }),
      { numRuns: 50 },
    )
  })

  test('a deposit of an OP-stack chain', () => {
    fc.assert(
      fc.property(
        transaction,
        bytesOf(32),
        fc.boolean(),
        fc.option(amount, { nil: undefined }),
        (tx, sourceHash, isSystemTx, mint) => {
          const deposit = {
            sourceHash,
            isSystemTx,
            from: tx.to,
            to: tx.to,
            value: tx.value,
            gas: tx.gas,
            data: tx.data,
            ...(mint === undefined ? {} : { mint }),
          }
          const byViem = serializeOpStack({ ...deposit, type: 'deposit' })
          expect(encodeTransaction({ ...asObject(printed(deposit)), type: '0x7e' })).toBe(byViem)
        },
      ),
      { numRuns: 50 },
    )
  })

  test('one that creates a contract has no address to go to', () => {
    const json = { type: '0x0', nonce: '0x0', gasPrice: '0x1', gas: '0x2', to: null, value: '0x0' }
    const signed = { ...json, input: '0x60', v: '0x1b', r: '0x3', s: '0x4' }
    expect(encodeTransaction(signed)).toBe(
      toRlp(['0x', '0x01', '0x02', '0x', '0x', '0x60', '0x1b', '0x03', '0x04']),
    )
  })

  test('one of a type that nobody knows yet is not guessed at', () => {
    const json = { type: '0x5', nonce: '0x0', gas: '0x2', to: null, value: '0x0', input: '0x' }
    expect(() => encodeTransaction(json)).toThrow(RangeError)
    expect(() => encodeTransaction({ ...json, type: '0x0' })).toThrow(/gasPrice/)
  })
})

describe('a receipt', () => {
  const logsBloom: Hex = `0x${'00'.repeat(256)}`
  const address: Hex = `0x${'ab'.repeat(20)}`
  const receipt = {
    status: '0x1',
    cumulativeGasUsed: '0x5208',
    logsBloom,
    logs: [{ address, topics: [], data: '0x' }],
  }
  const fields = ['0x01', '0x5208', logsBloom, [[address, [], '0x']]] as const

  test('of the old kind is its list, a typed one has its type before it', () => {
    expect(encodeReceipt({ ...receipt, type: '0x0' })).toBe(toRlp(fields))
    expect(encodeReceipt({ ...receipt, type: '0x2' })).toBe(`0x02${toRlp(fields).slice(2)}`)
    expect(encodeReceipt({ ...receipt, status: '0x0' })).toBe(
      toRlp(['0x', fields[1], fields[2], fields[3]]),
    )
  })

  test('from before Byzantium begins with a state root', () => {
    const root: Hex = `0x${'cd'.repeat(32)}`
    expect(encodeReceipt({ ...receipt, status: undefined, root })).toBe(
      toRlp([root, fields[1], fields[2], fields[3]]),
    )
  })

  // op-geth, core/types/receipt.go: nonce and version are encoded since Canyon, when the version came
  test('of a deposit holds its nonce and version since Canyon, and neither before', () => {
    const deposit = { ...receipt, type: '0x7e', depositNonce: '0x9' }
    expect(encodeReceipt(deposit)).toBe(`0x7e${toRlp(fields).slice(2)}`)
    expect(encodeReceipt({ ...deposit, depositReceiptVersion: '0x1' })).toBe(
      `0x7e${toRlp([...fields, '0x09', '0x01']).slice(2)}`,
    )
  })
})

/** Mainnet's first block: https://etherscan.io/block/0, and its hash as clients pin it. */
test('a block header from before any upgrade hashes to what everybody knows', () => {
  const emptyTrie = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
  const header = encodeBlockHeader({
    parentHash: `0x${'00'.repeat(32)}`,
    sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    miner: `0x${'00'.repeat(20)}`,
    stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
    transactionsRoot: emptyTrie,
    receiptsRoot: emptyTrie,
    logsBloom: `0x${'00'.repeat(256)}`,
    difficulty: '0x400000000',
    number: '0x0',
    gasLimit: '0x1388',
    gasUsed: '0x0',
    timestamp: '0x0',
    extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
    mixHash: `0x${'00'.repeat(32)}`,
    nonce: '0x0000000000000042',
  })
  expect(keccak256(header)).toBe(
    '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  )
})

describe('a trie of a block', () => {
  test('has the same root whichever of its items is proven', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 0, max: 80 }),
        (count, size) => {
          const items = Array.from(
            { length: count },
            (_, n): Hex => `0x${'ab'.repeat(size + (n % 3))}${n.toString(16).padStart(4, '0')}`,
          )
          const roots = [0, count >> 1, count - 1].map((index) => proveItem(items, index).root)
          expect(new Set(roots).size).toBe(1)
        },
      ),
      { numRuns: 30 },
    )
  })

  test('proves nothing that it does not hold', () => {
    expect(() => proveItem(['0x1234'], 1)).toThrow(RangeError)
    expect(() => proveItem([], 0)).toThrow(RangeError)
  })
})
