import { signatureAlgorithms } from '../../core/air/device-signature.ts'
import { hashBytes } from '../../core/hex.ts'
import { cellAt, countOf, type PackedReadings, readingColumns } from '../packed-readings.ts'
import type { SqliteFile } from './file.ts'
import { numberOf } from './pack.ts'
import { type PackedSensorStats, sensorWidth } from './pack-sensor-stats.ts'
import { type PackedStats, statsWidth } from './pack-stats.ts'
import {
  type RollupTable,
  type SensorTable,
  sensorColumns,
  signatureColumns,
  statColumns,
} from './schema.ts'

export type SqliteWrites = {
  readonly writeBatch: (batches: readonly PackedReadings[]) => void
  readonly writeRollups: (table: RollupTable, rows: PackedStats) => void
  readonly writeHourValues: (area: string, startMs: number, values: Uint8Array) => void
  readonly writeSensors: (table: SensorTable, rows: PackedSensorStats) => void
}

/**
 * Each call is one transaction, on disk when it returns. Killed inside, nothing of it is there;
 * killed between the commit and the answer, it is written again, to the same end.
 */
export function sqliteWrites(db: SqliteFile): SqliteWrites {
  const sensors = numbering(db, 'sensor', 'id')
  const areas = numbering(db, 'area', 'name')
  const stoodIn = new Set<number>()

  return {
    writeBatch: (batches) => {
      const newPairs = new Set<number>()
      const params: (number | Uint8Array | null)[] = []
      const writeRow = (batch: Numbered, row: number): void => {
        const { packed, sensorNumbers, areaNumbers, upsert, deviceOf } = batch
        const { cells, width } = packed
        const at = row * width
        const s = sensorNumbers[cells[at + cellAt.sensor]!]!
        const a = areaNumbers[cells[at + cellAt.area]!]!
        const pair = a * 2 ** 32 + s
        if (!stoodIn.has(pair) && !newPairs.has(pair)) {
          db.run(insertSensorArea, a, s)
          newPairs.add(pair)
        }
        const own = deviceOf.get(row)
        params.length = width + 1
        params[0] = s
        params[1] = a
        params[2] = own ? hashBytes(own.device) : null
        // NaN binds as null
        for (let column = cellAt.timeMs; column < width; column++)
          params[column + 1] = cells[at + column]!
        db.run(upsert, ...params)
        if (own?.signed === undefined) return
        const { algorithm, publicKey, signature, text } = own.signed
        const byte = signatureAlgorithms[algorithm]
        const [key, bytes] = [fromBase64(publicKey), fromBase64(signature)]
        db.run(upsertSignature, s, cells[at + cellAt.timeMs]!, byte, key, bytes, text)
      }
      const written = db.transaction('write', () => {
        const numbered = batches.map((packed) => ({
          packed,
          sensorNumbers: sensors.numbersOf(packed.sensors),
          areaNumbers: areas.numbersOf(packed.areas),
          deviceOf: new Map(packed.devices.map((own) => [own.row, own])),
          upsert: upsertReading(packed.width),
        }))
        eachBySensor(numbered, writeRow)
        return numbered
      })
      // remembered only once the commit holds
      for (const { packed, sensorNumbers, areaNumbers } of written) {
        sensors.remember(packed.sensors, sensorNumbers)
        areas.remember(packed.areas, areaNumbers)
      }
      for (const pair of newPairs) stoodIn.add(pair)
    },

    writeRollups: (table, { areas: names, cells }) => {
      db.transaction('write', () => {
        const areaNumbers = areas.numbersOf(names)
        for (let i = 0; i < cells.length; i += statsWidth) {
          const [area, ...rest] = cells.subarray(i, i + statsWidth)
          db.run(replaceRollup[table], areaNumbers[area!]!, ...rest)
        }
      })
    },

    writeHourValues: (area, startMs, values) => {
      db.transaction('write', () => {
        db.run(replaceHourValues, areas.numbersOf([area])[0]!, startMs, values)
      })
    },

    writeSensors: (table, { sensors: ids, cells }) => {
      db.transaction('write', () => {
        const numbers = sensors.numbersOf(ids)
        let before = { s: -1, t: -1 }
        for (let i = 0; i < cells.length; i += sensorWidth) {
          const [index = 0, t = 0, ...rest] = cells.subarray(i, i + sensorWidth)
          const s = numbers[index]!
          const failed = rest[failedPlace] ?? 0
          // what an earlier version wrote may have fields of which all values failed
          if (failed > 0 && (before.s !== s || before.t !== t)) db.run(deleteSensor[table], s, t)
          before = { s, t }
          // NaN binds as null
          db.run(replaceSensor[table], s, t, ...rest)
        }
      })
    },
  }
}

