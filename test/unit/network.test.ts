import { beforeAll, expect, test } from 'vitest'
import artifact1 from '../../anchor/contract/airproof-anchors.json' with { type: 'json' }
import artifact2 from '../../anchor/contract/airproof-anchors-2.json' with { type: 'json' }
import { networkDocument } from '../../api/proofs/network.ts'
import { toHex } from '../../core/hex.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { createKeccak } from '../../runtime/keccak.ts'
import { contractCodes } from '../../schemas/anchoring/contract-code.ts'

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
const contract = { chainId: 10, contract: `0x${'1'.repeat(40)}`, block: 7 } as const
const document = (more: Partial<Parameters<typeof networkDocument>[0]>) =>
  networkDocument({
    settings,
    publicUrl: 'https://air.example',
    contracts: [contract],
    formatLevel: 2,
    ...more,
  })

test('every contract is named with its last batch, oldest first, and the chain is that of the newest', () => {
  const after = (index: number) => ({ ...contract, version: 2, from: { index } }) as const
  const second = { ...after(30), contract: `0x${'2'.repeat(40)}`, block: 99 } as const
  const third = { ...after(20), contract: `0x${'3'.repeat(40)}`, block: 120 } as const
  const rows = (...all: Parameters<typeof networkDocument>[0]['contracts']) =>
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

test('a demonstration chain is called that, whatever name the operator gives it', () => {
  const named = { ...settings, chainName: 'Main Street' }
  expect(
    document({ settings: named, contracts: [{ ...contract, chainId: 31_337 }] }).chain,
  ).toEqual({ id: 31_337, name: 'Main Street, a demonstration chain', demonstration: true })
})

test('whom to name is the network, unless the operator says otherwise', () => {
  expect(document({}).attribution).toBe('Lagos')
  const attribution = 'City of Lagos, LASEPA'
  expect(document({ settings: { ...settings, attribution } }).attribution).toBe(attribution)
})
