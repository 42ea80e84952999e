import { areaFault } from '../core/air/area.ts'
import { quantityNames } from '../core/air/quantities.ts'
import type { Reading } from '../core/air/reading.ts'
import { fewestValues, mostValues } from '../core/air/values.ts'
import { isHash } from '../core/hex.ts'
import type { RefusedRow, StoreRow } from './store.ts'

/** Statistics are computed on 32-bit integers; 21 million µg/m³ is far above any hard range. */
const largestValue = 2 ** 31 - 1
/** InfluxDB counts nanoseconds in 64 bits, which end in 2262. */
const largestTimeMs = Date.UTC(2200, 0, 1)

/**
 * Why no engine of ours may take this row, or undefined. One rule for both engines, so that what
 * one of them keeps the other can keep too.
 */
export function rowFault(row: Reading): string | undefined {
  if (!Number.isInteger(row.timeMs) || row.timeMs < 0 || row.timeMs >= largestTimeMs) {
    return 'timeMs is not a whole number of ms between 1970 and 2200'
  }
  const { values } = row
  if (values.length < fewestValues || values.length > mostValues) {
    return `${values.length} values are not between ${fewestValues} and ${mostValues}`
  }
  for (let id = 0; id < values.length; id++) {
    const value = values[id]
    if (value !== null && !(Number.isInteger(value) && Math.abs(value!) <= largestValue)) {
      return `${quantityNames[id]} is not a whole number of hundredths within 31 bits`
    }
  }
  if (row.aqi !== null && !isCount(row.aqi)) return 'aqi is not a whole number from 0'
  if (!isCount(row.flags)) return 'flags is not a whole number from 0'
  if (!isCount(row.seq)) return 'seq is not a whole number from 0'
  if (row.device !== undefined && !isHash(row.device)) return 'device is not a hash'
  return areaFault(row.area)
}

/** Sorts out what no engine may take; `fit` is `rows` itself where all of them fit. */
export function sortOutFaulty(rows: readonly StoreRow[]): {
  readonly fit: readonly StoreRow[]
  readonly refused: readonly RefusedRow[]
} {
  const refused: RefusedRow[] = []
  for (const row of rows) {
    const why = rowFault(row)
    if (why !== undefined) refused.push({ row, why })
  }
  if (refused.length === 0) return { fit: rows, refused }
  const bad = new Set(refused.map(({ row }) => row))
  return { fit: rows.filter((row) => !bad.has(row)), refused }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
