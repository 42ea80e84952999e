import { networkOf } from '../core/network-of.ts'
import { createRateBook } from '../core/rate-book.ts'
import type { RateLimit } from '../core/rate-limit.ts'
import { secondMs } from '../core/time.ts'
import { ApiError } from './api-error.ts'

type Options = {
  readonly limit: RateLimit
  /** A clock that never goes back, in ms. */
  readonly clockMs: () => number
  /** Bound on the addresses that are remembered; who was not heard of longest is forgotten. */
  readonly most?: number
}

/** For routes that need no key: each address may ask so often. @throws ApiError 429 */
export function rateByAddress({
  limit,
  clockMs,
  most = 10_000,
}: Options): (address: string) => void {
  const book = createRateBook(most)
  return (address) => {
    const ms = book.waitMs(networkOf(address), limit, clockMs())
    if (ms === 0) return
    throw new ApiError(429, 'too_many_requests', 'too many requests from this address', {
      headers: { 'retry-after': String(Math.max(1, Math.ceil(ms / secondMs))) },
    })
  }
}
