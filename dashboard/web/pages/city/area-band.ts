export type Series = readonly {
  readonly start_time: string
  readonly aqi: {
    readonly average: number | null
    readonly min: number | null
    readonly max: number | null
  }
}[]

const hourS = 3600

/**
 * Hours as a chart wants them: each at its middle, an hour without readings a gap. Times are seconds
 * since 1970.
 */
export function bandOf(
  series: Series,
  period: { readonly start_time: string; readonly end_time: string },
) {
  const from = Math.floor(Date.parse(period.start_time) / 1000)
  const to = Math.floor(Date.parse(period.end_time) / 1000)
  const byHour = new Map(
    series.map(({ start_time: start, aqi }) => [hourOf(Date.parse(start) / 1000), aqi]),
  )
  const xs: number[] = []
  const ys: (number | null)[] = []
  const low: (number | null)[] = []
  const high: (number | null)[] = []
  for (let hour = hourOf(from); hour < to; hour += hourS) {
    const aqi = byHour.get(hour)
    xs.push(Math.min(to, Math.max(from, hour + hourS / 2)))
    ys.push(aqi?.average ?? null)
    low.push(aqi?.min ?? null)
    high.push(aqi?.max ?? null)
  }
  return { xs, ys, band: { low, high }, from, to }
}

const hourOf = (seconds: number): number => Math.floor(seconds / hourS) * hourS
