import { HttpError } from '../../runtime/http/http-error.ts'

/** What the client receives instead of "stored". Its code is in the metrics too. */
export class PushError extends HttpError {
  override readonly name = 'PushError'
}

/** Valid, but not possible now. @param seconds after which it may be taken */
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

export const toPushError = (thrown: unknown): PushError =>
  thrown instanceof PushError
    ? thrown
    : new PushError(500, 'internal', 'something went wrong on our side', { cause: thrown })
