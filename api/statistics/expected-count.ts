import type { Stays } from '../live/sensor-table.ts'

/** How many readings should have been sent within [from, to): one per cadence. */
export type ExpectedCount = (fromMs: number, toMs: number) => number

/**
 * The same as `expectedReadings` for any number of spans: how many there should be grows in straight
 * lines, which break where a sensor comes or goes.
 * @param area only while they were there; undefined: anywhere
 */
export function expectedCount(sensors: Iterable<Stays>, area: string | undefined): ExpectedCount {
  const changes: { readonly timeMs: number; readonly perMs: number }[] = []
  for (const { sites, cadenceMs, retiredMs = Number.POSITIVE_INFINITY } of sensors) {
    for (const [at, site] of sites.entries()) {
      if (area !== undefined && site.area !== area) continue
      const endMs = Math.min(retiredMs, sites[at + 1]?.fromMs ?? Number.POSITIVE_INFINITY)
      if (endMs <= site.fromMs) continue
      changes.push({ timeMs: site.fromMs, perMs: 1 / cadenceMs })
      if (Number.isFinite(endMs)) changes.push({ timeMs: endMs, perMs: -1 / cadenceMs })
    }
  }
  const corners: { readonly timeMs: number; readonly count: number; readonly perMs: number }[] = []
  let last = { timeMs: 0, count: 0, perMs: 0 }
  for (const { timeMs, perMs } of changes.toSorted((a, b) => a.timeMs - b.timeMs)) {
    const count = last.count + (timeMs - last.timeMs) * last.perMs
    last = { timeMs, count, perMs: last.perMs + perMs }
    corners.push(last)
  }
  const until = (timeMs: number): number => {
    let low = -1
    for (let high = corners.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1
      if (corners[middle]!.timeMs <= timeMs) low = middle
      else high = middle - 1
    }
    const corner = corners[low]
    return corner === undefined ? 0 : corner.count + (timeMs - corner.timeMs) * corner.perMs
  }
  // a sum of parts may be a hair below the whole number that it is
  return (fromMs, toMs) => (fromMs < toMs ? Math.floor(until(toMs) - until(fromMs) + 1e-6) : 0)
}
