/**
 * Limits that all shards of a process share: how many attempts may be under way. Half of the places
 * are for endpoints that have answered lately, so that endpoints that hang cannot take them all.
 */

export type Limits = {
  /** Takes a place, or returns the limit that was reached. */
  readonly take: (account: string, isProven: boolean) => LimitVerdict
  readonly give: (account: string, isProven: boolean) => void
  /** Results that wait for their commit; at 64 no attempt is started. */
  readonly resultsWaiting: (more: number) => void
  /** Called when a place of the account, or any place, is free. */
  readonly onFree: (listener: (account: string | undefined) => void) => () => void
  readonly inFlight: () => number
}

export type LimitVerdict = 'taken' | 'uncommitted' | 'total' | 'unproven' | 'account'

export type LimitNumbers = {
  readonly total: number
  readonly unproven: number
  readonly perAccount: number
  readonly uncommitted: number
}

export const limitNumbers: LimitNumbers = {
  total: 512,
  unproven: 256,
  perAccount: 20,
  uncommitted: 64,
}

export function createLimits(numbers: LimitNumbers = limitNumbers): Limits {
  const byAccount = new Map<string, number>()
  const listeners = new Set<(account: string | undefined) => void>()
  let total = 0
  let unproven = 0
  let uncommitted = 0

  const notify = (account: string | undefined): void => {
    for (const listener of listeners) listener(account)
  }

  return {
    take: (account, isProven) => {
      if (uncommitted >= numbers.uncommitted) return 'uncommitted'
      if (total >= numbers.total) return 'total'
      if (!isProven && unproven >= numbers.unproven) return 'unproven'
      const own = byAccount.get(account) ?? 0
      if (own >= numbers.perAccount) return 'account'
      byAccount.set(account, own + 1)
      total++
      if (!isProven) unproven++
      return 'taken'
    },
    give: (account, isProven) => {
      const own = (byAccount.get(account) ?? 0) - 1
      if (own > 0) byAccount.set(account, own)
      else byAccount.delete(account)
      total--
      if (!isProven) unproven--
      notify(account)
    },
    resultsWaiting: (more) => {
      const before = uncommitted
      uncommitted += more
      if (before >= numbers.uncommitted && uncommitted < numbers.uncommitted) notify(undefined)
    },
    onFree: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    inFlight: () => total,
  }
}
