/**
 * The stored rows as an analyst reads them (`docs/analysts.md`): the view of the SQLite file, or
 * InfluxQL over HTTP. The service's own store code is not used.
 */
import { openSqliteFile } from '../../store/sqlite/file.ts'
import type { TestBucket } from '../../test/support/influx.ts'
import { nothing, quantities, type Values } from './plain-values.ts'

/** Values in the unit of their quantity, as the engine gives them. */
export type StoredRow = Values & {
  readonly sensor: string
  readonly area: string
  readonly timeMs: number
  readonly aqi: number | null
  readonly flags: number
  readonly seq: number
}

export type StoredRows = {
  readonly count: () => Promise<number>
  /** Every row of a sensor, by time. */
  readonly of: (sensor: string) => Promise<readonly StoredRow[]>
}

const columns = ['area', 'aqi', 'flags', 'seq', ...quantities].join(', ')

type Cells = readonly unknown[]

const numberOrNull = (cell: unknown): number | null => (typeof cell === 'number' ? cell : null)

function rowOf(sensor: string, cells: Cells): StoredRow {
  const [timeMs, area, aqi, flags, seq, ...numbers] = cells
  const values = quantities.map((name, at) => [name, numberOrNull(numbers[at])])
  return {
    ...nothing,
    ...Object.fromEntries(values),
    sensor,
    area: String(area),
    timeMs: Number(timeMs),
    aqi: numberOrNull(aqi),
    flags: Number(flags),
    seq: Number(seq),
  }
}

export const sqliteRows = (file: string): StoredRows => {
  const ask = (sql: string, ...params: readonly string[]): readonly Cells[] => {
    using db = openSqliteFile(file, true)
    return db.all(sql, ...params)
  }
  return {
    count: async () => Number(ask('select count(*) from readings')[0]?.[0]),
    of: async (sensor) =>
      ask(
        `select time_ms, ${columns} from readings where sensor_id = ? order by time_ms, area`,
        sensor,
      ).map((cells) => rowOf(sensor, cells)),
  }
}

export const influxRows = ({ url, bucket, token }: TestBucket): StoredRows => {
  const ask = async (
    q: string,
    params: Readonly<Record<string, string>> = {},
  ): Promise<Cells[]> => {
    const response = await fetch(`${url}/query?db=${bucket}&epoch=ms`, {
      method: 'POST',
      headers: { authorization: `Token ${token}`, connection: 'close' },
      body: new URLSearchParams({ q, params: JSON.stringify(params) }),
    })
    const answer: unknown = await response.json()
    return valuesOf(answer)
  }
  const span = "time >= '2000-01-01' AND time < '2100-01-01'"
  return {
    count: async () =>
      Number((await ask(`SELECT count(seq) FROM reading WHERE ${span}`))[0]?.[1] ?? 0),
    of: async (sensor) =>
      (
        await ask(`SELECT ${columns} FROM reading WHERE ${span} AND sensor_id = $sensor`, {
          sensor,
        })
      ).map((cells) => rowOf(sensor, cells)),
  }
}

type Answer = {
  readonly error?: string
  readonly results?: readonly {
    readonly error?: string
    readonly partial?: boolean
    readonly series?: readonly { readonly partial?: boolean; readonly values: Cells[] }[]
  }[]
}

function valuesOf(answer: unknown): Cells[] {
  // what InfluxDB answers; anything else ends in the error below, or in rows that compare unequal
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { error, results } = answer as Answer
  const [result] = results ?? []
  const [series] = result?.series ?? []
  const wrong = error ?? result?.error
  if (wrong !== undefined) throw new Error(`InfluxDB answers: ${wrong}`)
  if (result?.partial === true || series?.partial === true) throw new Error('the answer was cut')
  return series?.values ?? []
}
