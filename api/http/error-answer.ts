import type { Context } from 'koa'
import { ArchiveUnreadable } from '../../operate/archive/archive-unreadable.ts'
import { STATUS_CODES } from '../../runtime/http/node-http.ts'
import { StoreMisconfigured, StoreUnavailable } from '../../store/store.ts'
import { ApiError, unavailable } from './api-error.ts'

/** What the caller gets for a failure; details that are only ours stay in the log. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof ArchiveUnreadable)
    return unavailable('archive_unavailable', thrown.message, thrown)
  if (thrown instanceof StoreUnavailable || thrown instanceof StoreMisconfigured) {
    return unavailable('history_unavailable', 'the history cannot be read right now', thrown)
  }
  return new ApiError(500, 'internal', 'something went wrong on our side', { cause: thrown })
}

/** The envelope of every error, or the same as RFC 9457 problem details. */
export function errorBody(error: ApiError, requestId: string, asProblem: boolean): Buffer {
  const { status, code, message, details } = error
  const value = asProblem
    ? {
        type: 'about:blank',
        title: STATUS_CODES[status] ?? 'Error',
        status,
        detail: message,
        code,
        details,
        request_id: requestId,
      }
    : { status: 'error', error: { code, message, details }, request_id: requestId }
  return Buffer.from(JSON.stringify(value))
}

export const problemType = 'application/problem+json'

export function writeError(
  ctx: Context,
  error: ApiError,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { accept = '' } = ctx.req.headers
  const asProblem =
    accept.includes(problemType) && ctx.accepts('application/json', problemType) === problemType
  const body = errorBody(error, requestId, asProblem)
  ctx.respond = false
  ctx.res.writeHead(error.status, {
    'content-type': asProblem ? problemType : 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    ...headers,
    ...error.headers,
    'x-request-id': requestId,
  })
  ctx.res.end(ctx.method === 'HEAD' ? undefined : body)
}
