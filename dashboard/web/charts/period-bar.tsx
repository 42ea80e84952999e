import { useState } from 'preact/hooks'
import { serverMs } from '../parts/time/clock.ts'
import { dateText } from '../parts/time/local-clock.ts'
import { zone, zoneName } from '../parts/time/time-zone.ts'
import { moved, type Period, readPeriod, type Shown, spanNames, usualPeriod } from './period.ts'
import { format, words } from './words.ts'
import { ZoneSwitch } from './zone-switch.tsx'

type BarProps = {
  readonly period: Period
  /** undefined while it loads. */
  readonly shown: Shown | undefined
  readonly choose: (period: Period) => void
}

/** Which time the charts show, and in which zone. */
export function PeriodBar({ period, shown, choose }: BarProps) {
  const name = zone.value
  const earlier = shown && moved(shown, -1, name, serverMs())
  const later = shown && moved(shown, 1, name, serverMs())
  return (
    <header class="period-bar">
      <div class="row between">
        <h2 id="history">{words.title}</h2>
        <ZoneSwitch />
      </div>
      <div class="row">
        <div class="segments" role="group" aria-label={words.period.label}>
          {spanNames.map((span) => (
            <button
              key={span}
              type="button"
              aria-pressed={period.kind === 'span' && period.span === span}
              onClick={() => choose({ kind: 'span', span })}
            >
              {words.period.spans[span]}
            </button>
          ))}
        </div>
        <Dates period={period} shown={shown} choose={choose} />
        <div class="row steps">
          <button
            type="button"
            class="quiet"
            disabled={earlier === undefined}
            onClick={() => earlier && choose(earlier)}
          >
            ‹ {words.period.earlier}
          </button>
          <button
            type="button"
            class="quiet"
            disabled={later === undefined || shown?.isOpen === true}
            onClick={() => later && choose(later)}
          >
            {words.period.later} ›
          </button>
          {period.kind === 'dates' && (
            <button type="button" class="quiet" onClick={() => choose(usualPeriod)}>
              {words.period.newest}
            </button>
          )}
        </div>
      </div>
      <p class="period-shown" role="status">
        {shown !== undefined && (
          <>
            <strong>{spanText(shown, name)}</strong>{' '}
            <span class="hint">{words.zone.times(zoneName(name, shown.toMs))}</span>
          </>
        )}
      </p>
    </header>
  )
}

/** Whole days by their dates, others with the time. */
export function spanText({ fromMs, toMs }: Shown, name: string): string {
  const time = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const
  const date = { day: 'numeric', month: 'short', year: 'numeric' } as const
  if (toMs - fromMs > 9 * 86_400_000)
    return `${format.date(fromMs, date, name)} – ${format.date(toMs - 1, date, name)}`
  return `${format.date(fromMs, time, name)} – ${format.date(toMs, { ...time, year: 'numeric' }, name)}`
}

/** Any days, by a form that a keyboard and a phone know how to fill. */
function Dates({ period, shown, choose }: BarProps) {
  const [isOpen, setOpen] = useState(false)
  const name = zone.value
  const today = dateText(serverMs(), name)
  const usual = shown && { from: dateText(shown.fromMs, name), to: dateText(shown.toMs - 1, name) }
  const given = period.kind === 'dates' ? period : (usual ?? { from: today, to: today })
  return (
    <details
      class="dates"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary class={period.kind === 'dates' ? 'is-chosen' : ''}>{words.period.dates}</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const data = new FormData(event.currentTarget)
          const [from, to] = [data.get('from'), data.get('to')]
          if (typeof from !== 'string' || typeof to !== 'string') return
          const chosen = readPeriod(`${from}..${to}`)
          if (chosen.kind !== 'dates') return
          setOpen(false)
          choose(chosen)
        }}
      >
        <label class="field">
          {words.period.from}
          <input type="date" name="from" required max={today} value={given.from} />
        </label>
        <label class="field">
          {words.period.to}
          <input type="date" name="to" required max={today} value={given.to} />
        </label>
        <button type="submit" class="primary">
          {words.period.show}
        </button>
      </form>
    </details>
  )
}
