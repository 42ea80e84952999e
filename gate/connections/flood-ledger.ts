/** What each sensor may still send, over NATS, MQTT and HTTP together. */
import {
  type Allowance,
  defaultFloodBounds,
  type FloodBounds,
  spend,
} from '../../core/access/flood.ts'
import { secondMs } from '../../core/time.ts'

type Options = {
  /** Undefined: it is not one of our sensors and may send what it likes. */
  readonly boundsOf: (user: string) => FloodBounds | 'default' | undefined
  readonly onFlood: (id: string) => void
  readonly nowMs: () => number
}

export type FloodLedger = {
  readonly charge: (user: string, messages: number) => void
  /** Forgets sensors that have their whole burst again: each is like a sensor never seen. */
  readonly forgetCalm: (isOpen: (user: string) => boolean) => void
}

/**
 * A sensor that pushes as fast as HTTP lets it is counted there by another clock: it must not be a
 * flood for a few milliseconds between the two.
 */
const toleranceOf = ({ perSecond }: FloodBounds): number => 1 + perSecond / 100

export function createFloodLedger({ boundsOf, onFlood, nowMs }: Options): FloodLedger {
  /** With the time from which on it is the whole burst again, by the bounds of its last message. */
  const allowances = new Map<string, Allowance & { readonly wholeAtMs: number }>()
  const boundsFor = (user: string): FloodBounds | undefined => {
    const bounds = boundsOf(user)
    return bounds === 'default' ? defaultFloodBounds : bounds
  }
  return {
    charge: (user, messages) => {
      const bounds = boundsFor(user)
      if (bounds === undefined) return
      const allowance = spend(allowances.get(user), messages, nowMs(), bounds)
      const isFlood = allowance.left < -toleranceOf(bounds)
      // it pays with the pause, and starts from nothing after it
      const left = isFlood ? 0 : allowance.left
      const wholeAtMs = nowMs() + ((bounds.burst - left) / bounds.perSecond) * secondMs
      allowances.set(user, { left, atMs: nowMs(), wholeAtMs })
      if (isFlood) onFlood(user)
    },
    forgetCalm: (isOpen) => {
      const now = nowMs()
      for (const [user, { wholeAtMs }] of allowances)
        if (now >= wholeAtMs && !isOpen(user)) allowances.delete(user)
    },
  }
}
