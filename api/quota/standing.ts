/** The state of an account's quota, as the headers of its answers carry it. */

import {
  type Charge,
  type Count,
  dayEndsMs,
  type Limits,
  minuteEndsMs,
  secondsUntil,
} from '../../core/access/quota.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { dayMs, minuteMs, secondMs } from '../../core/time.ts'
import { ApiError, unavailable } from '../http/api-error.ts'

export type Standing = Pick<Count, 'used' | 'inMinute'> & {
  readonly account: string
  readonly ask: Charge
  readonly limits: Limits
  /** When it was judged, and the UTC day it was charged to. */
  readonly atMs: number
  readonly day: string
}

/** `RateLimit` and `RateLimit-Policy` as draft-ietf-httpapi-ratelimit-headers-10 defines them. */
export function quotaHeaders({
  limits: { perDay, perMinute },
  used,
  inMinute,
  atMs,
}: Standing): Readonly<Record<string, string>> {
  const left = Math.max(0, perDay - used)
  const leftInMinute = Math.max(0, perMinute - inMinute)
  const endsMs = dayEndsMs(atMs)
  const day = `"day";r=${left};t=${secondsUntil(endsMs, atMs)}`
  const minute = `"minute";r=${leftInMinute};t=${secondsUntil(minuteEndsMs(atMs), atMs)}`
  return {
    ratelimit: `${day}, ${minute}`,
    'ratelimit-policy': `"day";q=${perDay};w=${dayMs / secondMs}, "minute";q=${perMinute};w=${minuteMs / secondMs}`,
    'x-ratelimit-limit': String(perDay),
    'x-ratelimit-remaining': String(left),
    'x-ratelimit-reset': String(endsMs / secondMs),
  }
}

export function overQuota(spent: 'day' | 'minute', standing: Standing): ApiError {
  const { limits, atMs } = standing
  const isDay = spent === 'day'
  const endsMs = isDay ? dayEndsMs(atMs) : minuteEndsMs(atMs)
  const seconds = secondsUntil(endsMs, atMs)
  return new ApiError(
    429,
    isDay ? 'quota_exceeded' : 'too_many_requests',
    isDay
      ? `the ${limits.perDay} requests of this UTC day are used; the next day starts at midnight UTC`
      : `at most ${limits.perMinute} requests per minute; try again after Retry-After`,
    {
      details: {
        limit: isDay ? limits.perDay : limits.perMinute,
        reset: formatIsoMs(endsMs),
      },
      headers: { 'retry-after': String(seconds), ...quotaHeaders(standing) },
    },
  )
}

/** The round failed, or it is not known whether it was written. */
export const quotaUnknown = (cause: unknown): ApiError =>
  unavailable('quota_unknown', 'the quota cannot be checked right now', cause)
