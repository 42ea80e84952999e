/**
 * The newest readings of the network, complete down to a floor: every accepted reading above it is
 * here, so a page above it needs no store. Order everywhere: time descending, then sensor
 * ascending. Seeded once from the store, fed by the log, trimmed from below.
 */
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { Cursor, Order } from '../../store/store.ts'

/** A place in the order; `sensor` may be '' for the end of everything. */
export type Place = { readonly timeMs: number; readonly sensor: string }

export type PageQuery = {
  readonly sensor?: SensorId | undefined
  /** Inclusive. */
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  readonly limit: number
  /** The page starts after it. */
  readonly after?: Cursor | undefined
  /** Newest first unless given. */
  readonly order?: Order
}

export type NewestReadings = {
  /** Accepted readings in any order, whether seen before or not. */
  readonly add: (readings: readonly Reading[]) => void
  /**
   * All that the store holds down to `floor`; readings added before and since are kept too. Changes
   * nothing if `clear` was called after `generation` was read.
   */
  readonly seed: (readings: readonly Reading[], floor: Place, generation: number) => void
  /** Counts up with every `clear`. */
  readonly generation: () => number
  /** Forgets everything: what follows may not continue what came before. */
  readonly clear: () => void
  readonly isSeeded: () => boolean
  /** Every reading that is later is here; undefined: nothing is known to be complete. */
  readonly floorMs: () => number | undefined
  /** @returns the page, exactly, or undefined if it reaches below the floor */
  readonly page: (query: PageQuery) => readonly Reading[] | undefined
}

/** Below 0 if `a` comes first. */
export const byNewest = (a: Place, b: Place): number => b.timeMs - a.timeMs || bySensor(a, b)

/** The same of the other order: within one ms it is also by sensor. */
export const byOldest = (a: Place, b: Place): number => a.timeMs - b.timeMs || bySensor(a, b)

const bySensor = (a: Place, b: Place): number =>
  a.sensor < b.sensor ? -1 : a.sensor > b.sensor ? 1 : 0

/** @param capacity at least as many as the longest page; up to twice as many are held */
export function createNewestReadings(capacity = 5_000): NewestReadings {
  /** In order, all above the floor (or of unknown completeness while there is none). */
  let ordered: Reading[] = []
  let incoming: Reading[] = []
  /** The last place above which everything is here; undefined: nothing is known to be complete. */
  let floor: Place | undefined
  /** The highest place ever trimmed: no seed may put the floor below it. */
  let trimmed: Place | undefined
  let generation = 0

  const settle = (): void => {
    if (incoming.length > 0) {
      const merged = [...incoming, ...ordered].sort(byNewest)
      ordered = merged.filter((row, i) => i === 0 || byNewest(merged[i - 1] ?? row, row) !== 0)
      incoming = []
    }
    const cut = ordered[capacity]
    if (ordered.length > 2 * capacity && cut !== undefined) trimTo(cut)
  }

  const trimTo = (place: Place): void => {
    ordered = ordered.filter((row) => byNewest(row, place) < 0)
    if (trimmed === undefined || byNewest(place, trimmed) < 0) trimmed = place
    if (floor !== undefined) floor = highest(floor, trimmed)
  }

  return {
    add: (readings) => {
      const bottom = floor ?? trimmed
      for (const reading of readings) {
        if (bottom === undefined || byNewest(reading, bottom) < 0) incoming.push(reading)
      }
      if (incoming.length > capacity) settle()
    },
    generation: () => generation,
    seed: (readings, seededTo, seededGeneration) => {
      if (seededGeneration !== generation) return
      incoming.push(...readings)
      settle()
      floor = trimmed === undefined ? seededTo : highest(seededTo, trimmed)
      ordered = ordered.filter((row) => byNewest(row, floor ?? row) < 0)
    },
    clear: () => {
      generation++
      ordered = []
      incoming = []
      floor = undefined
      trimmed = undefined
    },
    isSeeded: () => floor !== undefined,
    floorMs: () => floor?.timeMs,
    page: (query) => {
      const { sensor, fromMs, toMs, limit, after, order } = query
      if (floor === undefined) return undefined
      settle()
      if (order === 'asc') {
        const startMs = Math.max(fromMs, after?.timeMs ?? 0)
        return startMs > floor.timeMs ? oldestOf(ordered, { ...query, fromMs: startMs }) : undefined
      }
      const rows: Reading[] = []
      for (let i = firstAfter(ordered, toMs, after); i < ordered.length; i++) {
        const row = ordered[i]
        if (row === undefined || row.timeMs < fromMs) return rows
        if (sensor !== undefined && row.sensor !== sensor) continue
        rows.push(row)
        if (rows.length === limit) return rows
      }
      return fromMs > floor.timeMs ? rows : undefined
    },
  }
}

/** @param ordered newest first, complete from `fromMs` on */
function oldestOf(
  ordered: readonly Reading[],
  { sensor, fromMs, toMs, limit, after }: PageQuery,
): readonly Reading[] {
  const rows: Reading[] = []
  for (let i = firstAfter(ordered, fromMs, undefined) - 1; i >= 0; i--) {
    const row = ordered[i]
    if (row === undefined || row.timeMs >= toMs) break
    // those of one ms come in the wrong order: all of them, then sorted
    if (rows.length >= limit && row.timeMs !== rows.at(-1)?.timeMs) break
    if (sensor !== undefined && row.sensor !== sensor) continue
    if (after === undefined || byOldest(row, after) > 0) rows.push(row)
  }
  return rows.sort(byOldest).slice(0, limit)
}

const highest = (a: Place, b: Place): Place => (byNewest(a, b) < 0 ? a : b)

/** The first place in `ordered` before `toMs` and after `after`. */
function firstAfter(ordered: readonly Reading[], toMs: number, after: Place | undefined): number {
  let low = 0
  let high = ordered.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = ordered[middle]
    if (row === undefined) break
    const isAfter = row.timeMs < toMs && (after === undefined || byNewest(row, after) > 0)
    if (isAfter) high = middle
    else low = middle + 1
  }
  return low
}
