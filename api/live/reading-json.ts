import type { AirIndex, Pollutant } from '../../core/air/index/air-index.ts'
import { type Flag, namesOf } from '../../core/air/quality.ts'
import { type QualityLevel, qualityOf } from '../../core/air/quality-level.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import {
  fewestValues,
  inUnit,
  type Measurements,
  measurementsOf,
  type Values,
} from '../../core/air/values.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { type Keccak, leafEncoder } from '../../core/proof/leaf.ts'
import type { Shape, View } from './view.ts'

/** A reading as /v1 prints it; a value that was not measured is null, never 0. */
export type ReadingJson = Measurements & {
  readonly sensor_id: string
  readonly timestamp: string
  readonly measurements: Measurements
  /** By the index that the caller chose, as are the fields that follow from it. */
  readonly aqi: number | null
  readonly aqi_category: string | null
  readonly dominant_pollutant: Pollutant | null
  /** A concentration is above the index's table. */
  readonly beyond_index: boolean
  readonly quality: readonly Flag[]
  readonly quality_level: QualityLevel
  readonly blockchain: { readonly hash: string } & OnChain
  readonly blockchain_tx: string | null
}

/** The state of a reading's batch on the chain, as of now. */
export type OnChain = {
  readonly verified: boolean
  readonly tx_hash: string | null
  readonly status: 'pending' | 'anchoring' | 'verified' | 'mismatch'
}
export type OnChainOf = (reading: Reading) => OnChain

/** The leaf of a reading as `0x` and 64 hex digits. */
type HashOf = (reading: Reading) => string

/** What the chain holds about a reading. */
export type Proofs = { readonly hashOf: HashOf; readonly onChainOf: OnChainOf }

/** The fields that never change; `hash` is part of `blockchain`, which does. */
type FixedJson = Omit<ReadingJson, 'blockchain' | 'blockchain_tx'>

/** All fields, or only those of the view's shape (and the sensor's id). */
export const readingJson = (
  reading: Reading,
  { index, shape }: View,
  proofs: Proofs,
): Partial<ReadingJson> =>
  shape === 'flat'
    ? flatJson(reading, index, proofs)
    : shaped(fullJson(reading, index, proofs), shape)

/** Made by itself: it has no hash, which costs more than all the rest. */
const flatJson = (
  reading: Reading,
  index: AirIndex,
  { onChainOf }: Proofs,
): Partial<ReadingJson> => ({
  sensor_id: reading.sensor,
  timestamp: formatIsoMs(reading.timeMs),
  ...measurementsOf(reading.values),
  aqi: index.ofReading(reading),
  blockchain_tx: onChainOf(reading).tx_hash,
})

/** `textOf` below writes the same. */
export function fullJson(
  reading: Reading,
  index: AirIndex,
  { hashOf, onChainOf }: Proofs,
): ReadingJson {
  const onChain = onChainOf(reading)
  return {
    ...fixedJson(reading, index),
    blockchain: { hash: hashOf(reading), ...onChain },
    blockchain_tx: onChain.tx_hash,
  }
}

function fixedJson(reading: Reading, index: AirIndex): FixedJson {
  const measurements = measurementsOf(reading.values)
  return {
    sensor_id: reading.sensor,
    timestamp: formatIsoMs(reading.timeMs),
    ...measurements,
    measurements,
    ...indexJson(reading, index),
  }
}

type IndexJson = Pick<
  ReadingJson,
  'aqi' | 'aqi_category' | 'dominant_pollutant' | 'beyond_index' | 'quality' | 'quality_level'
>

/** What the values of a reading mean. */
export function indexJson(reading: Reading, index: AirIndex): IndexJson {
  const aqi = index.ofReading(reading)
  return {
    aqi,
    aqi_category: aqi === null ? null : index.categoryOf(aqi),
    dominant_pollutant: index.dominantOf(reading),
    beyond_index: index.isBeyond(reading),
    quality: namesOf(reading.flags),
    quality_level: qualityOf(reading.flags),
  }
}

/** The same of a sensor that never sent a reading. */
export const noIndexJson: Omit<IndexJson, 'quality_level'> & { readonly quality_level: null } = {
  aqi: null,
  aqi_category: null,
  dominant_pollutant: null,
  beyond_index: false,
  quality: [],
  quality_level: null,
}

