/** What the archive holds beside readings, from both stores; and when a run is made. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Archiving } from '../../archive/archiving.ts'
import { archiveMetrics } from '../../archive/metrics.ts'
import { sensorStatisticsColumns } from '../../archive/sensor-statistics-table.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import { bytesOf, type Catalogue } from '../../operate/archive/catalogue.ts'
import { readTable } from '../../operate/archive/parquet-table.ts'
import { MustAct } from '../../runtime/exit.ts'
import { openMetrics } from '../../runtime/metrics.ts'
import { Lifetime } from '../../runtime/process/lifetime.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { statRules } from '../../store/stat-fields.ts'
import type { Store } from '../../store/store.ts'
import { type ArchivedCity, archivedCity, todayMs } from '../support/archived-city.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing, testInflux } from '../support/influx.ts'

const opened = new AsyncDisposableStack()
const missing = await influxMissing()
let city: ArchivedCity
let archive: string

beforeAll(async () => {
  city = opened.use(await archivedCity())
  archive = join(city.folder, 'archive')
  await city.archive(archive)
})
afterAll(() => opened.disposeAsync())

const catalogueOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'catalogue.json'), 'utf8')) as Catalogue

type Row = Readonly<Record<string, string | number | boolean | Uint8Array | null>>
/** All rows of the sensors' hours or days. */
async function tableRows(
  folder: string,
  name: 'sensor_hours' | 'sensor_days',
): Promise<(Row & { path: string })[]> {
  const rows: (Row & { path: string })[] = []
  const columns = sensorStatisticsColumns
  for (const table of catalogueOf(folder).tables) {
    if (!table.path.startsWith(`statistics/${name}/`)) continue
    const of = { columns, rows: table.rows, name: table.path }
    for await (const { count, cell } of readTable(join(folder, table.path), of))
      for (let row = 0; row < count; row++)
        rows.push({
          ...Object.fromEntries(columns.map((column, at) => [column.name, cell(at, row)])),
          path: table.path,
        })
  }
  return rows
}

describe.each([
  ['sensor_hours', hourMs],
  ['sensor_days', dayMs],
] as const)('%s', (name, sizeMs) => {
  test('has each sensor’s readings of each hour or day, as they were accepted', async () => {
    const rows = await tableRows(archive, name)
    const groups = Map.groupBy(
      city.log.written,
      ({ sensor, timeMs }) => `${sensor} ${floorTo(timeMs, sizeMs)}`,
    )
    const wanted = [...groups].map(([key, readings]) => {
      const values = readings.flatMap(({ values: [pm25] }) => pm25 ?? []).toSorted((a, b) => a - b)
      const sum = values.reduce((total, value) => total + value, 0)
      const [min = 0, max = 0] = [values[0], values.at(-1)]
      return [key, readings.length, values.length, min / 100, max / 100, sum / values.length / 100]
    })
    const made = rows
      .filter(({ quantity }) => quantity === 'pm25')
      .map(({ sensor_id, start, readings, n, min, max, mean }) => {
        return [[sensor_id, start].join(' '), readings, n, min, max, mean]
      })
    const inOrder = (list: readonly unknown[][]) =>
      list.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
    expect(inOrder(made)).toEqual(inOrder(wanted))
    const keys = rows.map(({ path, sensor_id, start }) => [path, sensor_id, start].join(' '))
    expect(keys).toEqual(keys.toSorted())
  })
})

/** As after the statistics job: what is written in the store, and the record that says so. */
async function rolledUp(store: Store): Promise<void> {
  const { sensors, areas } = await store.names()
  const [fromMs, toMs] = [todayMs - dayMs, todayMs + dayMs]
  await store.writeSensorHours(await store.computeSensors(sensors, fromMs, toMs, 'hour'))
  await store.writeSensorDays(await store.computeSensors(sensors, fromMs, toMs, 'day'))
  for (const area of [...areas, wholeNetwork]) {
    await store.writeAreaHours(await store.computeBuckets(area, fromMs, toMs, 'hour'))
    await store.writeAreaDays(await store.computeBuckets(area, fromMs, toMs, 'day'))
  }
}

const record = async (value: object | undefined): Promise<void> => {
  const system = await new Kvm(city.nc).open(buckets.system)
  if (value === undefined) await system.delete(systemKeys.rollup)
  else await system.put(systemKeys.rollup, JSON.stringify({ ...value, rules: statRules }))
}

const hashesOf = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    globSync('**/*.{parquet,json}', { cwd: folder })
      .toSorted()
      .map((name) => {
        const bytes = readFileSync(join(folder, name))
        return [name, createHash('sha256').update(bytes).digest('hex')]
      }),
  )

