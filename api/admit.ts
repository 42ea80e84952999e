/** Admits a request: is the key valid, is quota left, and is the key still valid after the wait? */
import type { Charge } from '../core/access/quota.ts'
import type { AuthHeaders, KeyGuard } from './access/key-guard.ts'
import type { StreamTokens } from './access/stream-tokens.ts'
import type { Caller } from './http/answer.ts'
import type { Quota } from './quota/quota.ts'
import { quotaHeaders } from './quota/standing.ts'

export type Admitted = {
  readonly caller: Caller
  /** Headers with the state of the account's quota, for the answer, whatever it is. */
  readonly headers: Readonly<Record<string, string>>
  /** For an answer that does not count. */
  readonly refund: () => void
}

type Asking = {
  /** Counts instead of the headers. */
  readonly token?: string | undefined
  /** Called as soon as it is known who asks: the request may still be refused. */
  readonly onCaller?: (caller: Caller) => void
}

/** @throws ApiError 401, 429, 503 */
export type Admit = (headers: AuthHeaders, ask: Charge, asking?: Asking) => Promise<Admitted>

type Options = {
  /** Resolves when the keys in memory are current, or when it has waited long enough for that. */
  readonly freshen: () => Promise<void>
  readonly guard: KeyGuard
  readonly tokens: Pick<StreamTokens, 'open'>
  readonly quota: Pick<Quota, 'charge' | 'refund'>
  /** Called with every key that was admitted. */
  readonly onUsed: (key: string) => void
}

export const createAdmit =
  ({ freshen, guard, tokens, quota, onUsed }: Options): Admit =>
  async (headers, ask, { token, onCaller } = {}) => {
    await freshen()
    const caller = token === undefined ? guard(headers) : guard(headers, await tokens.open(token))
    onCaller?.(caller)
    if (caller.isInternal) return { caller, headers: {}, refund: () => undefined }
    const standing = await quota.charge(caller.account, ask)
    onUsed(caller.key)
    return { caller, headers: quotaHeaders(standing), refund: () => quota.refund(standing) }
  }

/** Answers that do not count: nothing new, refused after the charge, or our own failure. */
export const isRefunded = (status: number): boolean =>
  status === 304 || status === 401 || status === 429 || status >= 500
