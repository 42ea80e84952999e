/**
 * What contract 2 keeps a hash of, its head: the struct `Batch` of `AirproofAnchors2.sol`. An anchor
 * names the record before, so the contract can compare the numbers of the two.
 */

import { partitionCount } from '../air/sensor-id.ts'
import { type Hex, toHex, zeroHash } from '../hex.ts'
import type { Keccak } from './leaf.ts'
import { packNumbers } from './packed-numbers.ts'
import { addressWord, encodeWords } from './words.ts'

export type ChainRecord = {
  readonly prevHead: Hex
  readonly index: number
  readonly root: Hex
  readonly headerHash: Hex
  /** The last log sequence. */
  readonly last: number
  /** The last number of each of the sixteen partitions. */
  readonly n: readonly number[]
}

/** What a contract of a new network goes on from. */
export const noRecord: ChainRecord = {
  prevHead: zeroHash,
  index: 0,
  root: zeroHash,
  headerHash: zeroHash,
  last: 0,
  n: Array.from({ length: partitionCount }, () => 0),
}

/** Of no contract: `former` of a new network. */
export const noContract: Hex = `0x${'0'.repeat(40)}`

/** As the chain may hold it: a contract takes 64 bits, and a log has 53. */
type AnyRecord = Omit<ChainRecord, 'index' | 'last'> &
  Readonly<Record<'index' | 'last', number | bigint>>

/** `keccak256(abi.encode(batch))`. @throws RangeError */
export const recordHead = (record: AnyRecord, keccak: Keccak): Hex =>
  toHex(
    keccak(
      encodeWords([
        record.prevHead,
        record.index,
        record.root,
        record.headerHash,
        record.last,
        ...packNumbers(record.n),
      ]),
    ),
  )

export type Beginning = {
  readonly chainId: number
  /** The new contract's address; 20 bytes in hex of either case, as the former one's. */
  readonly contract: string
  /** The contract that it goes on from; `noContract`: of a new network. */
  readonly former: string
  /** The record of the last good batch there; `noRecord`: of a new network. */
  readonly from: ChainRecord
}

/**
 * The record that a contract begins with, one rule for all: a new network, after a contract of
 * version 1 (`recordOf` of its last batch), and after another one of version 2. Chain, contract
 * and former contract are in it, so no head is valid for two deployments. @throws RangeError
 */
export const beginningOf = (
  { chainId, contract, former, from }: Beginning,
  keccak: Keccak,
): ChainRecord => ({
  ...from,
  prevHead: toHex(
    keccak(
      encodeWords([chainId, addressWord(contract), addressWord(former), recordHead(from, keccak)]),
    ),
  ),
})
