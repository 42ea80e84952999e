/**
 * The leaf of a reading: what is anchored, and what the API calls its hash. Fixed for good: a
 * change to anything here is a new version with a new type string, beside this one.
 *
 * `keccak256(keccak256(abi.encode(words)))` over twelve static words of 32 bytes, which is also the
 * leaf of OpenZeppelin's StandardMerkleTree and of Solidity. `aqi` is the EPA index by the table of
 * 2024. A value that is missing is 0 and its bit in `present` is clear.
 */
import type { Reading } from '../air/reading.ts'

/** Keccak-256. Must not keep a reference to `bytes`, which is used again. */
export type Keccak = (bytes: Uint8Array) => Uint8Array

export type LeafFields = Omit<Reading, 'area' | 'flags'>

export const leafType =
  'airproof.reading.v1(bytes32 sensor,uint64 timeMs,uint64 seq,uint16 present,int64 pm25,int64 pm10,int64 co2,int64 temperature,int64 humidity,uint16 aqi,bytes32 deviceSig)'

// the twelfth word is kept for a device signature: zeros in every leaf of this version
const wordCount = 12
const wordBytes = 32
const word = {
  type: 0,
  sensor: 1,
  timeMs: 2,
  seq: 3,
  present: 4,
  pm25: 5,
  pm10: 6,
  co2: 7,
  temperature: 8,
  humidity: 9,
  aqi: 10,
} as const

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
    putSigned(view, word.pm25, reading.pm25 ?? 0)
    putSigned(view, word.pm10, reading.pm10 ?? 0)
    putSigned(view, word.co2, reading.co2 ?? 0)
    putSigned(view, word.temperature, reading.temperature ?? 0)
    putSigned(view, word.humidity, reading.humidity ?? 0)
    putUnsigned(view, word.aqi, reading.aqi ?? 0)
    return keccak(keccak(bytes))
  }
}

/** One leaf; whoever makes many keeps a `leafEncoder`. */
export const leafOf = (reading: LeafFields, keccak: Keccak): Uint8Array =>
  leafEncoder(keccak)(reading)

/** Bit 0 = pm25 … bit 4 = humidity, bit 5 = aqi. */
export const presentBits = (reading: LeafFields): number =>
  (reading.pm25 === null ? 0 : 1) |
  (reading.pm10 === null ? 0 : 2) |
  (reading.co2 === null ? 0 : 4) |
  (reading.temperature === null ? 0 : 8) |
  (reading.humidity === null ? 0 : 16) |
  (reading.aqi === null ? 0 : 32)

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
