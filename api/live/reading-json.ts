import { type AqiCategory, aqiDetail, type Pollutant } from '../../core/air/aqi.ts'
import { type Flag, namesOf } from '../../core/air/quality.ts'
import type { Reading } from '../../core/air/reading.ts'
import { type Measurements, measurementsOf, valueOf } from '../../core/air/values.ts'
import { formatIsoMs } from '../../core/iso-time.ts'

export const shapes = ['flat', 'nested'] as const
/** `full` has everything that the other two have. */
export type Shape = (typeof shapes)[number] | 'full'

/** A reading as /v1 prints it; whatever was not measured is null, never 0. */
export type ReadingJson = Measurements & {
  readonly sensor_id: string
  readonly timestamp: string
  readonly measurements: Measurements
  readonly aqi: number | null
  readonly aqi_category: AqiCategory | null
  readonly dominant_pollutant: Pollutant | null
  /** A concentration above the index's table, which ends at 500. */
  readonly beyond_index: boolean
  readonly quality: readonly Flag[]
  readonly blockchain: { readonly hash: string } & OnChain
  readonly blockchain_tx: string | null
}

/** How the batch of a reading stands on the chain, as of now. */
export type OnChain = {
  readonly verified: boolean
  readonly tx_hash: string | null
  readonly status: 'pending' | 'anchoring' | 'verified' | 'mismatch'
}
export type OnChainOf = (reading: Reading) => OnChain

/** The leaf of a reading as `0x` and 64 hex digits. */
export type HashOf = (reading: Reading) => string

/** What never changes of a reading; `hash` is part of `blockchain`, which does. */
export type FixedJson = Omit<ReadingJson, 'blockchain' | 'blockchain_tx'>

export function readingJson(reading: Reading, hashOf: HashOf, onChainOf: OnChainOf): ReadingJson {
  const onChain = onChainOf(reading)
  return {
    ...fixedJson(reading),
    blockchain: { hash: hashOf(reading), ...onChain },
    blockchain_tx: onChain.tx_hash,
  }
}

export function fixedJson(reading: Reading): FixedJson {
  const measurements = measurementsOf(reading.values)
  const detail = aqiDetail(valueOf(reading.values, 'pm25'), valueOf(reading.values, 'pm10'))
  return {
    sensor_id: reading.sensor,
    timestamp: formatIsoMs(reading.timeMs),
    ...measurements,
    measurements,
    aqi: reading.aqi,
    aqi_category: detail?.category ?? null,
    dominant_pollutant: detail?.dominant ?? null,
    beyond_index: detail?.beyondIndex ?? false,
    quality: namesOf(reading.flags),
  }
}

/** The same, or only what one of the two shapes has (and whose reading it is). */
export function shaped(json: ReadingJson, shape: Shape): Partial<ReadingJson> {
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
