import type { Stays } from '../live/sensor-table.ts'
import type { Period } from './cut-period.ts'

/**
 * How many readings the sensors should have sent from an area: one per cadence while they were
 * there. @param area undefined: anywhere
 */
export function expectedReadings(
  sensors: Iterable<Stays>,
  area: string | undefined,
  { fromMs, toMs }: Period,
): number {
  let expected = 0
  for (const { sites, cadenceMs, retiredMs = Number.POSITIVE_INFINITY } of sensors) {
    sites.forEach((site, i) => {
      if (area !== undefined && site.area !== area) return
      const start = Math.max(fromMs, site.fromMs)
      const end = Math.min(toMs, retiredMs, sites[i + 1]?.fromMs ?? Number.POSITIVE_INFINITY)
      if (end > start) expected += Math.floor((end - start) / cadenceMs)
    })
  }
  return expected
}
