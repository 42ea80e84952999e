import { networkOf } from '../core/network-of.ts'
import { type RateLimit, rateVerdict } from '../core/rate-limit.ts'
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
  const states = new Map<string, number>()
  return (address) => {
    const who = networkOf(address)
    const nowMs = clockMs()
    const verdict = rateVerdict(limit, states.get(who) ?? 0, nowMs)
    if (!verdict.allowed) {
      const seconds = Math.max(1, Math.ceil((verdict.atMs - nowMs) / secondMs))
      throw new ApiError(429, 'too_many_requests', 'too many requests from this address', {
        headers: { 'retry-after': String(seconds) },
      })
    }
    states.delete(who)
    states.set(who, verdict.state)
    const [oldest] = states.keys()
    if (states.size > most && oldest !== undefined) states.delete(oldest)
  }
}
