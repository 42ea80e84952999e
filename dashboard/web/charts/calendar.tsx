import { useMemo } from 'preact/hooks'
import { Failed, Loading } from '../parts/states.tsx'
import type { Target } from './ask-series.ts'
import { type MonthDays, monthsOf } from './calendar-months.ts'
import { IndexCell } from './index-cell.tsx'
import type { StepAnswer } from './series.ts'
import { useMeans } from './use-means.ts'
import { format, words } from './words.ts'

type ViewProps = { readonly target: Target; readonly newestMs: number }

/** The mean index of each day of a year, a small table for each month. */
export function Calendar({ target, newestMs }: ViewProps) {
  const wanted = { target, newestMs, interval: 'day', days: 365 } as const
  const { ref, value, error, again } = useMeans<StepAnswer>(wanted)
  const months = useMemo(() => value && monthsOf(value.statistics, value.zone), [value])
  return (
    <section ref={ref} class="calendar" aria-labelledby="calendar">
      <h3 id="calendar">{words.calendar.title}</h3>
      <p class="hint">{words.calendar.hint}</p>
      {error !== undefined && <Failed error={error} retry={again} />}
      {value === undefined && error === undefined && <Loading what={words.loading} />}
      {months?.length === 0 && <p class="muted">{words.calendar.empty}</p>}
      <div class="months">
        {months?.map((month) => (
          <Month key={month.fromMs} {...month} />
        ))}
      </div>
    </section>
  )
}

function Month({ fromMs, weeks }: MonthDays) {
  const name = format.date(fromMs, { month: 'long', year: 'numeric' }, 'UTC')
  return (
    <table>
      <caption>
        <span class="visually-hidden">{words.calendar.caption(name)}</span>
        <span aria-hidden="true">{name}</span>
      </caption>
      <thead>
        <tr>
          {weekdays.map((day) => (
            <th key={day} scope="col">
              <span aria-hidden="true">{format.date(day, { weekday: 'narrow' }, 'UTC')}</span>
              <span class="visually-hidden">{format.date(day, { weekday: 'long' }, 'UTC')}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((days) => (
          <tr key={days.find((day) => day !== undefined)?.localMs}>
            {days.map((day, at) =>
              day === undefined ? (
                <td key={at} />
              ) : (
                <IndexCell
                  key={at}
                  aqi={day.aqi}
                  title={format.date(
                    day.localMs,
                    { weekday: 'long', day: 'numeric', month: 'long' },
                    'UTC',
                  )}
                />
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Seven days from a Monday on. */
const weekdays = Array.from({ length: 7 }, (_, day) => Date.UTC(2024, 0, 1 + day))
