/**
 * The quantities that a sensor may report: the one place that names them. Schemas, the log, the
 * state, both stores, the API, exports, webhooks, device maps and pages are made from this table.
 *
 * A row's place is its id, and the ids are stored: append, never reorder, never take one out.
 * docs/how-to/add-a-quantity.md says what to do besides.
 */

/** Both ends belong to the range; hundredths. */
export type Range = { readonly low: number; readonly high: number }

type Row = {
  /** Its name on the wire, in the stores and in every file. */
  readonly name: string
  /** The format level that it is taken from on (`schemas/format-level.ts`). It never falls. */
  readonly level: number
  /** What it is counted in, as the API prints it. */
  readonly unit: string
  /** Outside of it no sensor of its kind can measure: the value is dropped. */
  readonly hard: Range
  /** Outside of it a value can be true but seldom is: it stays, with the flag `<name>_unusual`. */
  readonly usual?: Range & { readonly flag: number }
  /** How many decimals people are shown; two are kept. */
  readonly decimals: number
  /** The bit of `dropped_<name>` in `Reading.flags` (`quality.ts`). */
  readonly droppedFlag: number
  readonly short: string
  readonly long: string
  /**
   * Object ids that ESPHome makes of the names its owners give: its own examples' first. None for a
   * gas, since the topic does not say whether it is in µg/m³, ppb or ppm: the sensor's entry does.
   */
  readonly esphome: readonly string[]
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
    esphome: [
      'pm25',
      'pm2_5',
      'pm_2_5',
      'pm2_5_concentration',
      'pm_2_5_concentration',
      'pm_2_5um_concentration',
      'particulate_matter_2_5um_concentration',
      'particulate_matter__2_5_m_concentration',
    ],
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
    esphome: [
      'pm10',
      'pm_10',
      'pm_10_0',
      'pm10_concentration',
      'pm_10_0_concentration',
      'pm_10um_concentration',
      'particulate_matter_10_0um_concentration',
      'particulate_matter__10_0_m_concentration',
    ],
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
    esphome: ['co2', 'co2_value', 'co2_concentration', 'carbon_dioxide'],
  },
  {
    name: 'temperature',
    level: 1,
    unit: '°C',
    hard: { low: -4_000, high: 8_500 },
    // as it is in Lagos
    usual: { low: 1_000, high: 5_000, flag: 9 },
    decimals: 1,
    droppedFlag: 3,
    short: 'Temperature',
    long: 'Temperature',
    esphome: ['temperature', 'outside_temperature', 'outdoor_temperature'],
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
    esphome: ['humidity', 'relative_humidity', 'outside_humidity', 'outdoor_humidity'],
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
    esphome: [
      'pm1',
      'pm_1',
      'pm_1_0',
      'pm1_concentration',
      'pm_1_0_concentration',
      'pm_1_0um_concentration',
      'particulate_matter_1_0um_concentration',
      'particulate_matter__1_0_m_concentration',
    ],
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
    esphome: [
      'pm4',
      'pm_4',
      'pm_4_0',
      'pm4_concentration',
      'pm_4_0_concentration',
      'pm_4_0um_concentration',
    ],
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
    esphome: [
      'pressure',
      'air_pressure',
      'atmospheric_pressure',
      'outside_pressure',
      'outdoor_pressure',
      'bme280_pressure',
      'bmp280_pressure',
    ],
  },
  {
    name: 'no2',
    level: 2,
    unit: 'µg/m³',
    // gases: ten to twenty times what alarms of a workplace are set to
    hard: { low: 0, high: 2_000_000 },
    decimals: 1,
    droppedFlag: 15,
    short: 'NO₂',
    long: 'NO₂, nitrogen dioxide',
    esphome: [],
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
    esphome: [],
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
    esphome: [],
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
    esphome: [],
  },
  {
    name: 'voc_index',
    level: 2,
    unit: '',
    // Sensirion: 1…500, and 0 while it has none
    hard: { low: 100, high: 50_000 },
    decimals: 0,
    droppedFlag: 19,
    short: 'VOC index',
    long: 'VOC index, 100 is usual',
    esphome: ['voc_index', 'sgp40_voc_index', 'sgp41_voc_index'],
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
    esphome: ['nox_index', 'sgp41_nox_index'],
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
    esphome: ['tvoc', 'total_volatile_organic_compound'],
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
    esphome: ['laeq', 'noise_laeq'],
  },
] as const satisfies readonly Row[]

export type QuantityName = (typeof table)[number]['name']
/** Those with a usual range. */
export type UsualName = Extract<(typeof table)[number], { readonly usual: object }>['name']
export type Quantity = Row & { readonly name: QuantityName }

/** In the order of their ids. */
export const quantities: readonly Quantity[] = table
/** How many are taken at a format level, from the first on. */
export const countAtLevel = (level: number): number => countsByLevel[level] ?? quantities.length
const countsByLevel = Array.from(
  { length: quantities.at(-1)?.level ?? 0 },
  (_, level) => quantities.findLastIndex((quantity) => quantity.level <= level) + 1,
)
export const quantityNames: readonly QuantityName[] = quantities.map(({ name }) => name)

/** The first five, of format level 1: every answer has them, null where absent; it has others only where present. */
export const basicNames = ['pm25', 'pm10', 'co2', 'temperature', 'humidity'] as const
export type BasicName = (typeof basicNames)[number]

/** One `T` a quantity. */
export type ByQuantity<T> = { readonly [Name in QuantityName]: T }

export const mapQuantities = <T>(valueFor: (quantity: Quantity, id: number) => T): ByQuantity<T> =>
  // each name of the table is given its value, in the table's order
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.fromEntries(
    quantities.map((quantity, id) => [quantity.name, valueFor(quantity, id)]),
  ) as ByQuantity<T>

/** What each quantity is counted in, as the API prints it. */
export const units: ByQuantity<string> = mapQuantities(({ unit }) => unit)
/** Where each quantity's value is in `Values`. */
export const quantityIds: ByQuantity<number> = mapQuantities((_, id) => id)
/** Outside of these a value is dropped. */
export const hardRanges: ByQuantity<Range> = mapQuantities(({ hard }) => hard)
