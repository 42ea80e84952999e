/** The nation that `bench/nation.ts` makes: ids, places, and who measures what when. */
import { cityOf } from '../../test/support/chaos/city.ts'

export type Nation = {
  readonly ids: readonly string[]
  readonly areas: number
}

const sensorsPerArea = 1_000
/** Every thousandth sensor rises above an index of 150 once in five minutes. */
const risingEach = 1_000
const risesEveryMinutes = 5

export const nationOf = (sensors: number): Nation => ({
  ids: cityOf(sensors),
  areas: Math.max(10, Math.ceil(sensors / sensorsPerArea)),
})

export const areaOf = (place: number, { areas }: Nation): string => `Area ${place % areas}`

/**
 * As `airproof sensors import` takes it. The cadence is ten times what is sent: the first readings of a million take
 * some ten minutes, and a sensor that falls silent in between is two events more.
 */
export function* csvOf(nation: Nation): Generator<string> {
  yield 'id,area,lat,lon,address,cadence,from\n'
  for (const [i, id] of nation.ids.entries()) {
    const lat = (6.4 + (i % 1_000) / 5_000).toFixed(4)
    const lon = (3.2 + (i % 997) / 3_000).toFixed(4)
    yield `${id},${areaOf(i, nation)},${lat},${lon},${i} Test Road,10m,2026-01-01T00:00:00Z\n`
  }
}

/** Places of sensors that rise. */
export const risingPlaces = ({ ids }: Nation): readonly number[] =>
  Array.from({ length: Math.ceil(ids.length / risingEach) }, (_, i) => i * risingEach)

export function pm25Of(place: number, minute: number): number {
  const isRising =
    place % risingEach === 0 && (place / risingEach + minute) % risesEveryMinutes === 0
  return isRising ? 160 : 8 + ((place + minute) % 40) / 10
}

/** Delays since the last look. */
export class Delays {
  #ms: number[] = []

  add(ms: number): void {
    this.#ms.push(ms)
  }

  take(): { readonly count: number; readonly p50: number; readonly p99: number } {
    const sorted = this.#ms.toSorted((a, b) => a - b)
    this.#ms = []
    const at = (share: number): number => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
    return { count: sorted.length, p50: at(0.5), p99: at(0.99) }
  }
}
