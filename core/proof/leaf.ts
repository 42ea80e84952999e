/**
 * The leaf of a reading: what is anchored, and what the API calls its hash. A version is fixed for
 * good: a change to anything here is another row of `leafVersions`, with another type string.
 *
 * `keccak256(keccak256(abi.encode(words)))` over static words of 32 bytes, which is also the leaf of
 * OpenZeppelin's StandardMerkleTree and of Solidity. The first word is the hash of the type string.
 * `aqi` is the EPA index by the table of 2024.
 *
 * Version 1 has a word for each of five values: a missing one is 0, and its bit in `present` is clear.
 * Version 2 has one word for all values, and words for the area and for the flags.
 */
import { type QuantityName, quantityNames } from '../air/quantities.ts'
import type { Reading } from '../air/reading.ts'
import { mostValues, type Values, valueOf } from '../air/values.ts'
import { hashBytes } from '../hex.ts'
import { putInteger, putSigned, putUnsigned, wordBytes } from './words.ts'

/** Keccak-256. Must not keep a reference to `bytes`, which is used again. */
export type Keccak = (bytes: Uint8Array) => Uint8Array

type Common = Pick<Reading, 'sensor' | 'timeMs' | 'seq' | 'values' | 'aqi'>
/** What a leaf of version 1 is made of. */
export type LeafFields1 = Common & { readonly leafVersion?: undefined }
/** What a leaf of version 2 is made of. */
export type LeafFields2 = Common &
  Pick<Reading, 'area' | 'flags' | 'device'> & { readonly leafVersion: 2 }
export type LeafFields = LeafFields1 | LeafFields2

type LeafVersion = {
  readonly version: number
  /** Which of a reading's values it holds. */
  readonly values: readonly QuantityName[]
  /** Its words, after the hash of the type. */
  readonly fields: string
}

const basic = ['pm25', 'pm10', 'co2', 'temperature', 'humidity'] as const

/** Every version there is. Append only; a row never changes. */
export const leafVersions = [
  {
    version: 1,
    values: basic,
    fields: `bytes32 sensor,uint64 timeMs,uint64 seq,uint16 present,${basic.map((name) => `int64 ${name},`).join('')}uint16 aqi,bytes32 deviceSig`,
  },
  {
    version: 2,
    values: quantityNames,
    fields:
      'bytes32 sensor,uint64 timeMs,uint64 seq,bytes32 area,uint32 flags,bytes32 values,uint16 aqi,bytes32 device',
  },
] as const satisfies readonly LeafVersion[]

const [first, second] = leafVersions

/** The version of a leaf whose reading does not name one. */
export const leafNow = first

export const leafTypeOf = ({ version, fields }: LeafVersion): string =>
  `airproof.reading.v${version}(${fields})`

const utf8 = new TextEncoder()
/** A city has few sensors and many readings: an encoder hashes each id, and each area, once. */
const rememberedTexts = 50_000

type Encoder<Fields> = (reading: Fields) => Uint8Array

/**
 * @returns a function that gives the 32 bytes of a reading's leaf, new each time, of the version that
 * the reading names. It works in buffers of its own, so it must not be called from inside `keccak`.
 * It throws RangeError where a number is not whole or too large: such a reading must never be anchored.
 */
export function leafEncoder(keccak: Keccak): Encoder<LeafFields> {
  let encoder1: Encoder<LeafFields1> | undefined
  let encoder2: Encoder<LeafFields2> | undefined
  return (reading) => {
    if (reading.leafVersion === undefined) return (encoder1 ??= createEncoder1(keccak))(reading)
    return (encoder2 ??= createEncoder2(keccak))(reading)
  }
}

// word 0 is the hash of the type
const word1 = { sensor: 1, timeMs: 2, seq: 3, present: 4, values: 5 } as const
const aqiWord1 = word1.values + basic.length
// the last word was kept for a signature, and is zero in every leaf of this version
const wordCount1 = aqiWord1 + 2

function createEncoder1(keccak: Keccak): Encoder<LeafFields1> {
  const words = emptyWords(wordCount1)
  const { bytes, view } = words
  bytes.set(keccak(utf8.encode(leafTypeOf(first))))
  const hashOf = rememberedHashes(keccak)
  const hashTwice = hasherOf(words, keccak)
  return (reading) => {
    bytes.set(hashOf(reading.sensor), word1.sensor * wordBytes)
    putUnsigned(view, word1.timeMs, reading.timeMs)
    putUnsigned(view, word1.seq, reading.seq)
    putUnsigned(view, word1.present, presentBits(reading))
    for (const [i, name] of basic.entries()) {
      putSigned(view, word1.values + i, valueOf(reading.values, name) ?? 0)
    }
    putUnsigned(view, aqiWord1, reading.aqi ?? 0)
    return hashTwice()
  }
}

const word2 = {
  sensor: 1,
  timeMs: 2,
  seq: 3,
  area: 4,
  flags: 5,
  values: 6,
  aqi: 7,
  device: 8,
} as const
const wordCount2 = 9
/** Instead of an index, where there is none. */
const noIndex = 2 ** 16 - 1

