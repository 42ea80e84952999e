/** Statistics as one buffer, for the same reason as readings (`pack.ts`). */
import type { BucketSummary } from '../stat-collector.ts'
import { areaStats, statFields, statNames, statsOf } from '../stat-fields.ts'
import type { AreaStats, FieldStats } from '../store.ts'
import { type Cells, nameTable, orNull } from './pack.ts'

/** Rows of `statsWidth` cells: area (its index), start, readings, then each field's statistics. */
export type PackedStats = { readonly areas: readonly string[]; readonly cells: Cells }
const statsHead = 3
export const statsWidth = statsHead + statFields.length * statNames.length

export function packStats(rows: readonly AreaStats[]): PackedStats {
  const areas = nameTable<string>()
  const cells = new Float64Array(rows.length * statsWidth)
  let i = 0
  for (const row of rows) {
    cells[i++] = areas.indexOf(row.area)
    cells[i++] = row.startMs
    cells[i++] = row.readings
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
  for (const { startMs, readings, fields } of summaries) {
    cells.set([0, startMs, readings], i)
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
    rows.push(
      areaStats(areas[cells[i]!] ?? '', cells[i + 1]!, cells[i + 2]!, (field) =>
        fieldStats(start + statFields.indexOf(field) * statNames.length),
      ),
    )
  }
  return rows
}
