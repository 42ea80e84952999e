/**
 * What is hashed of a batch, byte for byte. A version is fixed for good: a change to anything here is
 * another row of `headerVersions`, with another type string.
 */

import { type Hex, toHex } from '../hex.ts'
import { type ChainRecord, recordHead } from './chain-record.ts'
import type { Keccak } from './leaf.ts'
import { addressWord, arrayWords, bytesOfWords, encodeWords, type Word } from './words.ts'

/** Hashes are lower-case hex; array position = partition. */
export type BatchHeader = {
  /**
   * Absent: 1, as in all that was sealed below format level 3. A batch of version 2 holds leaves of
   * version 2 in a tree of version 2, and is anchored in a contract of version 2.
   */
  readonly version?: 2
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
    name: Exclude<keyof BatchHeader, 'version'>,
  ])[]
}

const fields = [
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
] as const

/** Every version there is. Append only; a row never changes. */
export const headerVersions = [
  { version: 1, fields },
  { version: 2, fields },
] as const satisfies readonly HeaderVersion[]

export type BatchVersion = (typeof headerVersions)[number]['version']

export const batchVersionOf = ({ version }: Pick<BatchHeader, 'version'>): BatchVersion =>
  version ?? 1

export const headerTypeOf = ({ version, fields }: HeaderVersion): string =>
  `airproof.batch.v${version}(${fields.map((field) => field.join(' ')).join(',')})`

/** `abi.encode(keccak(type), …the fields in order)`, of the header's version. @throws RangeError */
export function encodeHeader(header: BatchHeader, keccak: Keccak): Uint8Array {
  const row = headerVersions[batchVersionOf(header) - 1] ?? headerVersions[0]
  const words: Word[] = [toHex(keccak(new TextEncoder().encode(headerTypeOf(row))))]
  const tails: number[] = []
  for (const [, name] of row.fields) {
    const value = header[name]
    if (typeof value !== 'object') words.push(value)
    else {
      words.push(bytesOfWords(1 + row.fields.length + tails.length))
      tails.push(...arrayWords(value))
    }
  }
  return encodeWords([...words, ...tails])
}

export const headerHash = (header: BatchHeader, keccak: Keccak): Hex =>
  toHex(keccak(encodeHeader(header, keccak)))

/** What a contract of version 2 keeps of the batch; of the last batch of a version 1: goes on from. */
export const recordOf = (header: BatchHeader, keccak: Keccak): ChainRecord => ({
  prevHead: header.prevHead,
  index: header.index,
  root: header.root,
  headerHash: headerHash(header, keccak),
  last: header.last,
  n: header.nLast,
})

/** The head that the contract of its version holds once this batch is anchored. */
export const headOf = (header: BatchHeader, keccak: Keccak): Hex =>
  batchVersionOf(header) === 1
    ? headOf1(header, keccak)
    : recordHead(recordOf(header, keccak), keccak)

const headOf1 = (header: BatchHeader, keccak: Keccak): Hex =>
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
 * The head that a contract of version 1 is born with, so that none is valid for two deployments.
 * @param contract its address, 20 bytes in hex of either case
 */
export const genesisHead = (chainId: number, contract: string, keccak: Keccak): Hex =>
  toHex(keccak(encodeWords([chainId, addressWord(contract)])))

/** As bundles and exports have it; the order is part of their format, whose name says the version. */
export const headerToWire = (header: BatchHeader) => ({
  index: header.index,
  prev_head: header.prevHead,
  root: header.root,
  first: header.first,
  last: header.last,
  count: header.count,
  time_min_ms: header.timeMinMs,
  time_max_ms: header.timeMaxMs,
  sealed_ms: header.sealedMs,
  beacon: header.beacon,
  n_first: header.nFirst,
  n_last: header.nLast,
})