function shaped(json: ReadingJson, shape: Exclude<Shape, 'flat'>): Partial<ReadingJson> {
  const { sensor_id, timestamp, measurements, aqi, aqi_category, blockchain } = json
  switch (shape) {
    case 'full':
      return json
    case 'nested':
      return { sensor_id, timestamp, measurements, aqi, aqi_category, blockchain }
  }
}

export type TextsOfReadings = Proofs & {
  /**
   * The JSON of a reading; the part that never changes is made once and cached with the reading.
   */
  readonly textOf: (reading: Reading, view: View) => string
  /** Nothing is cached: these readings were read for one answer, and no other one has them. */
  readonly isPassing: boolean
}
export type ReadingTexts = TextsOfReadings & { readonly passing: TextsOfReadings }

const nameTexts = quantityNames.map((name) => `"${name}":`)

/** `measurementsOf` as JSON without its braces. */
function measurementsText(values: Values): string {
  const texts: string[] = []
  for (let id = 0; id < nameTexts.length; id++) {
    const value = values[id] ?? null
    if (value !== null || id < fewestValues) texts.push(`${nameTexts[id]}${inUnit(value)}`)
  }
  return texts.join()
}

/**
 * `fixedJson` as JSON without its last brace: JSON.stringify of it takes twice as long. Joined, because
 * what `+` makes is put together again each time that it is written.
 */
function fixedText(reading: Reading, index: AirIndex): string {
  const measured = measurementsText(reading.values)
  const { timeMs, sensor } = reading
  const parts = [
    `{"sensor_id":"${sensor}","timestamp":"${formatIsoMs(timeMs)}",`,
    measured,
    ',"measurements":{',
    measured,
    '},',
    JSON.stringify(indexJson(reading, index)).slice(1, -1),
  ]
  return parts.join('')
}

/** A hash is seven rounds of keccak, so the hashes of cached readings are cached with them. */
export const createReadingTexts = (keccak: Keccak, onChainOf: OnChainOf): ReadingTexts => ({
  ...textsOfReadings(keccak, onChainOf, false),
  passing: textsOfReadings(keccak, onChainOf, true),
})

function textsOfReadings(
  keccak: Keccak,
  onChainOf: OnChainOf,
  isPassing: boolean,
): TextsOfReadings {
  const encode = leafEncoder(keccak)
  const hashes = new WeakMap<Reading, string>()
  const newHash: HashOf = (reading) => `0x${Buffer.from(encode(reading)).toString('hex')}`
  const cachedHash: HashOf = (reading) => {
    let hash = hashes.get(reading)
    if (hash === undefined) hashes.set(reading, (hash = newHash(reading)))
    return hash
  }
  const hashOf = isPassing ? newHash : cachedHash
  const newBeginning = (reading: Reading, index: AirIndex): string =>
    `${fixedText(reading, index)},"blockchain":{"hash":"${hashOf(reading)}",`
  /** By both arguments: each index gives the same reading other values. */
  const beginnings = new WeakMap<AirIndex, WeakMap<Reading, string>>()
  /** Up to the chain's part, which may differ at the next request. */
  const beginningOf = (reading: Reading, index: AirIndex): string => {
    if (isPassing) return newBeginning(reading, index)
    let ofIndex = beginnings.get(index)
    if (ofIndex === undefined) beginnings.set(index, (ofIndex = new WeakMap()))
    let text = ofIndex.get(reading)
    if (text === undefined) ofIndex.set(reading, (text = newBeginning(reading, index)))
    return text
  }
  const proofs = { hashOf, onChainOf }
  return {
    ...proofs,
    isPassing,
    textOf: (reading, view) => {
      const { correctedOf } = view
      if (view.shape !== 'full' || correctedOf !== undefined) {
        const json = readingJson(reading, view, proofs)
        return JSON.stringify(
          correctedOf === undefined ? json : { ...json, corrections: correctedOf(reading) },
        )
      }
      const { verified, tx_hash, status } = onChainOf(reading)
      const tx = tx_hash === null ? 'null' : `"${tx_hash}"`
      // the rest of `fullJson` by hand: JSON.stringify of it takes twice as long
      return `${beginningOf(reading, view.index)}"verified":${verified},"tx_hash":${tx},"status":"${status}"},"blockchain_tx":${tx}}`
    },
  }
}
