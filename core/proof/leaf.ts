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
  const { bytes, view, hashOf, hashTwice } = createWords(first, wordCount1, keccak)
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

function createEncoder2(keccak: Keccak): Encoder<LeafFields2> {
  const { bytes, view, hashOf, hashTwice } = createWords(second, wordCount2, keccak)
  const pack = packedValues()
  const deviceAt = word2.device * wordBytes
  return ({ sensor, timeMs, seq, area, flags, values, aqi, device }) => {
    bytes.set(hashOf(sensor), word2.sensor * wordBytes)
    putUnsigned(view, word2.timeMs, timeMs)
    putUnsigned(view, word2.seq, seq)
    bytes.set(hashOf(area), word2.area * wordBytes)
    putUnsigned(view, word2.flags, flags, 2 ** 32 - 1)
    bytes.set(keccak(pack(values)), word2.values * wordBytes)
    putUnsigned(view, word2.aqi, aqi ?? noIndex, aqi === null ? noIndex : noIndex - 1)
    if (device === undefined) bytes.fill(0, deviceAt)
    else bytes.set(hashBytes(device), deviceAt)
    return hashTwice()
  }
}

const idBytes = 2
const packedBytes = idBytes + 8

/**
 * @returns a function that gives the values of a reading as leaf 2 hashes them: for each that is there,
 * ascending by id, `uint16 id ‖ int64 hundredths`, big-endian. Its result holds until the next call.
 * It throws RangeError for a value that is not a whole number, or has an id that is not known here.
 */
function packedValues(): (values: Values) => Uint8Array {
  const bytes = new Uint8Array(mostValues * packedBytes)
  const view = new DataView(bytes.buffer)
  const parts = Array.from({ length: mostValues + 1 }, (_, count) =>
    bytes.subarray(0, count * packedBytes),
  )
  return (values) => {
    let count = 0
    for (let id = 0; id < values.length; id++) {
      const value = values[id] ?? null
      if (value === null) continue
      if (id >= mostValues) throw new RangeError(`a leaf cannot hold a quantity of id ${id}`)
      view.setUint16(count * packedBytes, id)
      putInteger(view, count * packedBytes + idBytes, value)
      count++
    }
    return parts[count] ?? bytes
  }
}

function createWords(version: LeafVersion, count: number, keccak: Keccak) {
  const bytes = new Uint8Array(count * wordBytes)
  bytes.set(keccak(utf8.encode(leafTypeOf(version))))
  const known = new Map<string, Uint8Array>()
  const hashOf = (text: string): Uint8Array => {
    const hash = known.get(text)
    if (hash !== undefined) return hash
    if (known.size >= rememberedTexts) known.clear()
    const made = keccak(utf8.encode(text))
    known.set(text, made)
    return made
  }
  // a quarter faster than hashing the inner hash itself: V8 moves new bytes that a view is made of
  const inner = new Uint8Array(wordBytes)
  const hashTwice = (): Uint8Array => {
    inner.set(keccak(bytes))
    return keccak(inner)
  }
  return { bytes, view: new DataView(bytes.buffer), hashOf, hashTwice }
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
