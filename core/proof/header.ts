/**
 * What is hashed of a batch, byte for byte. A version is fixed for good: a change to anything here is
 * another row of `headerVersions`, with another type string.
 */

import { type Hex, toHex } from '../hex.ts'
import { arrayWords, bytesOfWords, encodeWords, type Word } from './abi-words.ts'
import type { Keccak } from './leaf.ts'

/** Hashes are lower-case hex; array position = partition. */
export type BatchHeader = {
  /** From 1, one more each batch. */
  readonly index: number
  /** The head that the batch before left on the chain. */
  readonly prevHead: Hex
  /** Of the tree of the leaves; zero where there are none. */
  readonly root: Hex
  /** The gap-free range of log sequences: `first` = the `last` before + 1. */
  readonly first: number
  readonly last: number
  /** How many readings. */
  readonly count: number
  /** The earliest and the latest reading; both 0 where there are none. */
  readonly timeMinMs: number
  readonly timeMaxMs: number
  readonly sealedMs: number
  /** Hash of a finalized block seen when the batch opened; zero if none. */
  readonly beacon: Hex
  /** Numbers of the readings a partition brought; `nLast` = `nFirst` − 1 where it brought none. */
  readonly nFirst: readonly number[]
  readonly nLast: readonly number[]
}

type HeaderVersion = {
  readonly version: number
  /** In the order of the words; arrays come last. */
  readonly fields: readonly (readonly [
    type: 'uint64' | 'bytes32' | 'uint64[]',
    name: keyof BatchHeader,
  ])[]
}

/** Every version there is, the one that is written first. Append only; a row never changes. */
export const headerVersions = [
  {
    version: 1,
    fields: [
      ['uint64', 'index'],
      ['bytes32', 'prevHead'],
      ['bytes32', 'root'],
      ['uint64', 'first'],
      ['uint64', 'last'],
      ['uint64', 'count'],
      ['uint64', 'timeMinMs'],
      ['uint64', 'timeMaxMs'],
      ['uint64', 'sealedMs'],
      ['bytes32', 'beacon'],
      ['uint64[]', 'nFirst'],
      ['uint64[]', 'nLast'],
    ],
  },
] as const satisfies readonly HeaderVersion[]

const [headerNow] = headerVersions

export const headerTypeOf = ({ version, fields }: HeaderVersion): string =>
  `airproof.batch.v${version}(${fields.map((field) => field.join(' ')).join(',')})`

/** `abi.encode(keccak(type), …the fields in order)`. @throws RangeError */
export function encodeHeader(
  header: BatchHeader,
  keccak: Keccak,
  version: HeaderVersion = headerNow,
): Uint8Array {
  const words: Word[] = [toHex(keccak(new TextEncoder().encode(headerTypeOf(version))))]
  const tails: number[] = []
  for (const [, name] of version.fields) {
    const value = header[name]
    if (typeof value !== 'object') words.push(value)
    else {
      words.push(bytesOfWords(1 + version.fields.length + tails.length))
      tails.push(...arrayWords(value))
    }
  }
  return encodeWords([...words, ...tails])
}

export const headerHash = (header: BatchHeader, keccak: Keccak): Hex =>
  toHex(keccak(encodeHeader(header, keccak)))

/** The head that the contract holds once this batch is anchored. */
export const headOf = (header: BatchHeader, keccak: Keccak): Hex =>
  toHex(
    keccak(
      encodeWords([
        header.prevHead,
        header.index,
        header.root,
        headerHash(header, keccak),
        header.first,
        header.last,
        header.count,
      ]),
    ),
  )

/**
 * The head a contract is born with, so that none is valid for two deployments.
 * @param contract its address, 20 bytes in hex of either case
 */
export function genesisHead(chainId: number, contract: string, keccak: Keccak): Hex {
  if (!/^0x[0-9a-fA-F]{40}$/.test(contract)) throw new RangeError(`not an address: ${contract}`)
  const word: Hex = `0x${contract.slice(2).toLowerCase().padStart(64, '0')}`
  return toHex(keccak(encodeWords([chainId, word])))
}
