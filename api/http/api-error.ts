import { HttpError } from '../../runtime/http/http-error.ts'
import type { ApiErrorCode } from './api-errors.ts'

type Rest = ConstructorParameters<typeof HttpError>[3]

/** What the caller gets instead of an answer. HTTP status numbers are only in this folder. */
export class ApiError extends HttpError {
  override readonly name = 'ApiError'

  /**
   * @param code one of the table, from which the document and docs/api.md are written; or that of a
   * client that has gone, which is never sent: metrics count it
   */
  constructor(
    status: number,
    code: ApiErrorCode | 'client_gone',
    message: string,
    rest: Rest = {},
  ) {
    super(status, code, message, rest)
  }
}

/**
 * A wrong value: names the parameter, what was given (shortened) and what is valid.
 * @param given undefined: it is missing
 */
export const badParameter = (
  parameter: string,
  given: string | undefined,
  expected: string,
): ApiError =>
  new ApiError(
    400,
    'bad_parameter',
    given === undefined
      ? `${parameter} is missing: give ${expected}`
      : `${parameter} must be ${expected}`,
    { details: { parameter, given: given?.slice(0, 100) ?? null, expected } },
  )

/** A service we depend on is away: the same request may succeed after `retryAfterSeconds`. */
export const unavailable = (code: ApiErrorCode, message: string, cause?: unknown): ApiError =>
  new ApiError(503, code, message, {
    headers: { 'retry-after': String(retryAfterSeconds) },
    cause,
  })

const retryAfterSeconds = 2

/** Never sent: metrics count it, and it is not refunded. */
export const clientGone = (): ApiError =>
  new ApiError(499, 'client_gone', 'the client closed the connection before the answer')