/** What is hashed twice into a leaf of version 2, and where the hash of the values is in it. */
export const words2 = { bytes: wordCount2 * wordBytes, valuesAt: word2.values * wordBytes } as const

export type Words = { readonly bytes: Uint8Array; readonly view: DataView }
type Words2 = {
  /** The word that is the same in all leaves. */
  readonly begin: (words: Words) => void
  /** All others but the hash of the values. @throws RangeError */
  readonly put: (words: Words, reading: LeafFields2) => void
}

/** Writes a reading's words of version 2. It must not be called from inside `keccak`. */
export function wordsOf2(keccak: Keccak): Words2 {
  const type = keccak(utf8.encode(leafTypeOf(second)))
  const hashOf = rememberedHashes(keccak)
  const deviceAt = word2.device * wordBytes
  return {
    begin: ({ bytes }) => bytes.set(type),
    put: ({ bytes, view }, { sensor, timeMs, seq, area, flags, aqi, device }) => {
      bytes.set(hashOf(sensor), word2.sensor * wordBytes)
      putUnsigned(view, word2.timeMs, timeMs)
      putUnsigned(view, word2.seq, seq)
      bytes.set(hashOf(area), word2.area * wordBytes)
      putUnsigned(view, word2.flags, flags, 2 ** 32 - 1)
      putUnsigned(view, word2.aqi, aqi ?? noIndex, aqi === null ? noIndex : noIndex - 1)
      if (device === undefined) bytes.fill(0, deviceAt)
      else bytes.set(hashBytes(device), deviceAt)
    },
  }
}

function createEncoder2(keccak: Keccak): Encoder<LeafFields2> {
  const words = emptyWords(wordCount2)
  const { begin, put } = wordsOf2(keccak)
  begin(words)
  const packed = new Uint8Array(packedBytesAtMost)
  const view = new DataView(packed.buffer)
  // a view is made once for each length there is
  const parts = Array.from({ length: mostValues + 1 }, (_, count) =>
    packed.subarray(0, count * packedBytes),
  )
  const hashTwice = hasherOf(words, keccak)
  return (reading) => {
    put(words, reading)
    const length = packValues(view, 0, reading.values)
    words.bytes.set(keccak(parts[length / packedBytes] ?? packed), words2.valuesAt)
    return hashTwice()
  }
}

const idBytes = 2
const packedBytes = idBytes + 8
export const packedBytesAtMost = mostValues * packedBytes

/**
 * Writes the values of a reading as leaf 2 hashes them: for each that is there, ascending by id,
 * `uint16 id ‖ int64 hundredths`, big-endian.
 * @returns how many bytes it wrote, from `at` on
 * @throws RangeError for a value that is not a whole number, or has an id that is not known here
 */
export function packValues(view: DataView, at: number, values: Values): number {
  let end = at
  for (let id = 0; id < values.length; id++) {
    const value = values[id] ?? null
    if (value === null) continue
    if (id >= mostValues) throw new RangeError(`a leaf cannot hold a quantity of id ${id}`)
    view.setUint16(end, id)
    putInteger(view, end + idBytes, value)
    end += packedBytes
  }
  return end - at
}

function emptyWords(count: number): Words {
  const bytes = new Uint8Array(count * wordBytes)
  return { bytes, view: new DataView(bytes.buffer) }
}

/** Of texts. */
function rememberedHashes(keccak: Keccak): (text: string) => Uint8Array {
  const known = new Map<string, Uint8Array>()
  return (text) => {
    const hash = known.get(text)
    if (hash !== undefined) return hash
    if (known.size >= rememberedTexts) known.clear()
    const made = keccak(utf8.encode(text))
    known.set(text, made)
    return made
  }
}

function hasherOf({ bytes }: Words, keccak: Keccak): () => Uint8Array {
  // a quarter faster than hashing the inner hash itself: V8 moves new bytes that a view is made of
  const inner = new Uint8Array(wordBytes)
  return () => {
    inner.set(keccak(bytes))
    return keccak(inner)
  }
}

/** The values that a leaf of version 1 is made of, by name: whole hundredths. */
export type LeafValues = { readonly [Name in (typeof basic)[number]]: number | null }

export const leafValues = ({ values }: Common): LeafValues =>
  // each name of the version is given its value
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.fromEntries(basic.map((name) => [name, valueOf(values, name)])) as LeafValues

/** One leaf; a caller that makes many keeps a `leafEncoder`. */
export const leafOf = (reading: LeafFields, keccak: Keccak): Uint8Array =>
  leafEncoder(keccak)(reading)

/** Of version 1. Bit 0 = the first of its values, and so on; the bit after the last is the index. */
export const presentBits = (reading: Common): number =>
  basic.reduce(
    (bits, name, i) => (valueOf(reading.values, name) === null ? bits : bits | (1 << i)),
    reading.aqi === null ? 0 : 1 << basic.length,
  )
