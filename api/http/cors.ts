/**
 * Pages of any origin may call the API. No cookie counts here: a key travels in a header that the
 * page itself sets, so a page has nothing that its user did not give it. Errors carry the headers
 * too, or a page could not read them.
 */
import type { Context } from 'koa'

/** What pages may call: the interface, and what is open to anyone. */
export const isForPages = (path: string): boolean =>
  ['/v1/', '/proof/', '/archive/'].some((start) => path.startsWith(start)) ||
  path === '/.well-known/airproof.json'

/**
 * Sent whether or not a request names its origin, so that caches need not tell them apart. The
 * second `*` is every header, as no request has credentials in the sense of the Fetch standard.
 */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': '*',
} as const

const daySeconds = 86_400

/**
 * The same at every address, also at one that does not exist: the request itself then gets an error
 * that the page can read. `*` would not include Authorization.
 */
const preflightHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
  'access-control-allow-headers':
    'Authorization, Accept, Content-Type, If-None-Match, If-Range, Range, Idempotency-Key, Last-Event-ID',
  'access-control-max-age': String(daySeconds),
} as const

/** Answers the question of a browser whether its page may call. It has no key, and is not charged. */
export function answerPreflight(ctx: Context, requestId: string): void {
  ctx.respond = false
  ctx.res.writeHead(204, { ...preflightHeaders, 'x-request-id': requestId }).end()
}
