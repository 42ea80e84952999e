/**
 * A city's readings in the order of their time, packed as the pipeline packs them. The same at every
 * run; one in a thousand arrives hours or days late.
 */
import type { SensorId } from '../core/air/sensor-id.ts'
import { fewestValues } from '../core/air/values.ts'
import { dayMs, minuteMs } from '../core/time.ts'
import { cellAt, type PackedReadings } from '../store/packed-readings.ts'
import { seeded } from '../test/support/chaos/seeded.ts'

export const cadenceMs = minuteMs
export const startMs = Date.UTC(2024, 0, 1)
/** One in so many is late, by up to three days. */
const onTime = 1_000
const mostLateMs = 3 * dayMs
const areaCount = 20

const width = cellAt.values + fewestValues

export type GrowthCity = {
  readonly ids: readonly SensorId[]
  /** The next readings, of as many sensors. */
  readonly next: (rows: number) => PackedReadings
  /** Goes on as if so many more had been sent. */
  readonly skip: (rows: number) => void
  /** The time of the newest reading. */
  readonly nowMs: () => number
}

export function growthCity(sensors: number): GrowthCity {
  const random = seeded(16)
  const ids = Array.from(
    { length: sensors },
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the registry writes them
    (_, n) => `NGR-LOS-GRO-${String(n).padStart(5, '0')}` as SensorId,
  )
  const pm = Int32Array.from(ids, () => 1_000 + Math.round(random() * 2_000))
  const co2 = Int32Array.from(ids, () => 42_000 + Math.round(random() * 9_000))
  let sent = 0
  const timeOf = (n: number): number =>
    startMs +
    Math.floor(n / sensors) * cadenceMs +
    Math.floor(((n % sensors) * cadenceMs) / sensors)
  return {
    ids,
    nowMs: () => timeOf(Math.max(0, sent - 1)),
    skip: (rows) => {
      sent += rows
    },
    next: (rows) => {
      const cells = new Float64Array(rows * width)
      const some = Array.from({ length: rows }, (_, row) => (sent + row) % sensors)
      for (const [row, sensor] of some.entries()) {
        const at = row * width
        const draw = random()
        const pm25 = Math.max(100, pm[sensor]! + Math.round((draw - 0.5) * 300))
        pm[sensor] = pm25
        co2[sensor] = Math.max(40_000, co2[sensor]! + Math.round((draw - 0.5) * 15) * 100)
        // half a cadence off: another reading of the sensor, not the same one again
        const lateMs =
          sent % onTime === 0 ? Math.floor((draw * mostLateMs) / cadenceMs) * cadenceMs + 7 : 0
        cells[at + cellAt.sensor] = row
        cells[at + cellAt.area] = row
        cells[at + cellAt.timeMs] = Math.max(startMs, timeOf(sent) - lateMs)
        cells[at + cellAt.aqi] = Math.round(pm25 / 30)
        cells[at + cellAt.flags] = 0
        cells[at + cellAt.seq] = sent + 1
        cells[at + cellAt.leafVersion] = 2
        cells[at + cellAt.isBackfill] = Number.NaN
        cells.set(
          [
            pm25,
            Math.round(pm25 * 1.6),
            co2[sensor],
            2_000 + ((sent * 7) % 1_500),
            6_000 + (sent % 3_000),
          ],
          at + cellAt.values,
        )
        sent++
      }
      const areas = some.map((sensor) => `Area ${sensor % areaCount}`)
      return { sensors: some.map((sensor) => ids[sensor]!), areas, width, cells, devices: [] }
    },
  }
}
