import { hash } from 'node:crypto'
import { apiKeyPrefix, makeKey } from '../core/access/api-key.ts'
import { formatIso } from '../core/iso-time.ts'
import { dayMs } from '../core/time.ts'
import type { KeyRecord } from '../schemas/people/account.ts'

/** The only key of the bench, for an instance of some minutes. */
export const key = makeKey(apiKeyPrefix, new Uint8Array(64).fill(7))

export function keyRecord(): { readonly hash: string; readonly record: KeyRecord } {
  const record: KeyRecord = {
    id: 'key-bench',
    account: 'bench',
    // quotas have a benchmark of their own
    internal: true,
    name: 'bench',
    hint: key.slice(0, 8),
    created_at: formatIso(Date.now()),
    expires_at: formatIso(Date.now() + dayMs),
  }
  return { hash: hash('sha256', key), record }
}
