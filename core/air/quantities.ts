/**
 * The quantities that a sensor may report: the one place that names them. Schemas, the log, the
 * state, both stores, the API, exports, webhooks, device maps and pages are made from this table.
 *
 * A row's place is its id, and the ids are stored: append, never reorder, never remove.
 * docs/how-to/add-a-quantity.md lists the other steps.
 */

/** Both ends belong to the range; hundredths. */
export type Range = { readonly low: number; readonly high: number }

type Row = {
  /** Its name on the wire, in the stores and in every file. */
  readonly name: string
  /** The format level from which on it is accepted (`schemas/format-level.ts`). It never falls. */
  readonly level: number
  /** As the API prints it. */
  readonly unit: string
  /**
   * No sensor of its kind can measure outside of it: the value is dropped. It never changes: verifiers
   * excuse a signed value that is missing by it (docs/proofs.md).
   */
  readonly hard: Range
  /**
   * Outside of it a value is possible but rare: it stays, with the flag `<name>_unusual`. A network may
   * have another range (AIRPROOF_USUAL_RANGES); this one never changes (decision 55).
   */
  readonly usual?: Range & { readonly flag: number }
  /** How many decimals people see; two are stored. */
  readonly decimals: number
  /** The bit of `dropped_<name>` in `Reading.flags` (`quality.ts`). */
  readonly droppedFlag: number
  readonly short: string
  readonly long: string
}

const table = [
  {
    name: 'pm25',
    level: 1,
    unit: 'µg/m³',
    hard: { low: 0, high: 100_000 },
    decimals: 1,
    droppedFlag: 0,
    short: 'PM2.5',
    long: 'PM2.5, fine particles',
  },
  {
    name: 'pm10',
    level: 1,
    unit: 'µg/m³',
    hard: { low: 0, high: 100_000 },
    decimals: 1,
    droppedFlag: 1,
    short: 'PM10',
    long: 'PM10, coarse particles',
  },
  {
    name: 'co2',
    level: 1,
    unit: 'ppm',
    hard: { low: 0, high: 4_000_000 },
    usual: { low: 30_000, high: 500_000, flag: 8 },
    decimals: 0,
    droppedFlag: 2,
    short: 'CO₂',
    long: 'CO₂',
  },
  {
    name: 'temperature',
    level: 1,
    unit: '°C',
    hard: { low: -4_000, high: 8_500 },
    // for Lagos
    usual: { low: 1_000, high: 5_000, flag: 9 },
    decimals: 1,
    droppedFlag: 3,
    short: 'Temperature',
    long: 'Temperature',
  },
  {
    name: 'humidity',
    level: 1,
    unit: '%RH',
    hard: { low: 0, high: 10_000 },
    decimals: 1,
    droppedFlag: 4,
    short: 'Humidity',
    long: 'Relative humidity',
  },
  {
    name: 'pm1',
    level: 2,
    unit: 'µg/m³',
    hard: { low: 0, high: 100_000 },
    decimals: 1,
    droppedFlag: 12,
    short: 'PM1',
    long: 'PM1, very fine particles',
  },
  {
    name: 'pm4',
    level: 2,
    unit: 'µg/m³',
    hard: { low: 0, high: 100_000 },
    decimals: 1,
    droppedFlag: 13,
    short: 'PM4',
    long: 'PM4, particles up to 4 µm',
  },
  {
    name: 'pressure',
    level: 2,
    unit: 'hPa',
    // the BME280 measures 300…1100 hPa
    hard: { low: 30_000, high: 110_000 },
    decimals: 1,
    droppedFlag: 14,
    short: 'Pressure',
    long: 'Air pressure',
  },
  {
    name: 'no2',
    level: 2,
    unit: 'µg/m³',
    // gases: ten to twenty times the alarm limits of a workplace
    hard: { low: 0, high: 2_000_000 },
    decimals: 1,
    droppedFlag: 15,
    short: 'NO₂',
    long: 'NO₂, nitrogen dioxide',
  },
  {
    name: 'o3',
    level: 2,
    unit: 'µg/m³',
    hard: { low: 0, high: 2_000_000 },
    decimals: 1,
    droppedFlag: 16,
    short: 'O₃',
    long: 'O₃, ozone',
  },
  {
    name: 'co',
    level: 2,
    unit: 'µg/m³',
    // 1,000 ppm
    hard: { low: 0, high: 120_000_000 },
    decimals: 0,
    droppedFlag: 17,
    short: 'CO',
    long: 'CO, carbon monoxide',
  },
  {
    name: 'so2',
    level: 2,
    unit: 'µg/m³',
    hard: { low: 0, high: 6_000_000 },
    decimals: 1,
    droppedFlag: 18,
    short: 'SO₂',
    long: 'SO₂, sulphur dioxide',
  },
  {
    name: 'voc_index',
    level: 2,
    unit: '',
    // Sensirion: 1…500, and 0 while there is no index yet
    hard: { low: 100, high: 50_000 },
    decimals: 0,
    droppedFlag: 19,
    short: 'VOC index',
    long: 'VOC index, 100 is usual',
  },
  {
    name: 'nox_index',
    level: 2,
    unit: '',
    hard: { low: 100, high: 50_000 },
    decimals: 0,
    droppedFlag: 20,
    short: 'NOx index',
    long: 'NOx index, 1 is usual',
  },
  {
    name: 'tvoc',
    level: 2,
    unit: 'ppb',
    // the SGP30 ends at 60,000 ppb
    hard: { low: 0, high: 6_000_000 },
    decimals: 0,
    droppedFlag: 21,
    short: 'TVOC',
    long: 'TVOC, all volatile organic compounds',
  },
  {
    name: 'noise',
    level: 2,
    unit: 'dB(A)',
    hard: { low: 0, high: 14_000 },
    decimals: 1,
    droppedFlag: 22,
    short: 'Noise',
    long: 'Noise, mean level',
  },
] as const satisfies readonly Row[]

export type QuantityName = (typeof table)[number]['name']
/** Those with a usual range. */
export type UsualName = Extract<(typeof table)[number], { readonly usual: object }>['name']
export type Quantity = Row & { readonly name: QuantityName }

/** In the order of their ids. */
export const quantities: readonly Quantity[] = table
/** How many are accepted at a format level, from the first on. */
export const countAtLevel = (level: number): number => countsByLevel[level] ?? quantities.length
const countsByLevel = Array.from(
  { length: quantities.at(-1)?.level ?? 0 },
  (_, level) => quantities.findLastIndex((quantity) => quantity.level <= level) + 1,
)
export const quantityNames: readonly QuantityName[] = quantities.map(({ name }) => name)

/** The first five, of format level 1: every response has them, null if absent; the others, only if present. */
export const basicNames = ['pm25', 'pm10', 'co2', 'temperature', 'humidity'] as const
export type BasicName = (typeof basicNames)[number]

/** One `T` per quantity. */
export type ByQuantity<T> = { readonly [Name in QuantityName]: T }

export const mapQuantities = <T>(valueFor: (quantity: Quantity, id: number) => T): ByQuantity<T> =>
  // each name of the table is given its value, in the table's order
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.fromEntries(
    quantities.map((quantity, id) => [quantity.name, valueFor(quantity, id)]),
  ) as ByQuantity<T>

/** The unit of each quantity, as the API prints it. */
export const units: ByQuantity<string> = mapQuantities(({ unit }) => unit)
/** The place of each quantity's value in `Values`. */
export const quantityIds: ByQuantity<number> = mapQuantities((_, id) => id)
/** Outside of these a value is dropped. */
export const hardRanges: ByQuantity<Range> = mapQuantities(({ hard }) => hard)