test.skipIf(missing !== undefined)(
  `from InfluxDB come the same bytes as from SQLite, computed or written${missing ? ` (${missing})` : ''}`,
  async () => {
    await using influx = await testInflux()
    await using other = await (await influx.newBucket()).open()
    for (let at = 0; at < city.log.written.length; at += other.writing.batchRows)
      expect(
        await other.writeBatch(city.log.written.slice(at, at + other.writing.batchRows)),
      ).toEqual([])
    const made = async (store: Store, name: string) => {
      const folder = join(city.folder, name)
      await city.archive(folder, { store, withHashes: true })
      return hashesOf(folder)
    }
    const computed = await made(city.store, 'computed-sqlite')
    expect(Object.keys(computed).filter((name) => name.startsWith('readings/')).length).toBe(2)
    expect(await made(other, 'computed-influx')).toEqual(computed)
    await rolledUp(city.store)
    await rolledUp(other)
    const position = catalogueOf(archive).end.position
    await record({ position, dirty: [], dirtyDays: [], sensorsFromMs: 0, rules: statRules })
    const written = await made(city.store, 'written-sqlite')
    expect(await made(other, 'written-influx')).toEqual(written)
    await record(undefined)
    // hours and days of sensors are the same whether they were written or computed
    const ofSensors = (files: object) =>
      Object.entries(files).filter(([name]) => name.includes('/sensor_'))
    expect(ofSensors(written)).toEqual(ofSensors(computed))
    expect(ofSensors(written).length).toBeGreaterThan(2)
  },
)

test('hours that are written are read as they are, and those still to be written are computed', async () => {
  const [reading] = city.log.written
  const { sensor, timeMs } = reading!
  const hour = floorTo(timeMs, hourMs)
  const [stats] = await city.store.computeSensors([sensor], hour, hour + hourMs, 'hour')
  const { pm25 } = stats!.fields
  await city.store.writeSensorHours([
    { ...stats!, fields: { ...stats!.fields, pm25: { ...pm25, max: 4_711 } } },
  ])
  const maxOf = async (name: string, rollup: object) => {
    const folder = join(city.folder, name)
    await record({ dirty: [], dirtyDays: [], sensorsFromMs: 0, rules: statRules, ...rollup })
    await city.archive(folder)
    const rows = await tableRows(folder, 'sensor_hours')
    return rows.find(
      ({ sensor_id, start, quantity }) =>
        sensor_id === sensor && start === hour && quantity === 'pm25',
    )?.['max']
  }
  const { position } = catalogueOf(archive).end
  expect(await maxOf('as-written', { position })).toBe(4_711)
  expect(await maxOf('not-read', { position: position - 1 })).toBe(pm25.max)
  expect(await maxOf('dirty', { position, dirty: [[wholeNetwork, hour]] })).toBe(pm25.max)
  expect(await maxOf('of-the-past', { position, sensorsFromMs: hour + hourMs })).toBe(pm25.max)
  await record(undefined)
})

test('a run is made at midnight UTC, and not a moment before', async () => {
  const folder = join(city.folder, 'midnight')
  // what was accepted in this test was accepted today, by the server's clock
  const today = floorTo(Date.now(), dayMs)
  const at = (nowMs: number) => city.archive(folder, { nowMs })
  expect((await at(today)).made).toBeUndefined()
  expect((await at(today + dayMs - 1)).made).toBeUndefined()
  expect(existsSync(join(folder, 'catalogue.json'))).toBe(false)
  const { made, catalogue } = await at(today + dayMs)
  expect(made?.readings).toBe(city.log.written.length)
  expect(Date.parse(catalogue.complete_until ?? '')).toBe(today + dayMs)
  const again = await at(today + 2 * dayMs - 1)
  expect([again.made, again.catalogue.complete_until]).toEqual([
    undefined,
    catalogue.complete_until,
  ])
})

test('its trouble is reported beside what is archived, since when, until it goes on', async () => {
  const stop = new AbortController()
  const life = new Lifetime(stop.signal)
  const system = await new Kvm(city.nc).open(buckets.system)
  const catalogue = catalogueOf(archive)
  const faults: (string | undefined)[] = [undefined]
  let nowMs = Date.UTC(2026, 10, 22)
  const archiving = new Archiving({
    archive: async () => {
      const fault = faults[0]
      if (fault !== undefined) throw new MustAct(fault)
      return { catalogue, made: undefined }
    },
    everyMs: 5,
    retaining: undefined,
    noteChange: async () => undefined,
    folder: '/srv/archive',
    system,
    metrics: archiveMetrics(openMetrics('archive')),
    nowMs: () => nowMs,
    life,
    log: pino({ level: 'silent' }),
  })
  const reported = async (trouble: string | null) =>
    await eventually(`the trouble is ${trouble}`, async () => {
      const report = (await system.get(systemKeys.archive))?.json<Record<string, unknown>>()
      return report !== undefined && report['trouble'] === trouble && report
    })
  const covered = {
    folder: '/srv/archive',
    run: 1,
    batch: catalogue.end.batch,
    complete_until: catalogue.complete_until,
    readings: city.log.written.length,
    bytes: bytesOf(catalogue),
  }
  const work = archiving.start()
  try {
    expect(await reported(null)).toEqual({ ...covered, trouble: null, trouble_since: null })
    faults[0] = 'the disk is full'
    const since = { trouble_since: '2026-11-22T00:00:00Z' }
    expect(await reported('the disk is full')).toMatchObject({ ...covered, ...since })
    nowMs += hourMs
    faults[0] = 'the disk is full still'
    expect(await reported('the disk is full still')).toMatchObject({ ...covered, ...since })
    faults[0] = undefined
    expect(await reported(null)).toEqual({ ...covered, trouble: null, trouble_since: null })
  } finally {
    stop.abort()
    await work.stop()
  }
})
