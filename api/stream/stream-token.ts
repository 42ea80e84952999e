import { formatIsoMs } from '../../core/iso-time.ts'
import { jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { ApiError } from '../http/api-error.ts'

type Options = {
  /** @throws ApiError 503 */
  readonly make: (
    keyHash: string,
  ) => Promise<{ readonly token: string; readonly expiresMs: number }>
}

/** POST /v1/stream/token: for a page, whose EventSource cannot send a key. The stream is charged, not this. */
export const makeStreamToken = ({ make }: Options): Route => ({
  method: 'POST',
  path: '/v1/stream/token',
  params: [],
  types: [jsonType],
  isUncharged: true,
  answer: async ({ caller }) => {
    if (caller === undefined || caller.isInternal) {
      throw new ApiError(
        404,
        'not_found',
        'tokens belong to API keys of accounts; make one in the dashboard',
      )
    }
    const { token, expiresMs } = await make(caller.keyHash)
    const url = `/v1/stream?token=${token}`
    return jsonAnswer({ status: 'success', token, url, expires_at: formatIsoMs(expiresMs) })
  },
})
