/**
 * The last numbers of the sixteen partitions, as contract 2 holds them: 40 bits each, six to a word,
 * partition 6w + i at bits 40i of word w. The bits above are zero.
 */
import { partitionCount } from '../air/sensor-id.ts'
import { type Hex, hashBytes, toHex } from '../hex.ts'
import { wordBytes } from './words.ts'

const numberBytes = 5
const perWord = 6
const wordsOfNumbers = 3

/** No partition's number can be larger. */
export const largestNumber = 2 ** (8 * numberBytes) - 1

export type PackedNumbers = readonly [Hex, Hex, Hex]

/** @param numbers sixteen @throws RangeError where they are not, or one does not fit */
export function packNumbers(numbers: readonly number[]): PackedNumbers {
  if (numbers.length !== partitionCount)
    throw new RangeError(`there are ${partitionCount} partitions, not ${numbers.length}`)
  const bytes = Buffer.alloc(wordsOfNumbers * wordBytes)
  numbers.forEach((number, partition) => {
    if (!Number.isSafeInteger(number) || number < 0 || number > largestNumber)
      throw new RangeError(`${number} is not a number of a partition: it has not 40 bits`)
    bytes.writeUIntBE(number, placeOf(partition), numberBytes)
  })
  const wordAt = (word: number): Hex =>
    toHex(bytes.subarray(word * wordBytes, (word + 1) * wordBytes))
  return [wordAt(0), wordAt(1), wordAt(2)]
}

/** @throws RangeError where bits are set that belong to no partition */
export function unpackNumbers(words: PackedNumbers): number[] {
  const bytes = Buffer.concat(words.map(hashBytes))
  const numbers = Array.from({ length: partitionCount }, (_, partition) =>
    bytes.readUIntBE(placeOf(partition), numberBytes),
  )
  if (packNumbers(numbers).some((word, at) => word !== words[at]))
    throw new RangeError('bits are set that belong to no partition')
  return numbers
}

/** Of a partition's first byte: numbers fill a word from its end. */
const placeOf = (partition: number): number => {
  const word = Math.floor(partition / perWord)
  return (word + 1) * wordBytes - ((partition % perWord) + 1) * numberBytes
}
