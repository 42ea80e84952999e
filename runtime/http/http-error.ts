type ErrorDetails = Readonly<Record<string, unknown>>

type Rest = {
  readonly details?: ErrorDetails
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** An error response. The server that sends it decides its form. */
export class HttpError extends Error {
  readonly status: number
  /** A word for programs; `message` is for people. */
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
