/** Network files for the sample bundles, good and bad: every verifier takes and refuses the same. */
import { type ContractVersion, contractCodes } from '../../schemas/anchoring/contract-code.ts'
import { sampleText } from './tampered.ts'

const { hash, ownerAt } = contractCodes[1]
const contract = {
  address: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
  version: 1,
  block: 1,
  code_hash: hash as string,
  owner_at: [...ownerAt] as number[],
}
const chain = {
  id: 31_337,
  name: 'chain 31337, a local test chain, for demonstration only',
  demonstration: true,
}

/** The network of the sample bundles. */
export const sampleNetwork = {
  format: 'airproof.network.v1',
  name: 'Lagos',
  api: 'https://air.example',
  chain,
  contracts: [contract],
}
type Changes = { readonly [Field in keyof typeof sampleNetwork]?: unknown }
export const networkText = (changes: Changes = {}): string =>
  JSON.stringify({ ...sampleNetwork, ...changes })

const without = (value: object, field: string): object =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== field))

const zeros = (digits: number): string => `0x${'0'.repeat(digits)}`
const withContract = (changes: Partial<typeof contract>): string =>
  networkText({ contracts: [{ ...contract, ...changes }] })

type Sample = Parameters<typeof sampleText>[0]
type Parts = {
  readonly batch: {
    readonly index: number
    readonly prev_head: string
    readonly n_first: readonly number[]
    readonly n_last: readonly number[]
  }
  readonly anchor: {
    readonly contract: string
    readonly head: string
    readonly block_number: number
    readonly tx_index: number
  }
}
const partsOf = (sample: Sample): Parts => JSON.parse(sampleText(sample)) as Parts

type Begins = { after_batch: number; head: string; numbers: number[] }
type Ends = { block: number; tx_index: number; head: string; numbers: number[] }
type Row = typeof contract & { last_batch: number | null; begins: Begins; ends: Ends | null }
type RangeChanges = {
  readonly last_batch?: number | null
  readonly begins?: Partial<Begins>
  readonly ends?: Partial<Ends> | null
}

const rowOf = (version: ContractVersion, { batch, anchor }: Parts): Row => ({
  address: anchor.contract,
  version,
  block: anchor.block_number,
  code_hash: contractCodes[version].hash,
  owner_at: [...contractCodes[version].ownerAt],
  last_batch: null,
  begins: {
    after_batch: batch.index - 1,
    head: batch.prev_head,
    numbers: batch.n_first.map((n) => n - 1),
  },
  ends: null,
})
const endOf = ({ batch, anchor }: Parts): Ends => ({
  block: anchor.block_number,
  tx_index: anchor.tx_index,
  head: anchor.head,
  numbers: [...batch.n_last],
})
const changed = (row: Row, { begins, ends, ...more }: RangeChanges): Row => ({
  ...row,
  ...more,
  begins: { ...row.begins, ...begins },
  ends: ends ? { ...(row.ends as Ends), ...ends } : (row.ends ?? null),
})

/** A contract whose only batch is the sample, given up after it; and one that goes on from there. */
const givenUp = (sample: Sample, changes: RangeChanges = {}): string => {
  const parts = partsOf(sample)
  const version = sample.startsWith('v2') ? 2 : 1
  const { index } = parts.batch
  const alone: Row = { ...rowOf(version, parts), last_batch: index, ends: endOf(parts) }
  const row = changed(alone, changes)
  const next = { ...rowOf(2, parts), address: `0x${'9'.repeat(40)}` }
  const { numbers = [] } = row.ends ?? {}
  return networkText({
    contracts: [row, changed(next, { begins: { after_batch: row.last_batch ?? 0, numbers } })],
  })
}
/** Another contract before that of the sample, which goes on where the first one ends. */
const afterAnother = (sample: Sample, end: Partial<Begins> = {}): string => {
  const parts = partsOf(sample)
  const row = changed(rowOf(2, parts), { begins: end })
  const { after_batch: last_batch, head, numbers } = row.begins
  const first: Row = {
    ...rowOf(1, parts),
    address: `0x${'9'.repeat(40)}`,
    last_batch,
    begins: { after_batch: 0, head, numbers: numbers.map(() => 0) },
    ends: { block: 1, tx_index: 0, head, numbers },
  }
  return networkText({ contracts: [first, row] })
}

