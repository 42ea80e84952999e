import { HttpError } from '../runtime/http-error.ts'

/** What the caller hears instead of an answer. HTTP's numbers and words live in this folder alone. */
export class ApiError extends HttpError {
  override readonly name = 'ApiError'
}

/** A wrong value: names the parameter, what was given (cut short) and what would be right. */
export const badParameter = (parameter: string, given: string, expected: string): ApiError =>
  new ApiError(400, 'bad_parameter', `${parameter} must be ${expected}`, {
    details: { parameter, given: given.slice(0, 100), expected },
  })

/** Something we lean on is away: the same request may succeed after `retryAfterSeconds`. */
export const unavailable = (code: string, message: string, cause?: unknown): ApiError =>
  new ApiError(503, code, message, {
    headers: { 'retry-after': String(retryAfterSeconds) },
    cause,
  })

const retryAfterSeconds = 2
