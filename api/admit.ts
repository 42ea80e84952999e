/** Lets a request in: who asks, is there quota left, and is the key still good behind the wait? */
import type { Charge } from '../core/access/quota.ts'
import type { Credentials, KeyGuard } from './access/key-guard.ts'
import type { Caller } from './http/answer.ts'
import type { Quota } from './quota/quota.ts'
import { quotaHeaders } from './quota/standing.ts'

export type Admitted = {
  readonly caller: Caller
  /** How the account stands with its quota, for the answer, whatever that will be. */
  readonly headers: Readonly<Record<string, string>>
  /** For an answer that does not count. */
  readonly refund: () => void
}

/** @throws ApiError 401, 429, 503 */
export type Admit = (credentials: Credentials, ask: Charge) => Promise<Admitted>

type Options = {
  readonly guard: KeyGuard
  readonly quota: Pick<Quota, 'charge' | 'refund'>
  /** Told of every key that was let in. */
  readonly onUsed: (key: string) => void
}

export const createAdmit =
  ({ guard, quota, onUsed }: Options): Admit =>
  async (credentials, ask) => {
    const caller = guard(credentials)
    if (caller.isInternal) return { caller, headers: {}, refund: () => undefined }
    const standing = await quota.charge(caller.account, ask)
    onUsed(caller.key)
    return { caller, headers: quotaHeaders(standing), refund: () => quota.refund(standing) }
  }

/** Answers that do not count: nothing new, refused behind the charge, or our own failure. */
export const isRefunded = (status: number): boolean =>
  status === 304 || status === 401 || status === 429 || status >= 500
