/** Statistics of the areas as tables: their hours by month, their days by year, as the store has them. */
import { wholeNetwork } from '../core/air/area.ts'
import { dayMs } from '../core/time.ts'
import { daysFile, hoursFile } from '../operate/archive/archive-layout.ts'
import type { Column } from '../operate/archive/parquet-table.ts'
import { statFields, statNames } from '../store/stat-fields.ts'
import type { AreaStats, Store } from '../store/store.ts'

export const statisticsColumns: readonly Column<AreaStats>[] = [
  // the whole network has a name of its own in the store, and none here
  {
    name: 'area',
    kind: 'text',
    of: ({ area }) => (area === wholeNetwork ? null : area),
  },
  { name: 'start', kind: 'time', isNeeded: true, of: ({ startMs }) => startMs },
  { name: 'readings', kind: 'int', isNeeded: true, of: ({ readings }) => readings },
  // none: an earlier version wrote the row, and they are in its statistics
  { name: 'failed', kind: 'int', of: ({ failed }) => failed },
  ...statFields.flatMap((field) =>
    statNames.map(
      (name): Column<AreaStats> => ({
        name: `${field}_${name}`,
        kind: name === 'n' ? 'int' : 'number',
        of: ({ fields }) => fields[field][name],
      }),
    ),
  ),
]

type Period = {
  readonly path: string
  readonly fromMs: number
  readonly toMs: number
  readonly read: (
    store: Pick<Store, 'areaHours' | 'areaDays'>,
    area: string,
    fromMs: number,
    toMs: number,
  ) => Promise<readonly AreaStats[]>
}

/** The files that hold statistics of these days, each with its whole period. */
export function periodsOf(dayStarts: Iterable<number>): readonly Period[] {
  const periods = new Map<string, Period>()
  for (const dayStartMs of dayStarts) {
    const at = new Date(dayStartMs)
    const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
    const hours = hoursFile(dayStartMs)
    periods.set(hours, {
      path: hours,
      fromMs: Date.UTC(year, month, 1),
      toMs: Date.UTC(year, month + 1, 1),
      read: (store, ...asked) => store.areaHours(...asked),
    })
    const days = daysFile(dayStartMs)
    periods.set(days, {
      path: days,
      fromMs: Date.UTC(year, 0, 1),
      toMs: Date.UTC(year + 1, 0, 1),
      read: (store, ...asked) => store.areaDays(...asked),
    })
  }
  return [...periods.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Areas with their hours or days of a period, up to a time: what runs on is not of it yet. */
export async function* statisticsOf(
  { fromMs, toMs, read }: Period,
  store: Store,
  { areas, untilMs }: { readonly areas: readonly string[]; readonly untilMs: number },
): AsyncGenerator<AreaStats> {
  const end = Math.min(toMs, untilMs)
  for (const area of [...areas, wholeNetwork])
    for (let from = fromMs; from < end; from += 31 * dayMs)
      yield* await read(store, area, from, Math.min(end, from + 31 * dayMs))
}
