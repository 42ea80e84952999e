import { HttpError } from '../../runtime/http/http-error.ts'

/** What a person or a page receives instead of an answer. */
export class Refusal extends HttpError {
  override readonly name = 'Refusal'
}

export const tooMany = (waitMs: number): Refusal => {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new Refusal(429, 'too_many_requests', 'too many tries: wait a little and try again', {
    headers: { 'retry-after': String(seconds) },
  })
}

export const away = (code: string, message: string, cause?: unknown): Refusal =>
  new Refusal(503, code, message, { headers: { 'retry-after': '2' }, cause })
