/**
 * Archives of our own making through the running service, each row of them accounted for, as
 * `bench/archives.ts` does it with real ones.
 */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Ask, fieldsOf, type Json } from '../../bench/archives/ask.ts'
import { checkArea } from '../../bench/archives/check-areas.ts'
import { checkReadings } from '../../bench/archives/check-readings.ts'
import { checkStore } from '../../bench/archives/check-store.ts'
import type { ArchiveToReplay, ExpectedSensor } from '../../bench/archives/expected-city.ts'
import { createFindings, type Findings } from '../../bench/archives/findings.ts'
import { nothing } from '../../bench/archives/plain-values.ts'
import { replayAndCheck } from '../../bench/archives/replay-and-check.ts'
import type { StoredRow } from '../../bench/archives/stored-rows.ts'
import { influxMissing } from '../support/influx.ts'

const fixtures = join(import.meta.dirname, '../fixtures/archives')
const filesOf = (pattern: string): string[] =>
  globSync(pattern, { cwd: fixtures }).map((file) => join(fixtures, file))

const archives: readonly ArchiveToReplay[] = [
  {
    format: 'sensors-africa',
    files: filesOf('{sensors-africa.csv,awkward/*.csv}'),
    code: 'ARC',
    area: 'Archive',
  },
  {
    format: 'sensor-community',
    files: filesOf('sensor-community/*.csv'),
    code: 'VIC',
    area: 'Victoria Island',
  },
]

const missing = await influxMissing()

describe.concurrent.each([
  { store: 'sqlite', batch: 1, why: undefined },
  { store: 'influx', batch: 500, why: missing },
] as const)('archives in $store', ({ store, batch, why }) => {
  test.skipIf(why !== undefined)(
    `every row is accounted for, stored bit for bit and answered as the files say${why === undefined ? '' : ` (skipped: ${why})`}`,
    async () => {
      const report = await replayAndCheck({
        archives,
        store,
        batch,
        again: true,
        note: () => undefined,
      })
      expect(report.found).toEqual([])
      expect(report.mismatches).toBe(0)
      const refused = { out_of_range: 2, schema: 1, too_old: 1 }
      expect(report.replays).toMatchObject([
        { rows: 209, values: 207, unmapped: 2, sent: 92, accepted: 81, duplicate: 4, refused },
        { rows: 31, values: 31, unmapped: 0, sent: 14, accepted: 14, duplicate: 0, refused: {} },
      ])
      expect(report.again).toMatchObject([
        { sent: 92, accepted: 0, duplicate: 85, conflict: 3, refused },
        { sent: 14, accepted: 0, duplicate: 14, conflict: 0, refused: {} },
      ])
    },
    480_000,
  )
})

/** One reading, what is stored of it and what /v1 says about it, written by hand. */
const hourMs = 3_600_000
const at = Date.UTC(2025, 1, 3, 4, 30)
const values = { ...nothing, pm25: 1_234, pm10: 2_500, temperature: 2_780 }
const sensor: ExpectedSensor = {
  id: 'NGR-LOS-ARC-7301',
  cadenceMs: 300_000,
  sites: [{ fromMs: at - hourMs, area: 'Archive', lat: 6.5, lon: 3.4, address: '' }],
  readings: [
    { sensor: 'NGR-LOS-ARC-7301', area: 'Archive', timeMs: at, values, aqi: 57, flags: 0 },
  ],
}
const row: StoredRow = {
  ...nothing,
  sensor: sensor.id,
  area: 'Archive',
  timeMs: at,
  pm25: 12.34,
  pm10: 25,
  co2: null,
  temperature: 27.8,
  humidity: null,
  aqi: 57,
  flags: 0,
  // the first of the id's partition, which is 8
  seq: 8 * 2 ** 40 + 1,
}
const measured = (value: number | null, unit: string) => ({
  avg: value,
  min: value,
  max: value,
  median: value,
  p98: value,
  unit,
})
const areaAnswer = {
  sensors: { total: 1, online: 0, offline: 1 },
  last_updated: '2025-02-03T04:30:00.000Z',
  aqi: {
    average: 57,
    median: 57,
    min: 57,
    max: 57,
    category: 'moderate',
    dominant_pollutant: 'pm25',
    nowcast: null,
  },
  measurements: {
    pm25: measured(12.34, 'µg/m³'),
    pm10: measured(25, 'µg/m³'),
    co2: measured(null, 'ppm'),
    temperature: measured(27.8, '°C'),
    humidity: measured(null, '%RH'),
  },
  basis: 'readings',
  coverage: { expected: 12, observed: 1, percent: 8.3 },
  left_out: 0,
  worst_sensor: { aqi: 57 },
}

const asking = (answer: unknown): Ask => ({
  json: async () => fieldsOf(answer),
  text: () => Promise.reject(new Error('no text was expected to be asked for')),
})

/** The paths of all values in it, units left out: they are not compared with the files. */
const leavesOf = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) =>
        name === 'unit' ? [] : leavesOf(inner, [...path, name]),
      )
    : [path]

/** Another value in one place: a number a hundredth off, a text longer, something for nothing. */
function altered(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name !== undefined) {
    const fields: Json = fieldsOf(value)
    return { ...fields, [name]: altered(fields[name], rest) }
  }
  if (typeof value === 'number') return value + 0.01
  return typeof value === 'string' ? `${value}.` : 0
}

describe('the comparison finds', () => {
  const store = async (rows: readonly StoredRow[]): Promise<Findings> => {
    const findings = createFindings()
    const stored = { count: async () => rows.length, of: async () => rows }
    await checkStore(stored, [sensor], findings)
    return findings
  }
  const area = async (answer: unknown): Promise<Findings> => {
    const findings = createFindings()
    const period = { fromMs: at - hourMs / 2, toMs: at + hourMs / 2 }
    const options = { findings, sensors: [sensor], area: 'Archive' }
    await checkArea([period], { ...options, ask: asking(answer) })
    return findings
  }

  test('nothing where all is as it should be', async () => {
    expect((await store([row])).first()).toEqual([])
    expect((await area(areaAnswer)).first()).toEqual([])
  })

  test.each(leavesOf(row).filter(([name]) => name !== 'sensor'))(
    'a stored row with another %s',
    async (name) => {
      const other = altered(row, [name ?? '']) as StoredRow
      expect((await store([other])).mismatches()).toBeGreaterThan(0)
    },
  )

  test('a row that is missing, and one too many', async () => {
    expect((await store([])).mismatches()).toBeGreaterThan(0)
    expect((await store([row, { ...row, area: 'Yaba' }])).mismatches()).toBeGreaterThan(0)
  })

  test.each(leavesOf(areaAnswer).map((path) => [path.join('.'), path] as const))(
    'an area with another %s',
    async (_, path) => {
      expect((await area(altered(areaAnswer, path))).mismatches()).toBeGreaterThan(0)
    },
  )

  test('a page that lacks a reading', async () => {
    const findings = createFindings()
    const ask = {
      json: async () => ({ count: 0, readings: [], next_cursor: null }),
      text: async () => 'sensor_id,timestamp\r\n',
    }
    await checkReadings({ ask, findings, sensors: [sensor], stored: [row] })
    expect(findings.first().join('\n')).toContain('readings on all pages: 0, expected 1')
  })
})
