import { format } from '../../texts.ts'
import { zone } from './time-zone.ts'

/** In the zone on show: the network's, unless the reader chose another one. */
export const localTime = (ms: number): string =>
  format.date(
    ms,
    {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    },
    zone.value,
  )

/** `Jan 2024` */
export const localMonth = (ms: number): string =>
  format.date(ms, { year: 'numeric', month: 'short' }, zone.value)
