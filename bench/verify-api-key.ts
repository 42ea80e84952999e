import { hash } from 'node:crypto'
import { apiKeyPrefix, makeKey } from '../core/access/api-key.ts'
import { formatIso } from '../core/iso-time.ts'
import { dayMs } from '../core/time.ts'
import type { KeyRecord } from '../schemas/people/account.ts'

/** Of the n-th account of the bench, for an instance of some minutes. */
export const keyOf = (n: number): string => makeKey(apiKeyPrefix, new Uint8Array(64).fill(7 + n))
export const key = keyOf(0)

export function keyRecord(n = 0): { readonly hash: string; readonly record: KeyRecord } {
  const record: KeyRecord = {
    id: `key-bench-${n}`,
    account: `bench-${n}`,
    // quotas have a benchmark of their own
    internal: true,
    name: 'bench',
    hint: keyOf(n).slice(0, 8),
    created_at: formatIso(Date.now()),
    expires_at: formatIso(Date.now() + dayMs),
  }
  return { hash: hash('sha256', keyOf(n)), record }
}
