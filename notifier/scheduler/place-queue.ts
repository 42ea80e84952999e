/**
 * Endpoints that wait for a place: one of their account's, or one of those for unproven endpoints.
 */
import type { Endpoint } from './endpoint.ts'

export type PlaceQueue = {
  readonly forAccount: (account: string, endpoint: Endpoint) => void
  readonly forUnproven: (endpoint: Endpoint) => void
  /** Removes and returns the endpoints that may use a free place. @param account undefined: any */
  readonly take: (account: string | undefined) => readonly Endpoint[]
  readonly unproven: () => Iterable<Endpoint>
  readonly forget: (endpoint: Endpoint) => void
}

export function createPlaceQueue(): PlaceQueue {
  const byAccount = new Map<string, Set<Endpoint>>()
  const unproven = new Set<Endpoint>()
  return {
    forAccount: (account, endpoint) => {
      const others = byAccount.get(account)
      if (others === undefined) byAccount.set(account, new Set([endpoint]))
      else others.add(endpoint)
    },
    forUnproven: (endpoint) => void unproven.add(endpoint),
    take: (account) => {
      const ofAccount = account === undefined ? undefined : byAccount.get(account)
      if (account !== undefined) byAccount.delete(account)
      const taken = [...(ofAccount ?? []), ...unproven]
      unproven.clear()
      return taken
    },
    unproven: () => unproven,
    forget: (endpoint) => void unproven.delete(endpoint),
  }
}
