import type { SensorId } from './sensor-id.ts'

/** The five quantities a sensor may report, in the order of every row, leaf and message. */
export const measurementNames = ['pm25', 'pm10', 'co2', 'temperature', 'humidity'] as const
export type MeasurementName = (typeof measurementNames)[number]

/** What each quantity is counted in, as the API prints it. */
export const units: Readonly<Record<MeasurementName, string>> = {
  pm25: 'µg/m³',
  pm10: 'µg/m³',
  co2: 'ppm',
  temperature: '°C',
  humidity: '%RH',
}

/**
 * The measured values of one reading as signed integers of hundredths (18.5 µg/m³ is 1850),
 * `null` where the sensor did not report: missing is never 0.
 */
export type Hundredths = { readonly [Name in MeasurementName]: number | null }

/** One accepted reading, as the log, the store and the API know it. */
export type Reading = Hundredths & {
  readonly sensor: SensorId
  /** The area of the site the sensor stood at when it measured, fixed at acceptance. */
  readonly area: string
  /** When it was measured: ms since the epoch, UTC. */
  readonly timeMs: number
  /** US EPA index 0…500 of this reading alone, `null` where it holds no PM. */
  readonly aqi: number | null
  /** Bits of `quality.ts`. */
  readonly flags: number
  /** partition · 2^40 + n, where n counts the partition's accepted readings from 1, no gap. */
  readonly seq: number
}

/** What makes a reading the same reading: accepted once, ever. */
export type ReadingKey = { readonly sensor: SensorId; readonly timeMs: number }

const numbersPerPartition = 2 ** 40

/** @param n from 1, below 2^40 @returns a whole number below 2^53 for partitions 0…8191 */
export const seqOf = (partition: number, n: number): number => partition * numbersPerPartition + n
export const partitionOfSeq = (seq: number): number => Math.floor(seq / numbersPerPartition)
export const nOfSeq = (seq: number): number => seq % numbersPerPartition
