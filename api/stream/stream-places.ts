import type { Asker } from '../http/answer.ts'
import { ApiError, unavailable } from '../http/api-error.ts'

/** In total, and for each account, or each visitor's site or address. */
type Bound = { readonly most: number; readonly each: number }

export type StreamBounds = { readonly accounts: Bound; readonly visitors: Bound }

const usualBounds: StreamBounds = {
  accounts: { most: 1_000, each: 10 },
  // a carrier's or a school's address is many people; the dashboard has its own bound for each network
  visitors: { most: 1_000, each: 250 },
}

/** Takes a place. @returns a function that frees it */
type Take = () => () => void

/**
 * Places for streams. Visitors have their own number: however many they open, an account still gets
 * a place.
 * @param isPage the account's own dashboard, which does not take the places of its programs
 * @returns a function that takes the place, when the stream starts @throws ApiError 429, 503
 */
export function streamPlaces(
  bounds: StreamBounds = usualBounds,
): (asker: Asker, isPage: boolean) => Take {
  const open = { accounts: new Map<string, number>(), visitors: new Map<string, number>() }
  const total = { accounts: 0, visitors: 0 }
  return ({ isVisitor, share }, isPage) => {
    const side = isVisitor ? 'visitors' : 'accounts'
    const { most, each } = bounds[side]
    const shares = open[side]
    const name = `${isPage ? 'page' : 'program'} ${share()}`
    if (total[side] >= most) throw unavailable('overloaded', 'too many streams are open')
    if ((shares.get(name) ?? 0) >= each) throw tooMany(isVisitor, each)
    return () => {
      total[side]++
      shares.set(name, (shares.get(name) ?? 0) + 1)
      return () => {
        total[side]--
        const left = (shares.get(name) ?? 1) - 1
        if (left > 0) shares.set(name, left)
        else shares.delete(name)
      }
    }
  }
}

const tooMany = (isVisitor: boolean, limit: number): ApiError =>
  new ApiError(
    429,
    'too_many_streams',
    `${isVisitor ? 'a network' : 'an account'} has at most ${limit} streams at once`,
    { details: { limit }, headers: { 'retry-after': '10' } },
  )
