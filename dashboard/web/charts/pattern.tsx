import { Failed, Loading } from '../parts/states.tsx'
import type { Target } from './ask-series.ts'
import { IndexCell } from './index-cell.tsx'
import { useMeans } from './use-means.ts'
import { format, words } from './words.ts'

type ViewProps = { readonly target: Target; readonly newestMs: number }
type Hour = {
  readonly weekday: string
  readonly hour: number
  readonly aqi: { readonly mean?: number | null }
}

const days = 84
const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const
const hours = Array.from({ length: 24 }, (_, hour) => hour)

/** The mean index of each hour of the week. */
export function Pattern({ target, newestMs }: ViewProps) {
  const { ref, value, error, again } = useMeans<Hour>({
    target,
    newestMs,
    interval: 'hour_of_week',
    days,
  })
  const measured = (value?.statistics ?? []).filter(({ aqi }) => typeof aqi.mean === 'number')
  return (
    <section ref={ref} class="pattern" aria-labelledby="pattern">
      <h3 id="pattern">{words.pattern.title}</h3>
      <p class="hint">{words.pattern.hint(words.pattern.weeks)}</p>
      {error !== undefined && <Failed error={error} retry={again} />}
      {value === undefined && error === undefined && <Loading what={words.loading} />}
      {value !== undefined && measured.length === 0 && <p class="muted">{words.pattern.empty}</p>}
      {measured.length > 0 && <Week hours={measured} />}
    </section>
  )
}

function Week({ hours: measured }: { readonly hours: readonly Hour[] }) {
  const aqiOf = new Map(measured.map(({ weekday, hour, aqi }) => [`${weekday} ${hour}`, aqi.mean]))
  const sorted = measured.toSorted((a, b) => (a.aqi.mean ?? 0) - (b.aqi.mean ?? 0))
  const said = (one: Hour | undefined, sentence: typeof words.pattern.worst): string => {
    const day = weekdays.find((known) => known === one?.weekday)
    if (one === undefined || day === undefined) return ''
    return sentence(words.pattern.weekdays[day], clock(one.hour), format.number(one.aqi.mean ?? 0))
  }
  return (
    <>
      <p>
        {said(sorted.at(-1), words.pattern.worst)} {said(sorted[0], words.pattern.best)}
      </p>
      <div class="table" role="region" aria-label={words.pattern.caption} tabIndex={0}>
        <table>
          <caption class="visually-hidden">{words.pattern.caption}</caption>
          <thead>
            <tr>
              <th scope="col">
                <span class="visually-hidden">{words.pattern.hour}</span>
              </th>
              {hours.map((hour) => (
                <th key={hour} scope="col" class="number">
                  {hour}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {weekdays.map((day) => (
              <tr key={day}>
                <th scope="row">{words.pattern.weekdays[day].slice(0, 3)}</th>
                {hours.map((hour) => (
                  <IndexCell
                    key={hour}
                    aqi={aqiOf.get(`${day} ${hour}`)}
                    title={`${words.pattern.weekdays[day]} ${clock(hour)}`}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`
