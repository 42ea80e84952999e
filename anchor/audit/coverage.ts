import { leafNow } from '../../core/proof/leaf.ts'

/**
 * What a report without findings vouches for, and what it does not. Only what is hashed can be held
 * against the chain; the rest, if asked for, is compared with what the operator has.
 */
export type Coverage = {
  readonly checked: readonly string[]
  readonly not_checked: readonly string[]
  /** Checked, but not against the chain. */
  readonly compared: readonly string[]
}

/** The columns of a row that its leaf is made of. */
const hashed = ['sensor', 'time', 'number', ...leafNow.values, 'aqi'] as const
/** What else the store holds. */
const notHashed = ['area', 'flags', 'statistics of areas'] as const

export function coverageOf(rows: object | null, compared: readonly string[] = []): Coverage {
  if (rows === null) return { checked: [], compared: [], not_checked: ['rows', ...notHashed] }
  const not_checked = notHashed.filter((name) => !compared.includes(name))
  return { checked: hashed, compared, not_checked }
}
