import type { components } from './schema.ts'

type Failure = components['schemas']['Error']

/** The server could not be reached, or the connection kept breaking. */
export class Disconnected extends Error {
  override readonly name = 'Disconnected'
}

/** The server refused; `code` says why, for programs. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly details: Failure['error']['details']
  readonly requestId: string | null
  /** Seconds, or a date; null: there is no point in waiting. */
  readonly retryAfter: string | null

  constructor({ status, headers, statusText }: Response, body: unknown) {
    const error = isFailure(body) ? body.error : { code: 'http', message: statusText, details: {} }
    super(`${status} ${error.code}: ${error.message}`)
    this.status = status
    this.code = error.code
    this.details = error.details
    this.requestId = headers.get('x-request-id')
    this.retryAfter = headers.get('retry-after')
  }
}

/** A proxy may answer in a form of its own. */
const isFailure = (body: unknown): body is Failure =>
  typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'object'
