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
  /** Object ids that ESPHome makes of the names its owners give: its own examples' first. */
  readonly esphome: readonly string[]
}

const table = [
  {
    name: 'pm25',
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
    unit: '%RH',
    hard: { low: 0, high: 10_000 },
    decimals: 1,
    droppedFlag: 4,
    short: 'Humidity',
    long: 'Relative humidity',
    esphome: ['humidity', 'relative_humidity', 'outside_humidity', 'outdoor_humidity'],
  },
] as const satisfies readonly Row[]

export type QuantityName = (typeof table)[number]['name']
/** Those with a usual range. */
export type UsualName = Extract<(typeof table)[number], { readonly usual: object }>['name']
export type Quantity = Row & { readonly name: QuantityName }

/** In the order of their ids. */
export const quantities: readonly Quantity[] = table
export const quantityNames: readonly QuantityName[] = quantities.map(({ name }) => name)

/** The first five: every answer has them, null where absent; it has others only where present. */
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
