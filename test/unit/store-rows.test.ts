/** Every quantity, in each shape that a reading has on its way into a store and out of it. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { quantityNames } from '../../core/air/quantities.ts'
import { valuesOf } from '../../core/air/values.ts'
import { isSame } from '../../store/influx/influx.ts'
import { rollupLine } from '../../store/influx/line-protocol.ts'
import type { InfluxQuery } from '../../store/influx/query.ts'
import { influxReads } from '../../store/influx/read.ts'
import { readingLines } from '../../store/influx/reading-lines.ts'
import { readingFields, readingOf } from '../../store/influx/row.ts'
import { packReadings, unpackReadings } from '../../store/packed-readings.ts'
import { rowFault } from '../../store/row-fault.ts'
import { openSqliteFile } from '../../store/sqlite/file.ts'
import { packKeys } from '../../store/sqlite/pack.ts'
import { packStats, unpackStats } from '../../store/sqlite/pack-stats.ts'
import { sqliteReads } from '../../store/sqlite/read.ts'
import { statColumns } from '../../store/sqlite/schema.ts'
import { sqliteWrites } from '../../store/sqlite/write.ts'
import { areaStats, statNames } from '../../store/stat-fields.ts'
import { readingOf as reading } from '../support/readings.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Each value is another. */
const full = (plus: number) => ({
  ...reading({ aqi: 50 }),
  values: valuesOf(
    Object.fromEntries(quantityNames.map((name, id) => [name, 10_000 + 100 * id + plus])),
  ),
})
const [first, second] = [full(0), full(7)]

test('SQLite keeps every value, and every value of the row that replaces it', () => {
  using folder = temporaryFolder()
  using db = openSqliteFile(join(folder.path, 'readings.db'), false)
  const { writeBatch } = sqliteWrites(db)
  const { existing } = sqliteReads(db)
  for (const row of [first, second]) {
    writeBatch([packReadings([row])])
    expect(unpackReadings(existing(packKeys([row])))).toEqual([row])
  }
  const [shown] = db.all(`select ${quantityNames.join(', ')} from readings`)
  expect(shown).toEqual(second.values.map((value) => (value ?? 0) / 100))
})

test('SQLite keeps leaf and device, and those of the row that replaces it', () => {
  using folder = temporaryFolder()
  using db = openSqliteFile(join(folder.path, 'readings.db'), false)
  const { writeBatch } = sqliteWrites(db)
  const { existing } = sqliteReads(db)
  const device = `0x${'ab'.repeat(32)}` as const
  for (const more of [{ leafVersion: 2 as const }, { leafVersion: 2 as const, device }, {}]) {
    const row = { ...first, ...more }
    writeBatch([packReadings([row])])
    expect(unpackReadings(existing(packKeys([row])))).toEqual([row])
    expect(db.all('select leaf_version, device from readings')).toEqual([
      [row.leafVersion ?? 1, row.device ?? null],
    ])
  }
})

test('rows of few and of many values lie in one batch, and few replace many', () => {
  using folder = temporaryFolder()
  using db = openSqliteFile(join(folder.path, 'readings.db'), false)
  const { writeBatch } = sqliteWrites(db)
  const { existing, range } = sqliteReads(db)
  const few = reading({ timeMs: first.timeMs })
  const others = [1, 2].map((later) => reading({ timeMs: first.timeMs + later }))
  writeBatch([packReadings([first, ...others])])
  expect(unpackReadings(existing(packKeys([first, ...others])))).toEqual([first, ...others])
  writeBatch([packReadings([few])])
  expect(unpackReadings(range(first.sensor, 0, first.timeMs + 2, 5, 'desc'))).toEqual([
    others[0],
    few,
  ])
})

const stats = areaStats('Ikeja', { startMs: 0, readings: 2, failed: 0 }, (field) => {
  const mean = [...quantityNames, 'aqi'].indexOf(field)
  return { n: 2, mean, min: 1, max: 3, p50: 2, p98: 3, sd: 1, q02: 1, q25: 1, q75: 3 }
})

test('SQLite has a column for the statistics of every quantity', () => {
  using folder = temporaryFolder()
  using db = openSqliteFile(join(folder.path, 'readings.db'), false)
  sqliteWrites(db).writeRollups('area_hour', packStats([stats]))
  const [shown] = db.all(
    `select ${quantityNames.map((name) => `${name}_mean`).join(', ')} from area_hours`,
  )
  expect(shown).toEqual(quantityNames.map((_, id) => id))
})

test('the statistics of every quantity cross the thread, and have a column', () => {
  expect(Object.keys(stats.fields)).toEqual([...quantityNames, 'aqi'])
  expect(unpackStats(packStats([stats]))).toEqual([stats])
  expect(statColumns).toEqual(
    [...quantityNames, 'aqi'].flatMap((field) => statNames.map((name) => `${field}_${name}`)),
  )
})

test('InfluxDB gets every value and is asked for every one', () => {
  const line = readingLines()([packReadings([first])])
  for (const [id, name] of quantityNames.entries()) {
    expect(line).toContain(`${name}=${(first.values[id] ?? 0) / 100},`)
    expect(rollupLine('reading_1h', stats)).toContain(`${name}_mean=${id},`)
  }
  const cells = readingFields.split(', ').map((name) => {
    const id = quantityNames.findIndex((one) => one === name)
    return id === -1
      ? { aqi: 50, flags: 0, seq: 1, area: 'Ikeja' }[name]
      : (first.values[id] ?? 0) / 100
  })
  const row = [first.timeMs, ...cells.map((cell) => cell ?? null)]
  expect(readingOf(row, first.sensor)).toEqual([first])
  expect(readingOf([...row, first.sensor])).toEqual([first])
})

test('InfluxDB is asked for every value of the newest readings', async () => {
  const asked: string[] = []
  const query: InfluxQuery = async (statements) => {
    asked.push(...[statements].flat())
    return []
  }
  await influxReads(query, () => first.timeMs).seedLatest()
  for (const name of quantityNames) expect(asked.join()).toMatch(new RegExp(`\\b${name}\\b`))
})

test.each(quantityNames)('a row that differs in %s alone is not the one that was sent', (name) => {
  const values = second.values.map((value, id) => (quantityNames[id] === name ? 1 : value))
  expect(isSame(second, { ...second, values })).toBe(false)
  expect(isSame(second, { ...second, values: [...second.values] })).toBe(true)
  expect(
    rowFault({ ...second, values: values.map((value) => (value === 1 ? 0.5 : value)) }),
  ).toContain(`${name} is not a whole number`)
  expect(rowFault(second)).toBeUndefined()
  const tooMany = { ...second, values: [...second.values, 1] }
  expect(rowFault(tooMany)).toBe(
    `${quantityNames.length + 1} values are not between 5 and ${quantityNames.length}`,
  )
})