const zeroNumbers = Array.from({ length: 16 }, () => 0)

/** That say where each contract begins and ends, and the sample that each of them holds. */
export const wholeNetworks: readonly { readonly sample: Sample; readonly text: string }[] = [
  { sample: 'alone', text: networkText({ contracts: [rowOf(1, partsOf('alone'))] }) },
  { sample: 'alone', text: givenUp('alone') },
  { sample: 'in-a-crowd', text: givenUp('in-a-crowd') },
  { sample: 'v2-alone', text: networkText({ contracts: [rowOf(2, partsOf('v2-alone'))] }) },
  { sample: 'v2-ed25519', text: givenUp('v2-ed25519') },
  { sample: 'v2-after-the-border', text: afterAnother('v2-after-the-border') },
]

/** Which do not hold the sample, though its contract is theirs: each is refused at check `pins`. */
export const otherRanges: readonly {
  readonly name: string
  readonly sample: Sample
  readonly text: string
  readonly why: string
}[] = [
  {
    name: 'whose contract begins after that batch',
    sample: 'v2-after-the-border',
    text: afterAnother('v2-after-the-border', { after_batch: 2 }),
    why: 'it is of batch 2, and its contract counts after batch 2 only',
  },
  {
    name: 'whose contract begins with another head',
    sample: 'v2-after-the-border',
    text: afterAnother('v2-after-the-border', { head: zeros(64) }),
    why: 'began with another head',
  },
  {
    name: 'in which another contract holds the number, before',
    sample: 'v2-after-the-border',
    text: afterAnother('v2-after-the-border', {
      numbers: zeroNumbers.map((_, partition) => (partition === 7 ? 3 : 2)),
    }),
    why: 'has numbers 3 to 3 of partition 7, and its contract counts those after 3 only',
  },
  ...(['alone', 'v2-alone'] as const).map((sample) => ({
    name: `in which another contract holds the number, after (${sample})`,
    sample,
    text: givenUp(sample, { ends: { numbers: zeroNumbers } }),
    why: 'has numbers 1 to 1 of partition 0, and its contract counts those after 0 up to 0 only',
  })),
  ...(['alone', 'v2-alone'] as const).map((sample) => ({
    name: `whose contract was given up in an earlier block (${sample})`,
    sample,
    text: givenUp(sample, { ends: { block: 1, tx_index: 7 } }),
    why: 'is in transaction 0 of block 2, and its contract counts up to transaction 7 of block 1 only',
  })),
  {
    name: 'whose contract was given up earlier in the same block',
    sample: 'in-a-crowd',
    text: givenUp('in-a-crowd', { ends: { tx_index: 199 } }),
    why: 'is in transaction 200 of block 2, and its contract counts up to transaction 199 of block 2',
  },
  {
    name: 'whose last batch is another one',
    sample: 'alone',
    text: givenUp('alone', { ends: { head: zeros(64) } }),
    why: 'left another head',
  },
  {
    name: 'in which no batch of the contract counts',
    sample: 'v2-after-the-border',
    text: networkText({
      contracts: [
        { ...rowOf(2, partsOf('v2-after-the-border')), last_batch: 0 },
        { ...rowOf(1, partsOf('alone')), address: `0x${'9'.repeat(40)}` },
      ],
    }),
    why: 'counts up to batch 0 only',
  },
]

