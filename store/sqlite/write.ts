import { signatureAlgorithms } from '../../core/air/device-signature.ts'
import { hashBytes } from '../../core/hex.ts'
import type { SqliteFile } from './file.ts'
import { numberOf, type PackedReadings, readingColumns } from './pack.ts'
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
  readonly writeBatch: (rows: PackedReadings) => void
  readonly writeRollups: (table: RollupTable, rows: PackedStats) => void
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
    writeBatch: ({ sensors: ids, areas: names, width, cells, devices }) => {
      const newPairs = new Set<number>()
      const upsert = upsertReading(width)
      const params: (number | Uint8Array | null)[] = []
      const written = db.transaction('write', () => {
        const sensorNumbers = sensors.numbersOf(ids)
        const areaNumbers = areas.numbersOf(names)
        const deviceOf = new Map(devices.map((own) => [own.row, own]))
        const sensorOf = (i: number): number => sensorNumbers[cells[i]!]!
        // a sensor's rows one after the other: they lie on the same pages
        const starts = Array.from({ length: cells.length / width }, (_, row) => row * width)
        for (const i of starts.toSorted((a, b) => sensorOf(a) - sensorOf(b))) {
          const s = sensorOf(i)
          const a = areaNumbers[cells[i + 1]!]!
          const pair = a * 2 ** 32 + s
          if (!stoodIn.has(pair) && !newPairs.has(pair)) {
            db.run(insertSensorArea, a, s)
            newPairs.add(pair)
          }
          const own = deviceOf.get(i / width)
          params[0] = s
          params[1] = a
          params[2] = own ? hashBytes(own.device) : null
          // NaN binds as null
          for (let column = 2; column < width; column++) params[column + 1] = cells[i + column]!
          db.run(upsert, ...params)
          if (own?.signed !== undefined) {
            const { algorithm, publicKey, signature, text } = own.signed
            const byte = signatureAlgorithms[algorithm]
            const [key, bytes] = [fromBase64(publicKey), fromBase64(signature)]
            db.run(upsertSignature, s, cells[i + 2]!, byte, key, bytes, text)
          }
        }
        return { sensorNumbers, areaNumbers }
      })
      // remembered only once the commit holds
      sensors.remember(ids, written.sensorNumbers)
      areas.remember(names, written.areaNumbers)
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

    writeSensors: (table, { sensors: ids, cells }) => {
      db.transaction('write', () => {
        const numbers = sensors.numbersOf(ids)
        for (let i = 0; i < cells.length; i += sensorWidth) {
          const [s, ...rest] = cells.subarray(i, i + sensorWidth)
          // NaN binds as null
          db.run(replaceSensor[table], numbers[s!]!, ...rest)
        }
      })
    },
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
  `insert or replace into ${table}(a, t, readings, ${statColumns.join(', ')})
  values (${Array.from({ length: statsWidth }, () => '?').join(', ')})`
const replaceRollup: Readonly<Record<RollupTable, string>> = {
  area_hour: replaceRollupIn('area_hour'),
  area_day: replaceRollupIn('area_day'),
}

const replaceSensorIn = (table: SensorTable): string =>
  `insert or replace into ${table}(${sensorColumns.join(', ')})
  values (${sensorColumns.map(() => '?').join(', ')})`
const replaceSensor: Readonly<Record<SensorTable, string>> = {
  sensor_hour: replaceSensorIn('sensor_hour'),
  sensor_day: replaceSensorIn('sensor_day'),
}
