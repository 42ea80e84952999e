/** Statistics as one buffer, for the same reason as readings (`pack.ts`). */

import { type Cells, nameTable, orNull } from '../packed-readings.ts'
import type { BucketSummary } from '../stat-collector.ts'
import { areaStats, statFields, statNames, statsOf } from '../stat-fields.ts'
import type { AreaStats, FieldStats } from '../store.ts'

/** Rows of `statsWidth` cells: area (its index), start, readings, failed, then each field's statistics. */
export type PackedStats = { readonly areas: readonly string[]; readonly cells: Cells }
const statsHead = 4
export const statsWidth = statsHead + statFields.length * statNames.length

export function packStats(rows: readonly AreaStats[]): PackedStats {
  const areas = nameTable<string>()
  const cells = new Float64Array(rows.length * statsWidth)
  let i = 0
  for (const row of rows) {
    cells[i++] = areas.indexOf(row.area)
    cells[i++] = row.startMs
    cells[i++] = row.readings
    cells[i++] = row.failed ?? Number.NaN
    for (const field of statFields) {
      for (const name of statNames) cells[i++] = row.fields[field][name] ?? Number.NaN
    }
  }
  return { areas: areas.names, cells }
}

/** Cells of one area, whose index is 0. */
export function packSummaries(summaries: readonly BucketSummary[]): Cells {
  const cells = new Float64Array(summaries.length * statsWidth)
  let i = 0
  for (const { startMs, readings, leftOut, fields } of summaries) {
    cells.set([0, startMs, readings, leftOut], i)
    i += statsHead
    for (const stats of fields) {
      for (const name of statNames) cells[i++] = stats[name] ?? Number.NaN
    }
  }
  return cells
}

export function unpackStats({ areas, cells }: PackedStats): AreaStats[] {
  const rows: AreaStats[] = []
  for (let i = 0; i < cells.length; i += statsWidth) {
    const fieldStats = (at: number): FieldStats =>
      statsOf((place) => (place === 0 ? cells[at]! : orNull(cells[at + place]!)))
    const start = i + statsHead
    const head = { startMs: cells[i + 1]!, readings: cells[i + 2]!, failed: orNull(cells[i + 3]!) }
    rows.push(
      areaStats(areas[cells[i]!] ?? '', head, (field) =>
        fieldStats(start + statFields.indexOf(field) * statNames.length),
      ),
    )
  }
  return rows
}
