/** What a report without findings vouches for, and what it does not: only what is hashed can be held against the chain. */
export type Coverage = {
  readonly checked: readonly string[]
  readonly not_checked: readonly string[]
}

/** The columns of a row that its leaf is made of. */
const hashed = [
  'sensor',
  'time',
  'number',
  'pm25',
  'pm10',
  'co2',
  'temperature',
  'humidity',
  'aqi',
] as const
/** What the store holds besides. */
const notHashed = ['area', 'flags', 'statistics of areas'] as const

export const coverageOf = (rows: object | null): Coverage =>
  rows === null
    ? { checked: [], not_checked: ['rows', ...notHashed] }
    : { checked: hashed, not_checked: notHashed }
