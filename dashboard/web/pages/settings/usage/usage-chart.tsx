import { accountTexts } from '../../../account-texts.ts'
import { format } from '../../../texts.ts'

const { usage: words } = accountTexts.settings

export type Day = { /** UTC */ readonly date: string; readonly used: number }

/** @param date such as 2026-11-23, of UTC */
export const utcDay = (date: string | undefined): string =>
  date === undefined
    ? ''
    : format.date(Date.parse(date), { year: 'numeric', month: 'short', day: 'numeric' }, 'UTC')

const height = 100

type ChartProps = {
  /** Oldest first. */
  readonly days: readonly Day[]
  readonly limit: number
}

/** A bar per day; a line at the limit where a day was near it. */
export function UsageChart({ days, limit }: ChartProps) {
  const most = Math.max(1, ...days.map(({ used }) => used))
  const isNear = most >= 0.5 * limit
  const scale = isNear ? Math.max(most, limit) : most
  const total = days.reduce((sum, { used }) => sum + used, 0)
  const barOf = (used: number): number =>
    used === 0 ? 0 : Math.max(2, (0.94 * height * used) / scale)
  const limitY = height - barOf(limit)
  return (
    <figure class="days">
      <div class="row between muted">
        <span>{words.inAll(total)}</span>
        <span>{words.mostOnOneDay(Math.max(0, ...days.map(({ used }) => used)))}</span>
      </div>
      <svg
        viewBox={`0 0 ${10 * days.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words.chart(total, days.length)}
      >
        {days.map(({ date, used }, i) => (
          <rect key={date} x={10 * i + 1} width="8" y={height - barOf(used)} height={barOf(used)}>
            <title>{words.dayTitle(utcDay(date), used)}</title>
          </rect>
        ))}
        {isNear && (
          <line x1="0" x2={10 * days.length} y1={limitY} y2={limitY}>
            <title>{words.limitTitle(limit)}</title>
          </line>
        )}
      </svg>
      <figcaption class="row between hint">
        <span>{utcDay(days[0]?.date)}</span>
        {isNear && <span>{words.limitLine}</span>}
        <span>{utcDay(days.at(-1)?.date)}</span>
      </figcaption>
    </figure>
  )
}
