import { expect, test } from 'vitest'
import {
  sensorStatisticsColumns,
  sensorStatisticsOf,
} from '../../archive/sensor-statistics-table.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { hourMs } from '../../core/time.ts'
import { noValues } from '../../store/stat-fields.ts'
import type { StepStats } from '../../store/store.ts'

const sensor = 'NGR-LOS-IKJ-001' as SensorId
const dayStartMs = Date.UTC(2026, 2, 1)

test('an hour of which all readings failed has a row that says how many', async () => {
  const one = { ...noValues, n: 1, mean: 5, min: 5, max: 5 }
  const steps: readonly StepStats[] = [
    { step: 0, readings: 1, leftOut: 2, fields: { pm25: one } },
    { step: 3, readings: 0, leftOut: 12, fields: {} },
  ]
  const all = { unwritten: new Set<number>(), writtenFromMs: 0 }
  const rows = await Array.fromAsync(
    sensorStatisticsOf(
      { path: '', size: 'hour', dayStartMs },
      {
        store: { statistics: async () => steps },
        sensors: [sensor],
        written: { hour: all, day: all },
        stop: new AbortController().signal,
      },
    ),
  )
  const cells = rows.map((row) =>
    Object.fromEntries(sensorStatisticsColumns.map(({ name, of }) => [name, of(row)])),
  )
  expect(cells).toMatchObject([
    { start: dayStartMs, quantity: 'pm25', readings: 1, failed: 2, n: 1, mean: 5 },
    { start: dayStartMs + 3 * hourMs, quantity: null, readings: 0, failed: 12, n: 0, mean: null },
  ])
})
