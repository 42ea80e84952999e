import type { Asked } from './ask-series.ts'
import { stepMs } from './period.ts'
import { type Part, partsOf } from './series.ts'
import { words } from './words.ts'

type HeardProps = { readonly asked: Asked; readonly intervalMs: number }

/** When data came in, of what was asked for: a strip, also in words. */
export function Heard({ asked, intervalMs }: HeardProps) {
  const { series, shown } = asked
  const leastMs = Math.max(stepMs[shown.step], 2.5 * intervalMs)
  const parts = partsOf(series, leastMs === stepMs[shown.step] ? 0 : leastMs)
  const due = parts.filter(({ came }) => came !== undefined)
  if (due.length === 0) return null
  const heard = due.filter(({ came }) => came === true).length
  const names = words.heard.parts
  const name = leastMs > stepMs[shown.step] ? names.part : names[shown.step]
  const said =
    heard === due.length ? words.heard.all(heard, name) : words.heard.some(heard, due.length, name)
  // the last one may only have begun
  const isKnown = parts.slice(0, -1).every(({ came }) => came !== undefined)
  const length = shown.toMs - shown.fromMs
  return (
    <div class="heard">
      <svg
        viewBox="0 0 1000 10"
        preserveAspectRatio="none"
        role="img"
        aria-label={words.heard.label}
      >
        {runsOf(parts).map(({ fromMs, toMs, came }) => (
          <rect
            key={fromMs}
            class={came === undefined ? 'before' : came ? 'came' : 'silent'}
            x={((fromMs - shown.fromMs) / length) * 1000}
            width={((toMs - fromMs) / length) * 1000}
            y={came === false ? 5 : 0}
            height={came === false ? 5 : 10}
          />
        ))}
      </svg>
      <p class="hint">
        {said} {isKnown ? '' : words.heard.since}
      </p>
    </div>
  )
}

/** Neighbours that say the same are one. */
function runsOf(parts: readonly Part[]): readonly Part[] {
  const runs: Part[] = []
  for (const part of parts) {
    const last = runs.at(-1)
    if (last !== undefined && last.came === part.came && last.toMs === part.fromMs)
      runs[runs.length - 1] = { ...last, toMs: part.toMs }
    else runs.push(part)
  }
  return runs
}
