import type { Bar } from './bar.ts'
import './bars.css'

type BarsProps = {
  /** The whole chart in words: the bars are for eyes only. */
  readonly label: string
  readonly bars: readonly Bar[]
}

const height = 28
const countOf = ({ parts }: Bar): number => parts.reduce((sum, { count }) => sum + count, 0)

/** A bar for each step of time, of parts one upon the other; without axes, for a row or a head. */
export function Bars({ label, bars }: BarsProps) {
  const most = Math.max(1, ...bars.map(countOf))
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${6 * bars.length} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {bars.map((bar, i) => {
        let bottom = height
        return (
          <g key={i}>
            <title>{bar.title}</title>
            <rect class="ground" x={6 * i} y="0" width="5" height={height} />
            {bar.parts
              .filter(({ count }) => count > 0)
              .map(({ kind, count }) => {
                // what happened once is still seen beside a thousand
                const tall = Math.max(3, (height * count) / most)
                bottom -= tall
                return <rect key={kind} class={kind} x={6 * i} y={bottom} width="5" height={tall} />
              })}
          </g>
        )
      })}
    </svg>
  )
}
