import { type UsCategory, usBands } from '../../../../core/air/index/us-bands.ts'

/** A part of a chart's scale that belongs to a category, in the chart's own unit. */
export type Zone = { readonly category: UsCategory; readonly from: number; readonly to: number }

const perUnit = { aqi: 1, pm25: 10, pm10: 1 } as const

/**
 * The places of the categories on the scale of the index or of a pollutant; none for quantities
 * without an index. The last one has no end.
 */
export function zonesOf(name: string): readonly Zone[] {
  if (name !== 'aqi' && name !== 'pm25' && name !== 'pm10') return []
  return usBands.map((band, at) => ({
    category: band.category,
    from: band[name].low / perUnit[name],
    to: (usBands[at + 1]?.[name].low ?? Number.POSITIVE_INFINITY) / perUnit[name],
  }))
}
