import type { Day } from './usage-page.tsx'

const width = 600
const height = 150
const left = 44
const bottom = 20
const top = 8

type ChartProps = {
  /** Oldest first. */
  readonly days: readonly Day[]
  readonly limit: number
}

/** A bar a day; the line of the limit where a day came near it. */
export function UsageChart({ days, limit }: ChartProps) {
  const most = Math.max(1, ...days.map(({ used }) => used))
  const isNear = most >= 0.5 * limit
  const scale = isNear ? Math.max(most, limit) : most
  const total = days.reduce((sum, { used }) => sum + used, 0)
  const yOf = (value: number): number => height - bottom - ((height - bottom - top) * value) / scale
  const step = (width - left) / Math.max(1, days.length)
  return (
    <svg
      class="days"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${total} requests in ${days.length} days, at most ${most} on one`}
    >
      <text x={left - 6} y={yOf(scale) + 8} text-anchor="end">
        {scale.toLocaleString()}
      </text>
      <text x={left - 6} y={yOf(0)} text-anchor="end">
        0
      </text>
      <line class="base" x1={left} x2={width} y1={yOf(0)} y2={yOf(0)} />
      {days.map(({ date, used }, i) => (
        <rect
          key={date}
          x={left + i * step + 1}
          width={Math.max(1, step - 3)}
          y={used === 0 ? yOf(0) : Math.min(yOf(used), yOf(0) - 2)}
          height={used === 0 ? 0 : Math.max(2, yOf(0) - yOf(used))}
          rx="2"
        >
          <title>{`${date}: ${used.toLocaleString()}`}</title>
        </rect>
      ))}
      {isNear && (
        <line class="limit" x1={left} x2={width} y1={yOf(limit)} y2={yOf(limit)}>
          <title>{`limit: ${limit.toLocaleString()}`}</title>
        </line>
      )}
      <text x={left} y={height - 4}>
        {days[0]?.date}
      </text>
      <text x={width} y={height - 4} text-anchor="end">
        {days.at(-1)?.date}
      </text>
    </svg>
  )
}
