import { areaStats, noValues, statFields } from '../../store/stat-fields.ts'
import { stepCollector } from '../../store/step-collector.ts'
import type { AreaStats } from '../../store/store.ts'

/**
 * The statistics of a span from those of its parts, which must not overlap. Mean, deviation, minimum,
 * maximum and count are exact; quantiles are those of the parts' means.
 *
 * @returns undefined if no part holds a reading
 */
export function composeStats(parts: readonly AreaStats[]): AreaStats | undefined {
  const [first] = parts
  if (first === undefined) return undefined
  const steps = stepCollector(statFields, false)
  for (const { readings, failed, fields } of parts) {
    steps.addReadings(0, readings, failed ?? Number.NaN)
    for (const [at, field] of statFields.entries()) steps.addField(0, at, fields[field])
  }
  const [whole] = steps.finish()
  const startMs = Math.min(...parts.map((part) => part.startMs))
  const { readings = 0, leftOut = 0 } = whole ?? {}
  return areaStats(
    first.area,
    { startMs, readings, failed: leftOut },
    (field) => whole?.fields[field] ?? noValues,
  )
}
