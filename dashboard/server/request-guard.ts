/** Whether a request that changes something was meant by the person whose browser sends it. */
import type { Context } from 'koa'
import { csrfOf, readCookie } from './cookies.ts'
import { Refusal } from './refusal.ts'
import type { Session } from './route.ts'
import { sentText } from './sent-body.ts'
import { isSameText } from './sessions.ts'

/**
 * Where the browser states which site made the request, it must be one of our pages. Old browsers
 * send only the origin; programs send neither, and need only the token.
 * @throws Refusal 403
 */
export function checkOrigin(ctx: Context, publicUrl: string): void {
  const site = ctx.req.headers['sec-fetch-site']
  const { origin } = ctx.req.headers
  const isOurs =
    site === undefined ? origin === undefined || origin === publicUrl : site === 'same-origin'
  if (isOurs) return
  throw new Refusal(
    403,
    'cross_site',
    'this was sent from another site: open the page here and try again',
  )
}

/**
 * The form's field `csrf`, or header `x-csrf-token`, must match the cookie.
 * @throws Refusal 403
 */
export function checkCsrf(ctx: Context, session: Session | undefined): void {
  const visit = readCookie(ctx.req, 'visit')
  const expected = session?.csrf ?? (visit === undefined ? undefined : csrfOf(visit))
  const sent = ctx.get('x-csrf-token') || sentText(ctx, 'csrf')
  if (expected !== undefined && isSameText(sent, expected)) return
  throw new Refusal(
    403,
    'stale_form',
    'the form is too old, or cookies are off: open the page again',
  )
}
