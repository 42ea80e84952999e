import type { Context } from 'koa'
import type { Account } from '../../schemas/people/account.ts'

/** Who is signed in, as a request brings it. */
export type Session = {
  /** Its public name, for the list of sessions: never its token. */
  readonly id: string
  readonly account: Account
  /** Goes into every form and into header `x-csrf-token` of what a script sends. */
  readonly csrf: string
}

/**
 * One thing the dashboard answers. Sign-in, role, origin and CSRF token are judged before `handle`
 * is called (`app.ts`); what it throws becomes an answer in words.
 */
export type DashboardRoute = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Of the router: names as `:id`. */
  readonly path: string
} & (
  | { readonly needs: 'nobody'; readonly handle: (ctx: Context, session?: Session) => unknown }
  | {
      readonly needs: 'session' | 'operator'
      readonly handle: (ctx: Context, session: Session) => unknown
    }
)
