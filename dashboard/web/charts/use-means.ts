/** The mean index over the last months, in long steps: asked for when the reader scrolls to it. */
import { getJson } from '../data.ts'
import { startOfDay } from '../parts/time/local-clock.ts'
import { zone } from '../parts/time/time-zone.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { useSeen } from '../parts/use-seen.ts'
import { statisticsUrl, type Target } from './ask-series.ts'

type Wanted = {
  readonly target: Target
  readonly newestMs: number
  readonly interval: 'day' | 'hour_of_week'
  /** Whole local days, the one of the newest reading last. */
  readonly days: number
}

export function useMeans<Step>({ target, newestMs, interval, days }: Wanted) {
  const [ref, isSeen] = useSeen<HTMLElement>()
  const name = zone.value
  const newestDay = startOfDay(newestMs, name)
  const answer = useAnswer(
    async (signal) => {
      if (!isSeen) return undefined
      const url = statisticsUrl(target, {
        interval,
        timezone: name,
        start_time: new Date(startOfDay(newestDay, name, 1 - days)).toISOString(),
        end_time: new Date(startOfDay(newestDay, name, 1)).toISOString(),
        measurements: 'pm25',
        numbers: 'mean',
        // hours of the week are one page, which takes no limit
        ...(interval === 'day' && { limit: '400' }),
      })
      const { statistics } = await getJson<{ statistics: readonly Step[] }>(url, { signal })
      return { statistics, zone: name }
    },
    [isSeen, name, newestDay],
  )
  return { ...answer, ref }
}
