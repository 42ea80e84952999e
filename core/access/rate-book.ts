import { BoundedMap } from '../bounded-map.ts'
import { siteOf } from './network-of.ts'
import { type RateLimit, rateVerdict } from './rate-limit.ts'

export type RateBook = {
  /**
   * Counts one try, or as many as it costs.
   * @param nowMs of a clock that never goes back
   * @returns 0 if it is allowed; else ms to wait, and the try is not counted
   */
  readonly waitMs: (who: string, limit: RateLimit, nowMs: number, cost?: number) => number
  /** All tries of `who` are forgiven. */
  readonly forget: (who: string) => void
}

/** A limited number of tries for each name. @param most bound on the names; evicts the one not used for longest */
export function createRateBook(most: number): RateBook {
  const states = new BoundedMap<string, number>(most)
  return {
    waitMs: (who, limit, nowMs, cost) => {
      const verdict = rateVerdict(limit, states.get(who) ?? 0, nowMs, cost)
      if (!verdict.allowed) return Math.max(1, verdict.atMs - nowMs)
      states.set(who, verdict.state)
      return 0
    },
    forget: (who) => void states.delete(who),
  }
}

/**
 * The same for networks, as `networkOf` writes them: a whole site of IPv6 also has a limit, a larger
 * one, or its 65,536 networks would be as many limits. What the network's own limit refuses does not
 * count for the site, so one network takes one share of it at most.
 * @param siteFactor a site's limit, in limits of one of its networks
 */
export function createNetworkBook(most: number, siteFactor = 10): RateBook {
  const networks = createRateBook(most)
  const sites = createRateBook(most)
  return {
    waitMs: (network, limit, nowMs) => {
      const waitMs = networks.waitMs(network, limit, nowMs)
      const site = siteOf(network)
      if (waitMs > 0 || site === undefined) return waitMs
      const siteLimit = { perSecond: limit.perSecond * siteFactor, burst: limit.burst * siteFactor }
      return sites.waitMs(site, siteLimit, nowMs)
    },
    forget: networks.forget,
  }
}
