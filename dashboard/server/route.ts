import type { Context } from 'koa'
import type { Account } from '../../schemas/people/account.ts'

/** The session of a request. */
export type Session = {
  /** Its public name, for the list of sessions: never its token. */
  readonly id: string
  readonly account: Account
  /** In every form, and in header `x-csrf-token` of a script's requests. */
  readonly csrf: string
}

/**
 * One route of the dashboard. Sign-in, role, origin and CSRF token are checked before `handle`
 * is called (`app.ts`); what it throws becomes an answer in words.
 */
export type DashboardRoute = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Of the router: names as `:id`. */
  readonly path: string
  /** Bytes of its body, where it takes more than others; only the signed-in may send them. */
  readonly longestBody?: number
} & (
  | { readonly needs: 'none'; readonly handle: (ctx: Context, session?: Session) => unknown }
  | {
      readonly needs: 'session' | 'operator'
      readonly handle: (ctx: Context, session: Session) => unknown
    }
)
