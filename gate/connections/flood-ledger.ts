/** What each sensor may still send, whichever way it comes. */
import { type Allowance, defaultFloodBounds, type FloodBounds, spend } from '../../core/flood.ts'

type Options = {
  /** Undefined: it is none of our sensors and may send what it likes. */
  readonly boundsOf: (user: string) => FloodBounds | 'default' | undefined
  readonly onFlood: (id: string) => void
  readonly nowMs: () => number
}

export type FloodLedger = {
  readonly charge: (user: string, messages: number) => void
  /** Forgets who has its whole burst again: it is like one never seen. */
  readonly forgetCalm: (isOpen: (user: string) => boolean) => void
}

export function createFloodLedger({ boundsOf, onFlood, nowMs }: Options): FloodLedger {
  const allowances = new Map<string, Allowance>()
  const boundsFor = (user: string): FloodBounds | undefined => {
    const bounds = boundsOf(user)
    return bounds === 'default' ? defaultFloodBounds : bounds
  }
  return {
    charge: (user, messages) => {
      const bounds = boundsFor(user)
      if (bounds === undefined) return
      const allowance = spend(allowances.get(user), messages, nowMs(), bounds)
      // it pays with the pause, and starts from nothing after it
      allowances.set(user, allowance.left < 0 ? { left: 0, atMs: nowMs() } : allowance)
      if (allowance.left < 0) onFlood(user)
    },
    forgetCalm: (isOpen) => {
      for (const [user, allowance] of allowances) {
        if (isOpen(user)) continue
        const bounds = boundsFor(user) ?? defaultFloodBounds
        if (spend(allowance, 0, nowMs(), bounds).left >= bounds.burst) allowances.delete(user)
      }
    },
  }
}
