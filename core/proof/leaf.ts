/**
 * The leaf of a reading: what is anchored, and what the API calls its hash. Fixed for good: a
 * change to anything here is a new version with a new type string, beside this one.
 *
 * `keccak256(keccak256(abi.encode(words)))` over twelve static words of 32 bytes, which is also the
 * leaf of OpenZeppelin's StandardMerkleTree and of Solidity. `aqi` is the EPA index by the table of
 * 2024. A value that is missing is 0 and its bit in `present` is clear.
 */
import type { QuantityName } from '../air/quantities.ts'
import type { Reading } from '../air/reading.ts'
import { valueOf } from '../air/values.ts'

/** Keccak-256. Must not keep a reference to `bytes`, which is used again. */
export type Keccak = (bytes: Uint8Array) => Uint8Array

export type LeafFields = Omit<Reading, 'area' | 'flags'>

/** What a version of the leaf holds of a reading's values, in the order of its words. */
export type LeafVersion = { readonly version: number; readonly values: readonly QuantityName[] }

/** Every version there is. What is in one never changes; another quantity needs another version. */
export const leafVersions = [
  { version: 1, values: ['pm25', 'pm10', 'co2', 'temperature', 'humidity'] },
] as const satisfies readonly LeafVersion[]

/** The version of every leaf made now. */
export const [leafNow] = leafVersions

const typeOf = ({ version, values }: LeafVersion): string =>
  `airproof.reading.v${version}(bytes32 sensor,uint64 timeMs,uint64 seq,uint16 present,${values.map((name) => `int64 ${name},`).join('')}uint16 aqi,bytes32 deviceSig)`

export const leafType = typeOf(leafNow)

const wordBytes = 32
const word = { type: 0, sensor: 1, timeMs: 2, seq: 3, present: 4, values: 5 } as const
const aqiWord = word.values + leafNow.values.length
// the last word is kept for a device signature: zeros in every leaf of this version
const wordCount = aqiWord + 2

const utf8 = new TextEncoder()
/** A city has few sensors and many readings: an encoder hashes each id once. */
const rememberedSensors = 50_000

/**
 * @returns a function that gives the 32 bytes of a reading's leaf, new each time. It works in one
 * buffer of its own, so it must not be called from inside `keccak`. It throws RangeError where a
 * number is not whole or too large: such a reading must never be anchored.
 */
export function leafEncoder(keccak: Keccak): (reading: LeafFields) => Uint8Array {
  const bytes = new Uint8Array(wordCount * wordBytes)
  const view = new DataView(bytes.buffer)
  bytes.set(keccak(utf8.encode(leafType)), word.type * wordBytes)

  const sensorWords = new Map<string, Uint8Array>()
  const wordOf = (sensor: string): Uint8Array => {
    const known = sensorWords.get(sensor)
    if (known !== undefined) return known
    if (sensorWords.size >= rememberedSensors) sensorWords.clear()
    const made = keccak(utf8.encode(sensor))
    sensorWords.set(sensor, made)
    return made
  }

  return (reading) => {
    bytes.set(wordOf(reading.sensor), word.sensor * wordBytes)
    putUnsigned(view, word.timeMs, reading.timeMs)
    putUnsigned(view, word.seq, reading.seq)
    putUnsigned(view, word.present, presentBits(reading))
    for (const [i, name] of leafNow.values.entries()) {
      putSigned(view, word.values + i, valueOf(reading.values, name) ?? 0)
    }
    putUnsigned(view, aqiWord, reading.aqi ?? 0)
    return keccak(keccak(bytes))
  }
}

/** The values that the leaf is made of, by name: whole hundredths. */
export type LeafValues = {
  readonly [Name in (typeof leafNow)['values'][number]]: number | null
}

export const leafValues = ({ values }: LeafFields): LeafValues =>
  // each name of the version is given its value
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.fromEntries(leafNow.values.map((name) => [name, valueOf(values, name)])) as LeafValues

/** One leaf; whoever makes many keeps a `leafEncoder`. */
export const leafOf = (reading: LeafFields, keccak: Keccak): Uint8Array =>
  leafEncoder(keccak)(reading)

/** Bit 0 = the first of the version's values, and so on; the bit after the last is the index. */
export const presentBits = (reading: LeafFields): number =>
  leafNow.values.reduce(
    (bits, name, i) => (valueOf(reading.values, name) === null ? bits : bits | (1 << i)),
    reading.aqi === null ? 0 : 1 << leafNow.values.length,
  )

const putUnsigned = (view: DataView, index: number, value: number): void => {
  if (value < 0) throw new RangeError(`a leaf cannot hold ${value} here: it is negative`)
  putLow64(view, index, value)
}

function putSigned(view: DataView, index: number, value: number): void {
  // two's complement over the whole word; the buffer still holds the former reading's sign
  const sign = value < 0 ? -1 : 0
  const at = index * wordBytes
  view.setInt32(at, sign)
  view.setInt32(at + 4, sign)
  view.setInt32(at + 8, sign)
  view.setInt32(at + 12, sign)
  view.setInt32(at + 16, sign)
  view.setInt32(at + 20, sign)
  putLow64(view, index, value)
}

function putLow64(view: DataView, index: number, value: number): void {
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`a leaf cannot hold ${value}: it is not a whole number below 2^53`)
  }
  const at = index * wordBytes + 24
  view.setInt32(at, Math.floor(value / 2 ** 32))
  view.setUint32(at + 4, value >>> 0)
}
