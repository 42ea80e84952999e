/** What a person or a page hears instead of an answer. */
type Rest = {
  readonly details?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  /** A word for programs; `message` is for people. */
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>
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

export const tooMany = (waitMs: number): Refusal => {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new Refusal(429, 'too_many_requests', 'too many tries: wait a little and try again', {
    headers: { 'retry-after': String(seconds) },
  })
}

export const away = (code: string, message: string, cause?: unknown): Refusal =>
  new Refusal(503, code, message, { headers: { 'retry-after': '2' }, cause })
