/** A reading as a row of a READINGS message: schema, writer and reader of each version. */
import type { SensorId } from '../../core/air/sensor-id.ts'
import { fewestValues, trimmed } from '../../core/air/values.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { assertKnownQuantities } from './unknown-quantities.ts'

export const integer = { type: 'integer' } as const
export const integerOrNull = { type: ['integer', 'null'] } as const
export const text = { type: 'string' } as const
const value = { ...integerOrNull, description: 'hundredths; null: not measured' } as const

const place = [
  text, // sensor
  text, // area
  { ...integer, description: 'timeMs' },
  { ...integer, description: 'arrivedMs: broker time of the raw message' },
] as const
const aqi = integerOrNull
const flags = { ...integer, description: 'flags' } as const

/** A reading without its number; the columns of a row end with these. */
export type Columns = Omit<ArrivedReading, 'seq' | 'leafVersion' | 'device' | 'signed'>

export type Rows<Row> = { readonly read: (row: Row) => Columns }

type Cell = number | null
type Place = readonly [sensor: string, area: string, timeMs: number, arrivedMs: number]
export type RowV1 = readonly [...Place, Cell, Cell, Cell, Cell, Cell, aqi: Cell, flags: number]
export type RowV2 = readonly [...Place, aqi: Cell, flags: number, values: readonly Cell[]]

// only workers write messages of the log, and they write checked ids
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const idOf = (sensor: string): SensorId => sensor as SensorId

/** The basic five, in its middle: what 0.1 wrote. */
export const rowsV1 = {
  items: [...place, value, value, value, value, value, aqi, flags],
  write: (r: Columns) => [
    r.sensor,
    r.area,
    r.timeMs,
    r.arrivedMs,
    ...r.values.slice(0, fewestValues),
    r.aqi,
    r.flags,
  ],
  read: ([sensor, area, timeMs, arrivedMs, ...rest]: RowV1): Columns => {
    const [pm25, pm10, co2, temperature, humidity, aqi, flags] = rest
    const values = [pm25, pm10, co2, temperature, humidity]
    return { sensor: idOf(sensor), area, timeMs, arrivedMs, values, aqi, flags }
  },
} as const

/** Values as a list by the ids of the table, which may grow without another version. */
export const rowsV2 = {
  items: [
    ...place,
    aqi,
    flags,
    {
      type: 'array',
      items: value,
      minItems: fewestValues,
      description: 'values by id; what the list ends before was not measured',
    },
  ],
  write: (r: Columns) => [r.sensor, r.area, r.timeMs, r.arrivedMs, r.aqi, r.flags, r.values],
  read: ([sensor, area, timeMs, arrivedMs, aqi, flags, values]: RowV2): Columns => {
    assertKnownQuantities('readings', values.length)
    return {
      sensor: idOf(sensor),
      area,
      timeMs,
      arrivedMs,
      values: trimmed([...values]),
      aqi,
      flags,
    }
  },
} as const