/** A batch with the numbers of its names in the file. */
type Numbered = {
  readonly packed: PackedReadings
  readonly sensorNumbers: readonly number[]
  readonly areaNumbers: readonly number[]
  readonly deviceOf: ReadonlyMap<number, PackedReadings['devices'][number]>
  readonly upsert: string
}

/** No batch has as many rows. */
const mostPlaces = 2 ** 28

/** Calls `write` for every row, a sensor's one after the other: they lie on the same pages. */
function eachBySensor(
  batches: readonly Numbered[],
  write: (batch: Numbered, row: number) => void,
): void {
  const count = batches.reduce((sum, { packed }) => sum + countOf(packed), 0)
  const places = { batch: new Uint32Array(count), row: new Uint32Array(count) }
  // sensor and place as one number: numbers alone are sorted ten times as fast
  const order = new Float64Array(count)
  let place = 0
  for (const [batch, { packed, sensorNumbers }] of batches.entries()) {
    const { cells, width } = packed
    for (let row = 0; row * width < cells.length; row++, place++) {
      places.batch[place] = batch
      places.row[place] = row
      order[place] = sensorNumbers[cells[row * width + cellAt.sensor]!]! * mostPlaces + place
    }
  }
  for (const sorted of order.sort()) {
    const next = sorted % mostPlaces
    write(batches[places.batch[next]!]!, places.row[next]!)
  }
}

type Numbering = {
  /** Inside a write transaction: gives numbers to names that have none. */
  readonly numbersOf: (names: readonly string[]) => readonly number[]
  /** After its commit. */
  readonly remember: (names: readonly string[], numbers: readonly number[]) => void
}

/** Numbers of names. What another process adds is looked up; a number once given stays. */
function numbering(db: SqliteFile, table: 'sensor' | 'area', column: 'id' | 'name'): Numbering {
  const known = new Map<string, number>()
  const find = `select n from ${table} where ${column} = ?`
  const add = `insert into ${table}(${column}) values (?) returning n`
  const numberFor = (name: string): number => {
    const row = db.all(find, name)[0] ?? db.all(add, name)[0]
    return numberOf(row?.[0])
  }
  return {
    numbersOf: (names) => names.map((name) => known.get(name) ?? numberFor(name)),
    remember: (names, numbers) => {
      for (const [i, name] of names.entries()) known.set(name, numbers[i]!)
    },
  }
}

const fromBase64 = (text: string): Uint8Array => Buffer.from(text, 'base64')

/** @param given those that have a value: the others are null, also where they were not before */
const upsertInto = (
  table: string,
  columns: readonly string[],
  given: readonly string[] = columns,
): string => `
insert into ${table}(${given.join(', ')})
values (${given.map(() => '?').join(', ')})
on conflict(s, t) do update set
  ${columns
    .filter((name) => name !== 's' && name !== 't')
    .map((name) => `${name} = excluded.${name}`)
    .join(', ')}`
/** @param width how many of `readingColumns` are given, after sensor, area and device */
const upsertReading = (width: number): string =>
  upsertInto(
    'reading',
    [...readingColumns, 'device'],
    ['s', 'a', 'device', ...readingColumns.slice(2, width)],
  )
const upsertSignature = upsertInto('signature', signatureColumns)

const insertSensorArea = 'insert into sensor_area(a, s) values (?, ?) on conflict do nothing'

const replaceRollupIn = (table: RollupTable): string =>
  `insert or replace into ${table}(a, t, readings, failed, ${statColumns.join(', ')})
  values (${Array.from({ length: statsWidth }, () => '?').join(', ')})`
const replaceRollup: Readonly<Record<RollupTable, string>> = {
  area_hour: replaceRollupIn('area_hour'),
  area_day: replaceRollupIn('area_day'),
}

const replaceHourValues = 'insert or replace into area_hour_values(a, t, counted) values (?, ?, ?)'

/** After sensor and time. */
const failedPlace = sensorColumns.indexOf('failed') - 2
const deleteSensor: Readonly<Record<SensorTable, string>> = {
  sensor_hour: 'delete from sensor_hour where s = ? and t = ?',
  sensor_day: 'delete from sensor_day where s = ? and t = ?',
}
const replaceSensorIn = (table: SensorTable): string =>
  `insert or replace into ${table}(${sensorColumns.join(', ')})
  values (${sensorColumns.map(() => '?').join(', ')})`
const replaceSensor: Readonly<Record<SensorTable, string>> = {
  sensor_hour: replaceSensorIn('sensor_hour'),
  sensor_day: replaceSensorIn('sensor_day'),
}
