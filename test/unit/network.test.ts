import { beforeAll, expect, test } from 'vitest'
import artifact1 from '../../anchor/contract/airproof-anchors.json' with { type: 'json' }
import artifact2 from '../../anchor/contract/airproof-anchors-2.json' with { type: 'json' }
import { readNetwork } from '../../anchor/verifier/airproof-verify.js'
import { networkDocument } from '../../api/proofs/network.ts'
import { toHex, zeroHash } from '../../core/hex.ts'
import { noRecord } from '../../core/proof/chain-record.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { contractCodes } from '../../schemas/anchoring/contract-code.ts'
import { type AnyDeployment, startOf } from '../../schemas/anchoring/deployments.ts'

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

test.each([
  [1, artifact1],
  [2, artifact2],
] as const)(
  'the code of contract %i that a network names is the one that the compiler makes',
  (version, artifact) => {
    const code = Buffer.from(artifact.deployedBytecode.slice(2), 'hex')
    expect(contractCodes[version]).toEqual({
      hash: toHex(keccak(code)),
      ownerAt: artifact.immutables,
    })
  },
)

const settings = {
  name: 'Lagos',
  chainName: undefined,
  licence: undefined,
  attribution: undefined,
  archiveUrl: undefined,
}
const contract: AnyDeployment = {
  chainId: 10,
  genesisHash: zeroHash,
  contract: `0x${'1'.repeat(40)}`,
  block: 7,
}
const document = (more: Partial<Parameters<typeof networkDocument>[0]>) =>
  networkDocument({
    settings,
    publicUrl: 'https://air.example',
    contracts: [contract],
    ends: new Map(),
    keccak,
    formatLevel: 2,
    ...more,
  })

const numbers = (n: number): number[] => Array.from({ length: 16 }, () => n)
const after = (digit: string, index: number, block: number): AnyDeployment => ({
  ...contract,
  contract: `0x${digit.repeat(40)}`,
  block,
  version: 2,
  former: contract.contract,
  from: { ...noRecord, index, last: 5 * index, n: numbers(index) },
})
const [second, third] = [after('2', 30, 99), after('3', 20, 120)]
const endAt = (index: number, block: number) =>
  [index, { block, txIndex: 4, head: hashText(index), nLast: numbers(index) }] as const
const hashText = (n: number): `0x${string}` => `0x${String(n).padStart(64, '0')}`

test('every contract is named with its last batch, oldest first, and the chain is that of the newest', () => {
  const rows = (...all: AnyDeployment[]) =>
    document({ contracts: all }).contracts.map((row) => [row.address, row.block, row.last_batch])
  expect(document({ contracts: [contract, second] }).chain).toEqual({
    id: 10,
    name: 'chain 10',
    demonstration: false,
  })
  expect(rows(contract, second)).toEqual([
    [contract.contract, 7, 30],
    [second.contract, 99, null],
  ])
  // a contract that goes on from before ends all that were made before it
  expect(rows(contract, second, third)).toEqual([
    [contract.contract, 7, 20],
    [second.contract, 99, 20],
    [third.contract, 120, null],
  ])
})

test('every contract is named with its beginning and its end, in a file that verifiers take', () => {
  const ends = new Map([endAt(20, 80)])
  const made = document({ contracts: [contract, second, third], ends })
  const [first, abandoned, newest] = readNetwork(JSON.stringify(made)).contracts
  expect(first).toMatchObject({
    begins: { after_batch: 0, numbers: numbers(0) },
    ends: { block: 80, tx_index: 4, head: hashText(20), numbers: numbers(20) },
  })
  expect(abandoned).toMatchObject({ begins: { after_batch: 30 }, ends: null })
  expect(newest).toMatchObject({
    begins: { after_batch: 20, numbers: numbers(20) },
    ends: null,
    last_batch: null,
  })
  for (const [k, deployment] of [contract, second, third].entries())
    expect(made.contracts[k]).toMatchObject({ begins: { head: startOf(deployment, keccak).head } })
})

test('where an end is not known, no contract has a range, and verifiers take the file', () => {
  const { contracts } = readNetwork(JSON.stringify(document({ contracts: [contract, second] })))
  expect(contracts.map(({ begins, ends }) => [begins, ends])).toEqual(
    Array.from({ length: 2 }, () => [undefined, undefined]),
  )
})

test('a demonstration chain is called that, whatever name the operator gives it', () => {
  const named = { ...settings, chainName: 'Main Street' }
  expect(
    document({ settings: named, contracts: [{ ...contract, chainId: 31_337 }] }).chain,
  ).toEqual({
    id: 31_337,
    name: 'Main Street, a local test chain, for demonstration only',
    demonstration: true,
  })
})

test('whom to name is the network, unless the operator says otherwise', () => {
  expect(document({}).attribution).toBe('Lagos')
  const attribution = 'City of Lagos, LASEPA'
  expect(document({ settings: { ...settings, attribution } }).attribution).toBe(attribution)
})