/** Of which the sample bundles are not: each is refused at check `pins`, with these words. */
export const otherNetworks = [
  {
    name: 'on another chain',
    text: networkText({ chain: { ...chain, id: 1 } }),
    why: 'is on chain 1',
  },
  {
    name: 'with another contract',
    text: withContract({ address: zeros(40) }),
    why: 'is not one of',
  },
  { name: 'whose contract began later', text: withContract({ block: 3 }), why: 'began in block 3' },
  {
    name: 'whose contract was given up before',
    text: networkText({ contracts: [{ ...contract, last_batch: 0 }] }),
    why: 'its contract counts up to batch 0 only',
  },
  { name: 'whose contract is newer', text: withContract({ version: 2 }), why: 'is of version 2' },
] as const

/** That pin nothing: calling a verifier with one is a mistake. */
export const badNetworks = [
  { name: 'not JSON', text: '{"format":', why: 'not JSON' },
  { name: 'empty', text: '', why: 'not JSON' },
  { name: 'null', text: 'null', why: 'not a network file' },
  { name: 'an error of the API', text: '{"status":"error"}', why: 'not a network file' },
  {
    name: 'of a newer version',
    text: networkText({ format: 'airproof.network.v2' }),
    why: 'is airproof.network.v2, and this verifier knows airproof.network.v1: get a newer verifier',
  },
  {
    name: 'of a network that anchored nothing',
    text: networkText({ chain: null, contracts: [] }),
    why: 'nothing to pin',
  },
  ...['name', 'chain', 'contracts'].map((field) => ({
    name: `without ${field}`,
    text: JSON.stringify(without(sampleNetwork, field)),
    why: `has no ${field}`,
  })),
  ...['id', 'demonstration'].map((field) => ({
    name: `without chain.${field}`,
    text: networkText({ chain: without(chain, field) }),
    why: `has no chain.${field}`,
  })),
  ...Object.keys(contract).map((field) => ({
    name: `without contracts.${field}`,
    text: networkText({ contracts: [without(contract, field)] }),
    why: `has no contracts.${field}`,
  })),
  {
    name: 'with text for its last batch',
    text: networkText({ contracts: [{ ...contract, last_batch: '7' }] }),
    why: 'has no contracts.last_batch',
  },
  { name: 'without a contract', text: networkText({ contracts: [] }), why: 'has no contracts' },
  {
    name: 'with text for a number',
    text: networkText({ chain: { ...chain, id: '31337' } }),
    why: 'chain.id',
  },
  ...['begins', 'ends'].map((field) => ({
    name: `with a contract without ${field}`,
    text: networkText({
      contracts: [rowOf(1, partsOf('alone')), without(rowOf(2, partsOf('v2-alone')), field)],
    }),
    why: `has no contracts.${field}`,
  })),
  {
    name: 'with the numbers of 15 partitions',
    text: networkText({
      contracts: [
        changed(rowOf(1, partsOf('alone')), { begins: { numbers: zeroNumbers.slice(1) } }),
      ],
    }),
    why: 'has no contracts.begins',
  },
  {
    name: 'with an end without the place in its block',
    text: givenUp('alone').replace('"tx_index":0,', ''),
    why: 'has no contracts.ends',
  },
  {
    name: 'with two contracts in use',
    text: networkText({
      contracts: [
        rowOf(1, partsOf('alone')),
        { ...rowOf(1, partsOf('alone')), address: `0x${'9'.repeat(40)}` },
      ],
    }),
    why: 'does not go on where the one before it ends',
  },
  {
    name: 'with two contracts that hold one number',
    text: givenUp('alone').replace(
      '"begins":{"after_batch":1,"head":"',
      '"begins":{"after_batch":0,"head":"',
    ),
    why: 'does not go on where the one before it ends',
  },
  {
    name: 'whose first contract does not begin at zero',
    text: networkText({ contracts: [rowOf(2, partsOf('v2-after-the-border'))] }),
    why: 'does not go on where the one before it ends',
  },
  {
    name: 'whose contract was given up, and ends nowhere',
    text: networkText({ contracts: [{ ...rowOf(1, partsOf('alone')), last_batch: 1 }] }),
    why: 'does not go on where the one before it ends',
  },
  {
    name: 'with a name that a terminal obeys',
    text: networkText({ name: '\u001b[2J' }),
    why: 'has no name',
  },
] as const
