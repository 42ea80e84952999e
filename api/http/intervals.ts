/** The steps of statistics, in local time; the last three gather them from a whole period. */
export const intervals = [
  '10_minutes',
  'hour',
  '3_hours',
  'day',
  'month',
  'year',
  'hour_of_day',
  'weekday',
  'hour_of_week',
] as const
export type Interval = (typeof intervals)[number]
