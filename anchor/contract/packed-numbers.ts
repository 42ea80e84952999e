/** The last numbers of the partitions as version 2 of the contract has them: 40 bits each, six to a word. */
import { partitionCount } from '../../core/air/sensor-id.ts'

export type NumberWords = readonly [bigint, bigint, bigint]

const bits = 40n
const perWord = 6

/** @throws RangeError there are not sixteen, or one of them is not a whole number below 2^40 */
export function packNumbers(n: readonly number[]): NumberWords {
  if (n.length !== partitionCount)
    throw new RangeError(`not ${partitionCount} numbers: ${n.length}`)
  const word = (index: number): bigint =>
    n.slice(perWord * index, perWord * (index + 1)).reduceRight((packed, number) => {
      if (!Number.isInteger(number) || number < 0 || number >= 2 ** Number(bits))
        throw new RangeError(`not a number of a reading: ${number}`)
      return (packed << bits) | BigInt(number)
    }, 0n)
  return [word(0), word(1), word(2)]
}

export const unpackNumbers = (words: NumberWords): readonly number[] =>
  Array.from({ length: partitionCount }, (_, partition) => {
    const word = words[Math.floor(partition / perWord)] ?? 0n
    return Number((word >> (bits * BigInt(partition % perWord))) & (2n ** bits - 1n))
  })
