/** The steps of statistics, in local time; the last two gather them from a whole period. */
export const intervals = ['hour', 'day', 'month', 'year', 'hour_of_day', 'weekday'] as const
export type Interval = (typeof intervals)[number]
