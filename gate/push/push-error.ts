/** What whoever pushes hears instead of "stored". */
export type ErrorDetails = Readonly<Record<string, unknown>>

type Rest = {
  readonly details?: ErrorDetails
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

export class PushError extends Error {
  override readonly name = 'PushError'
  readonly status: number
  /** A word for programs and metrics; `message` is for people. */
  readonly code: string
  readonly details: ErrorDetails
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    { details = {}, headers = {}, cause }: Rest = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.status = status
    this.code = code
    this.details = details
    this.headers = headers
  }
}

/** Right as it is, but not now. @param seconds after which it may be taken */
export const notNow = (status: 429 | 503, code: string, message: string, seconds: number) =>
  new PushError(status, code, message, { headers: { 'retry-after': String(seconds) } })

/** The same envelope as that of `/v1`. */
export const errorBody = (
  { code, message, details }: Pick<PushError, 'code' | 'message' | 'details'>,
  requestId: string,
): Buffer =>
  Buffer.from(
    JSON.stringify({ status: 'error', error: { code, message, details }, request_id: requestId }),
  )
