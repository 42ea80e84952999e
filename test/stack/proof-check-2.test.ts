/** Solidity's own leaf, rank and root of version 2: what another contract would check a reading with. */
import {
  type Address,
  createPublicClient,
  createWalletClient,
  encodeDeployData,
  type Hex,
  http,
  keccak256,
  stringToBytes,
} from 'viem'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import leaves from '../fixtures/proofs-2/leaves.json' with { type: 'json' }
import trees from '../fixtures/proofs-2/trees.json' with { type: 'json' }
import { anvilAccount, type TestAnvil, testAnvil } from '../support/anvil.ts'
import { deviceWord } from '../support/signing-device.ts'
import { compile } from '../support/solidity.ts'
import { sampleNames, sampleText } from '../support/tampered.ts'

const { abi, bytecode } = compile('test/fixtures/contracts/ProofCheck2.sol', { viaIR: true })
const none = `0x${'0'.repeat(64)}`

let anvil: TestAnvil
let address: Address
const client = () => createPublicClient({ transport: http(anvil.url) })
beforeAll(async () => {
  anvil = await testAnvil()
  const account = anvilAccount(0)
  const wallet = createWalletClient({ account, chain: foundry, transport: http(anvil.url) })
  const hash = await wallet.sendTransaction({ data: encodeDeployData({ abi, bytecode }) })
  const { contractAddress } = await client().waitForTransactionReceipt({ hash })
  address = contractAddress!
})
afterAll(() => anvil[Symbol.asyncDispose]())

const ask = (functionName: string, args: readonly unknown[]): Promise<unknown> =>
  client().readContract({ abi, address, functionName, args })

type Reading = {
  readonly sensor: string
  readonly timeMs: number
  readonly seq: number
  readonly area: string
  readonly flags: number
  readonly aqi: number | null
  readonly device?: string | undefined
}
const leafOf = (reading: Reading, values: readonly (readonly [id: number, value: number])[]) =>
  ask('leaf', [
    {
      ...reading,
      values: values.map(([id, hundredths]) => ({ id, hundredths: BigInt(hundredths) })),
      aqi: reading.aqi ?? 65_535,
      device: reading.device ?? none,
    },
  ])

test.each(leaves.vectors)('Solidity agrees on the leaf of $name', async ({ reading, leaf }) => {
  const values = reading.values.flatMap((value, id) =>
    value === null ? [] : [[id, value] as const],
  )
  expect(await leafOf(reading, values)).toBe(leaf)
})

test.each(sampleNames.filter((name) => name.startsWith('v2')))(
  'Solidity agrees on leaf, rank and root of %s',
  async (name) => {
    const { reading, reading_hash: leaf, path, batch } = JSON.parse(sampleText(name))
    const { sensor_id: sensor, time_ms: timeMs, values, device: signed, ...rest } = reading
    const device =
      signed === null ? undefined : deviceWord({ ...signed, publicKey: signed.public_key })
    expect(await leafOf({ ...rest, sensor, timeMs, device }, values)).toBe(leaf)
    const rank = await ask('rankOf', [reading.seq, batch.n_first, batch.n_last])
    expect(await ask('rootOf', [leaf, path, rank, batch.count])).toBe(batch.root)
    for (const wrong of [...(path.length > 0 ? [path.slice(1)] : []), [...path, none]])
      await expect(ask('rootOf', [leaf, wrong, rank, batch.count])).rejects.toThrow(/WrongLength/)
  },
)

test('Solidity agrees on the root from every place of the small trees', async () => {
  for (const { count, root, paths } of trees.small)
    for (const [rank, path] of paths.entries())
      expect(await ask('rootOf', [leafAt(rank), path, rank, count])).toBe(root)
})

const leafAt = (rank: number): Hex => keccak256(stringToBytes(`leaf ${rank}`))
