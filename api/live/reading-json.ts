import type { AirIndex, Pollutant } from '../../core/air/index/air-index.ts'
import { type Flag, namesOf } from '../../core/air/quality.ts'
import type { Reading } from '../../core/air/reading.ts'
import { type Measurements, measurementsOf } from '../../core/air/values.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
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
export type HashOf = (reading: Reading) => string

/** What the chain holds about a reading. */
export type Proofs = { readonly hashOf: HashOf; readonly onChainOf: OnChainOf }

/** The fields that never change; `hash` is part of `blockchain`, which does. */
export type FixedJson = Omit<ReadingJson, 'blockchain' | 'blockchain_tx'>

/** All fields, or only those of the view's shape (and the sensor's id). */
export const readingJson = (
  reading: Reading,
  { index, shape }: View,
  proofs: Proofs,
): Partial<ReadingJson> => shaped(fullJson(reading, index, proofs), shape)

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

export function fixedJson(reading: Reading, index: AirIndex): FixedJson {
  const measurements = measurementsOf(reading.values)
  const aqi = index.ofReading(reading)
  return {
    sensor_id: reading.sensor,
    timestamp: formatIsoMs(reading.timeMs),
    ...measurements,
    measurements,
    aqi,
    aqi_category: aqi === null ? null : index.categoryOf(aqi),
    dominant_pollutant: index.dominantOf(reading),
    beyond_index: index.isBeyond(reading),
    quality: namesOf(reading.flags),
  }
}

function shaped(json: ReadingJson, shape: Shape): Partial<ReadingJson> {
  const { sensor_id, timestamp, measurements, aqi, aqi_category, blockchain, blockchain_tx } = json
  switch (shape) {
    case 'full':
      return json
    case 'flat':
      return { sensor_id, timestamp, ...measurements, aqi, blockchain_tx }
    case 'nested':
      return { sensor_id, timestamp, measurements, aqi, aqi_category, blockchain }
  }
}
