/** Each column of the archive's tables of sensors and of statistics has what its name says. */
import { expect, test } from 'vitest'
import { sensorStatisticsColumns } from '../../archive/sensor-statistics-table.ts'
import { statisticsColumns } from '../../archive/statistics-table.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { Column } from '../../operate/archive/parquet-table.ts'
import { sensorColumns } from '../../operate/archive/sensor-columns.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import { statFields } from '../../store/stat-fields.ts'
import type { AreaStats, FieldStats, StatField } from '../../store/store.ts'

const cellsOf = <Row>(columns: readonly Column<Row>[], row: Row) =>
  Object.fromEntries(columns.map(({ name, of }) => [name, of(row)]))

const site = { from: '2020-01-01T00:00:00Z', area: 'Ikeja', lat: 6.6, lon: 3.35, address: '1 Road' }
const sensor: SensorEntry = {
  id: 'NGR-LOS-IKJ-001',
  cadence_seconds: 300,
  created_at: '2019-01-01T00:00:00Z',
  sites: [site],
  retired_at: '2025-01-01T00:00:00Z',
  make: 'Maker',
  model: 'SDS011',
  indoor: true,
  height_m: 3,
  licence: 'CC-BY-4.0',
  owner: 'A school',
}

test('a row of a sensor has all that everyone may know of it, and no address where it is no more', () => {
  const cells = {
    sensor_id: 'NGR-LOS-IKJ-001',
    from: Date.UTC(2020, 0),
    until: Date.UTC(2024, 0),
    area: 'Ikeja',
    lat: 6.6,
    lon: 3.35,
    address: '1 Road',
    cadence_seconds: 300,
    retired_at: Date.UTC(2025, 0),
    make: 'Maker',
    model: 'SDS011',
    indoor: true,
    height_m: 3,
    licence: 'CC-BY-4.0',
    owner: 'A school',
  }
  const row = { sensor, site, until: Date.UTC(2024, 0) }
  expect(cellsOf(sensorColumns, { ...row, isPresent: true })).toEqual(cells)
  expect(cellsOf(sensorColumns, { ...row, isPresent: false })).toEqual({ ...cells, address: null })
})

const statsAt = (place: number): FieldStats => ({
  n: place + 1,
  mean: place + 0.1,
  min: place + 0.2,
  max: place + 0.3,
  p50: place + 0.4,
  p98: place + 0.5,
  sd: place + 0.6,
  q02: place + 0.7,
  q25: place + 0.8,
  q75: place + 0.9,
})

test('a row of an area has every statistic of every quantity; the whole network has no name', () => {
  const fields = Object.fromEntries(
    statFields.map((field, place) => [field, statsAt(place)]),
  ) as Record<StatField, FieldStats>
  const row: AreaStats = { area: 'Ikeja', startMs: 7, readings: 5, failed: 2, fields }
  const values = statFields.flatMap((field, place) =>
    Object.entries(statsAt(place)).map(([name, value]) => [`${field}_${name}`, value] as const),
  )
  const cells = { area: 'Ikeja', start: 7, readings: 5, failed: 2, ...Object.fromEntries(values) }
  expect(cellsOf(statisticsColumns, row)).toEqual(cells)
  expect(cellsOf(statisticsColumns, { ...row, area: wholeNetwork })).toEqual({
    ...cells,
    area: null,
  })
})

test('a row of a sensor’s hour has every statistic of one quantity', () => {
  const row = {
    sensor: 'NGR-LOS-IKJ-001' as SensorId,
    startMs: 7,
    readings: 5,
    failed: 2,
    field: 'pm25' as const,
    stats: statsAt(0),
  }
  expect(cellsOf(sensorStatisticsColumns, row)).toEqual({
    sensor_id: 'NGR-LOS-IKJ-001',
    start: 7,
    readings: 5,
    failed: 2,
    quantity: 'pm25',
    ...statsAt(0),
  })
})
