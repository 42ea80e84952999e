import { createNetworkBook } from '../../core/access/rate-book.ts'
import type { RateLimit } from '../../core/access/rate-limit.ts'
import { secondMs } from '../../core/time.ts'
import { ApiError } from './api-error.ts'

type Options = {
  readonly limit: RateLimit
  /** A clock that never goes back, in ms. */
  readonly clockMs: () => number
  /** Bound on the networks that are remembered; the least recently seen is forgotten. */
  readonly most?: number
}

/** For routes that need no key: limits how often each network may call. @throws ApiError 429 */
export function rateByNetwork({
  limit,
  clockMs,
  most = 10_000,
}: Options): (network: string) => void {
  const book = createNetworkBook(most)
  return (network) => {
    const ms = book.waitMs(network, limit, clockMs())
    if (ms === 0) return
    throw new ApiError(429, 'too_many_requests', 'too many requests from this address', {
      headers: { 'retry-after': String(Math.max(1, Math.ceil(ms / secondMs))) },
    })
  }
}
