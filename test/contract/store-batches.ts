import type { Reading } from '../../core/air/reading.ts'
import { reading, sensorId } from './store-rows.ts'

const startMs = Date.UTC(2026, 5, 1)
/** No batch is larger, so no two share a key. */
const mostRows = 100_000

/** Batch `n` of a sensor: the same rows in every process that asks. */
export const batchOf = (sensor: number, n: number, size: number): Reading[] =>
  Array.from({ length: size }, (_, i) =>
    reading({
      sensor: sensorId(sensor),
      timeMs: startMs + n * mostRows + i,
      pm25: i,
      seq: 1 + n * mostRows + i,
    }),
  )
