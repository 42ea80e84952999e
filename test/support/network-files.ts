/** Network files for the sample bundles, good and bad: every verifier takes and refuses the same. */
import { contractCodes } from '../../schemas/anchoring/contract-code.ts'

const { hash, ownerAt } = contractCodes[1]
const contract = {
  address: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
  version: 1,
  block: 1,
  code_hash: hash as string,
  owner_at: [...ownerAt],
}
const chain = { id: 31_337, name: 'chain 31337, a demonstration chain', demonstration: true }

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
  {
    name: 'with a name that a terminal obeys',
    text: networkText({ name: '\u001b[2J' }),
    why: 'has no name',
  },
] as const
