import fc from 'fast-check'
import { areaFault } from '../../core/air/area.ts'
import { mapQuantities } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { SensorListing } from '../../store/sensor-listing.ts'
import { type Over, readingOf } from '../support/readings.ts'

export const sensorId = (number: number): SensorId =>
  `NGR-LOS-IKJ-${String(number).padStart(3, '0')}` as SensorId

/** A plain reading of sensor 1 in Ikeja, with what the test cares about put over it. */
export const reading = (over: Over = {}): Reading =>
  readingOf({
    sensor: sensorId(1),
    area: 'Ikeja',
    timeMs: Date.UTC(2026, 2, 1, 12),
    pm25: 4530,
    pm10: 7820,
    co2: 41_200,
    temperature: 2890,
    humidity: 6510,
    aqi: 125,
    flags: 0,
    seq: 1,
    ...over,
  })

/** Area names that some engine, protocol or query language is known to trip over. */
export const awkwardAreas = [
  'Ojodu Berger',
  'Lekki, Phase 1',
  'a=b',
  'key=value,other=1 field=2',
  'Èkó · Ìkẹjà',
  '拉各斯',
  '🏙️ Marina',
  'e\u0301',
  '"quoted"',
  "O'Connor's",
  "' OR 1=1 --",
  "x'; DROP MEASUREMENT reading; --",
  '$area',
  '%s?',
  ' leading and trailing ',
  '_all_',
  '#comment',
  'null',
  'a\u2028b',
  '/.*/',
  'x'.repeat(256),
]

const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { freq: 4 })

const anyArea = fc.oneof(
  fc.constantFrom('Ikeja', ...awkwardAreas),
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .filter((name) => areaFault(name) === undefined),
)

/** Any that a sensor can measure, of every quantity there is. */
const values = mapQuantities(({ hard: { low, high } }) =>
  orNull(fc.integer({ min: low, max: high })),
)

const anyReading: fc.Arbitrary<Reading> = fc
  .record({
    sensor: fc.integer({ min: 1, max: 12 }).map(sensorId),
    area: anyArea,
    timeMs: fc.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2030, 11, 31) }),
    ...values,
    aqi: orNull(fc.integer({ min: 0, max: 500 })),
    flags: fc.integer({ min: 0, max: 2 ** 16 }),
    seq: fc.integer({ min: 1, max: 16 * 2 ** 40 }),
    leaf: fc.constantFrom(
      {},
      { leafVersion: 2 as const },
      { leafVersion: 2 as const, isBackfill: true as const },
      { leafVersion: 2 as const, device: `0x${'0f'.repeat(32)}` as const },
    ),
  })
  .map(({ leaf, ...row }) => readingOf({ ...row, ...leaf }))

export const anyBatch: fc.Arbitrary<Reading[]> = fc.uniqueArray(anyReading, {
  minLength: 1,
  maxLength: 80,
  size: 'max',
  selector: (row) => `${row.sensor} ${row.timeMs}`,
})

/** By (time desc, sensor asc): the order of `rangeAll`. */
export const oldestFirst = (rows: readonly Reading[]): Reading[] =>
  [...rows].sort((a, b) => a.timeMs - b.timeMs || (a.sensor < b.sensor ? -1 : 1))

export const newestFirst = (rows: readonly Reading[]): Reading[] =>
  [...rows].sort((a, b) => b.timeMs - a.timeMs || (a.sensor < b.sensor ? -1 : 1))

/** What the registry says of a sensor, as it is listed for those who query the store. */
export const listing = (number: number, revision: string, sites = 1): SensorListing => ({
  sensor: sensorId(number),
  about: {
    area: 'Ikeja',
    lat: 6.6,
    lon: 3.35,
    make: 'Nova "1"',
    model: 'SDS\\011',
    indoor: false,
    height_m: 2.5,
    licence: null,
    owner: 'Ìkẹjà, a=b',
    expected_interval_seconds: 300,
    commissioned_at: '2020-01-01T00:00:00.000Z',
    retired_at: null,
    revision,
  },
  sites: Array.from({ length: sites }, (_, at) => ({
    site: at + 1,
    area: 'Ikeja',
    lat: 6.6,
    lon: 3.35,
    site_from: '2020-01-01T00:00:00.000Z',
    site_from_ms: Date.UTC(2020 + at, 0, 1),
    site_until: null,
    site_until_ms: null,
  })),
})
