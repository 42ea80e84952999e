/** The list of sensors and sites in the store, as the registry changes while the pipeline works and while it does not. */
import { DatabaseSync } from 'node:sqlite'
import { type KV, Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatIsoMs } from '../../core/iso-time.ts'
import { hourMs } from '../../core/time.ts'
import type { SensorEntry, Site } from '../../schemas/devices/sensor.ts'
import { buckets } from '../../schemas/subjects.ts'
import { sensorColumns, siteColumns } from '../../store/sensor-listing.ts'
import { eventually } from '../support/eventually.ts'
import { entryOf, type TestPipeline, testPipeline } from '../support/pipeline.ts'

let pipeline: TestPipeline
let registry: KV
beforeAll(async () => {
  pipeline = await testPipeline()
  registry = await new Kvm(pipeline.nc).open(buckets.sensors)
})
afterAll(() => pipeline[Symbol.asyncDispose]())

const [here, there, other] = ['NGR-LOS-IKJ-001', 'NGR-LOS-YAB-002', 'NGR-LOS-LEK-003'] as const
const site = (from: string, area: string, over: Partial<Site> = {}): Site => ({
  from,
  area,
  lat: 6.6,
  lon: 3.35,
  address: `1 ${area} Road`,
  ...over,
})
const put = (entry: SensorEntry) => registry.put(entry.id, JSON.stringify(entry))

type Row = Readonly<Record<string, unknown>>
function rowsOf(sql: string): readonly Row[] {
  using db = new DatabaseSync(pipeline.storeFile, { readOnly: true })
  return db.prepare(sql).all()
}
/** A table is made with its first row. */
const tableRows = (table: string): readonly Row[] =>
  rowsOf(`select name from sqlite_schema where name = '${table}'`).length === 0
    ? []
    : rowsOf(`select * from ${table} order by sensor_id`)
const untilRows = (table: string, isThere: (rows: readonly Row[]) => boolean) =>
  eventually(`${table} follows the registry`, () => {
    const rows = tableRows(table)
    return isThere(rows) ? rows : undefined
  })

const soon = formatIsoMs(Date.now() + hourMs)
const private_ = ['Former Road 7', 'Future Road 9', '7777777', 'AAAAAAAAAAAAAAAAAAAA']

test('what everyone may know of a sensor is listed, and nothing else', async () => {
  await put(
    entryOf(here, {
      make: 'Nova',
      model: 'SDS011',
      indoor: false,
      height_m: 2.5,
      owner: 'A school, "Ìkẹjà"',
      sites: [
        site('2020-01-01T00:00:00Z', 'Yaba', { address: 'Former Road 7' }),
        site('2024-06-01T00:00:00Z', 'Ikeja', { lat: 6.5 }),
        site(soon, 'Lekki', { address: 'Future Road 9' }),
      ],
      device: { kind: 'sensor-community', serial: 'esp8266-7777777' },
      keys: [
        {
          algorithm: 'ed25519',
          public_key: `${'A'.repeat(43)}=`,
          from: '2020-01-01T00:00:00Z',
        },
      ],
    }),
  )
  const [sensor] = await untilRows('sensors', (rows) => rows.length === 1)
  expect(sensor).toEqual({
    sensor_id: here,
    area: 'Ikeja',
    lat: 6.5,
    lon: 3.35,
    make: 'Nova',
    model: 'SDS011',
    indoor: 0,
    height_m: 2.5,
    licence: null,
    owner: 'A school, "Ìkẹjà"',
    expected_interval_seconds: 300,
    commissioned_at: '2020-01-01T00:00:00.000Z',
    retired_at: null,
    revision: expect.stringMatching(/^[0-9a-f]{16}$/),
  })
  expect(Object.keys(sensor!)).toEqual(['sensor_id', ...Object.keys(sensorColumns)])
  const sites = tableRows('sites')
  expect(Object.keys(sites[0]!)).toEqual(['sensor_id', ...Object.keys(siteColumns)])
  expect(sites.map(({ area, site_from, site_until }) => [area, site_from, site_until])).toEqual([
    ['Yaba', '2020-01-01T00:00:00.000Z', '2024-06-01T00:00:00.000Z'],
    ['Ikeja', '2024-06-01T00:00:00.000Z', null],
  ])
  const everything = JSON.stringify([sensor, ...sites])
  for (const secret of private_) expect(everything).not.toContain(secret)
})

test('a sensor that moves, is retired, or is taken out of the registry is another row or none', async () => {
  await put(entryOf(there))
  await put(entryOf(other))
  await untilRows('sensors', (rows) => rows.length === 3)
  const begun = formatIsoMs(Date.now() + 1_500)
  await put(entryOf(there, { sites: [site('2020-01-01T00:00:00Z', 'Ikeja'), site(begun, 'Yaba')] }))
  // it begins after it was written
  const sites = await untilRows(
    'sites',
    (rows) => rows.filter(({ sensor_id }) => sensor_id === there).length === 2,
  )
  expect(sites.some(({ area }) => area === 'Yaba')).toBe(true)
  expect(tableRows('sensors').find(({ sensor_id }) => sensor_id === there)).toMatchObject({
    area: 'Yaba',
  })
  await put(entryOf(other, { retired_at: '2026-01-01T00:00:00Z' }))
  await untilRows('sensors', (rows) =>
    rows.some(
      ({ sensor_id, retired_at }) =>
        sensor_id === other && retired_at === '2026-01-01T00:00:00.000Z',
    ),
  )
  await registry.delete(other)
  await untilRows('sensors', (rows) => rows.every(({ sensor_id }) => sensor_id !== other))
  expect(tableRows('sites').filter(({ sensor_id }) => sensor_id === other)).toEqual([])
})

test('what changed while no pipeline ran is listed after its start, and tables of another version are made again', async () => {
  await pipeline.stop()
  await registry.delete(there)
  await put(entryOf(here, { licence: 'CC-BY-4.0' }))
  await put(entryOf(other, { model: 'PMS5003' }))
  {
    using db = new DatabaseSync(pipeline.storeFile)
    db.exec('alter table sensors add column of_another_version text')
  }
  await pipeline.start()
  const rows = await untilRows('sensors', (all) =>
    all.some(({ licence }) => licence === 'CC-BY-4.0'),
  )
  expect(rows.map(({ sensor_id, licence, model }) => [sensor_id, licence, model])).toEqual([
    [here, 'CC-BY-4.0', null],
    [other, null, 'PMS5003'],
  ])
  expect(Object.keys(rows[0]!)).toEqual(['sensor_id', ...Object.keys(sensorColumns)])
})
