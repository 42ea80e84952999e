import {
  type DeviceSignature,
  isSignatureAlgorithm,
  signatureAlgorithms,
} from '../../core/air/device-signature.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { type PackedReadings, readingColumns } from '../packed-readings.ts'
import type { Order } from '../store.ts'
import type { SqliteCalls } from './calls.ts'
import { bytesOf, type Cell, type Row, type SqliteFile, textOf } from './file.ts'
import { keyWidth, numberOf, packRows } from './pack.ts'
import { signatureColumns } from './schema.ts'

export type SqliteReads = Pick<
  SqliteCalls,
  'existing' | 'range' | 'rangeAll' | 'seedLatest' | 'signature'
>

export function sqliteReads(db: SqliteFile): SqliteReads {
  const sensorNames = names(db, 'select id from sensor where n = ?')
  const areaNames = names(db, 'select name from area where n = ?')
  const sensorNumber = (id: string): number | undefined => {
    const row = db.all('select n from sensor where id = ?', id)[0]
    return row === undefined ? undefined : numberOf(row[0])
  }

  const pack = (rows: readonly (Row | undefined)[]): PackedReadings =>
    packRows(rows, {
      // only canonical ids were ever written
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      sensor: (n) => sensorNames(n) as SensorId,
      area: areaNames,
    })

  return {
    // one transaction: a snapshot, and one lock instead of thousands
    existing: ({ sensors, cells }) =>
      db.transaction('read', () => {
        const numbers = sensors.map(sensorNumber)
        const rows: (Row | undefined)[] = []
        for (let i = 0; i < cells.length; i += keyWidth) {
          const s = numbers[cells[i]!]
          rows.push(s === undefined ? undefined : db.all(selectAt, s, cells[i + 1]!)[0])
        }
        return pack(rows)
      }),

    range: (sensor, fromMs, toMs, limit, order) => {
      const s = sensorNumber(sensor)
      return pack(s === undefined ? [] : db.all(selectRange[order], s, fromMs, toMs, limit))
    },

    rangeAll: (fromMs, toMs, limit, cursor, order) => {
      if (cursor === undefined) return pack(db.all(selectAll[order], fromMs, toMs, limit))
      const { timeMs, sensor } = cursor
      const from = order === 'asc' ? Math.max(fromMs, timeMs) : fromMs
      const to = order === 'asc' ? toMs : Math.min(toMs, timeMs + 1)
      return pack(db.all(selectAllAfter[order], from, to, timeMs, sensor, limit))
    },

    signature: (sensor, timeMs) => {
      const s = sensorNumber(sensor)
      const [row] = s === undefined ? [] : db.all(selectSignature, s, timeMs)
      return row && signatureOf(row)
    },

    seedLatest: () =>
      db.transaction('read', () =>
        pack(
          db
            .all('select n from sensor')
            .flatMap(([s]) => db.all(selectRange.desc, numberOf(s), 0, Number.MAX_SAFE_INTEGER, 1)),
        ),
      ),
  }
}

/** Names by number, kept: they never change. */
function names(db: SqliteFile, sql: string): (n: number) => string {
  const known = new Map<number, string>()
  return (n) => {
    const name = known.get(n) ?? textOf(db.all(sql, n)[0]?.[0])
    known.set(n, name)
    return name
  }
}

/** @param row of `signatureColumns` */
function signatureOf([, , byte, key, signature, text]: Row): DeviceSignature | undefined {
  const algorithm = Object.keys(signatureAlgorithms).find(
    (name) => isSignatureAlgorithm(name) && signatureAlgorithms[name] === byte,
  )
  if (!isSignatureAlgorithm(algorithm)) return undefined
  return {
    algorithm,
    publicKey: base64Of(key),
    signature: base64Of(signature),
    text: textOf(text),
  }
}

const base64Of = (cell: Cell | undefined): string =>
  Buffer.from(bytesOf(cell) ?? new Uint8Array()).toString('base64')

const columns = [...readingColumns, 'device'].map((name) => `r.${name}`).join(', ')

const selectSignature = `select ${signatureColumns.join(', ')} from signature where s = ? and t = ?`

const selectAt = `select ${columns} from reading r where r.s = ? and r.t = ?`
const inBoth = (sqlOf: (order: Order) => string): Readonly<Record<Order, string>> => ({
  desc: sqlOf('desc'),
  asc: sqlOf('asc'),
})
const selectRange = inBoth(
  (order) => `select ${columns} from reading r
  where r.s = ? and r.t >= ? and r.t < ? order by r.t ${order} limit cast(? as integer)`,
)
// walks the index on time and sorts only the readings of one ms
const selectAll = inBoth(
  (order) => `select ${columns} from reading r join sensor on sensor.n = r.s
  where r.t >= ? and r.t < ? order by r.t ${order}, sensor.id limit cast(? as integer)`,
)
const selectAllAfter = inBoth(
  (order) => `select ${columns} from reading r join sensor on sensor.n = r.s
  where r.t >= ? and r.t < ? and (r.t ${order === 'asc' ? '>' : '<'} ? or sensor.id > ?)
  order by r.t ${order}, sensor.id limit cast(? as integer)`,
)
