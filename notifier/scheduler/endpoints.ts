/**
 * A receiver as the scheduler sees it: what is due for it, and how it has behaved; and where it waits:
 * in the rounds for its turn, in the queue for a place, or for a time at which it may have one.
 */

import { type Breaker, closedBreaker } from '../../core/delivery/attempt-verdict.ts'
import { createSlotQueue, isEmpty, type SlotQueue } from '../../core/delivery/due-slots.ts'
import type { WebhookNumber } from '../../core/delivery/webhook-id.ts'

export type Endpoint = {
  readonly number: WebhookNumber
  /** Due now: `aqi.critical` and presence, and the rest. */
  readonly urgent: SlotQueue
  readonly ordinary: SlotQueue
  /** Slots with an attempt under way, or with a result that is not durable yet. */
  readonly inFlight: Map<number, Flight>
  /** Attempts under way. */
  busy: number
  breaker: Breaker
  /** It has recently answered with a 2xx: it may have more attempts at once. */
  isProven: boolean
  /** State of the rate limit. */
  rate: number
  /** When a timer will check it again; 0: none is set. */
  wakeMs: number
}

export type Flight = {
  readonly abort: AbortController
  /** The attempt has ended; its record is being written. */
  isDone: boolean
}

export const createEndpoint = (number: WebhookNumber): Endpoint => ({
  number,
  urgent: createSlotQueue(),
  ordinary: createSlotQueue(),
  inFlight: new Map(),
  busy: 0,
  breaker: closedBreaker,
  isProven: false,
  rate: 0,
  wakeMs: 0,
})

/** Whose turn is it? Endpoints with something due, in turn; those with something urgent first. */
export type Rounds = {
  /** To the end of its round. @returns whether anything is due for it */
  readonly enterIfDue: (endpoint: Endpoint) => boolean
  readonly leave: (endpoint: Endpoint) => void
  /** Removes and returns the endpoint whose turn it is. */
  readonly next: () => Endpoint | undefined
  readonly isEmpty: () => boolean
  readonly endpoints: () => Iterable<Endpoint>
}

export function createRounds(): Rounds {
  const urgent = new Set<Endpoint>()
  const ordinary = new Set<Endpoint>()

  const leave = (endpoint: Endpoint): void => {
    urgent.delete(endpoint)
    ordinary.delete(endpoint)
  }

  return {
    enterIfDue: (endpoint) => {
      if (!isEmpty(endpoint.urgent)) urgent.add(endpoint)
      else if (!isEmpty(endpoint.ordinary)) ordinary.add(endpoint)
      else return false
      return true
    },
    leave,
    next: () => {
      const [endpoint] = urgent.size > 0 ? urgent : ordinary
      if (endpoint !== undefined) leave(endpoint)
      return endpoint
    },
    isEmpty: () => urgent.size === 0 && ordinary.size === 0,
    endpoints: () => [...urgent, ...ordinary],
  }
}

/** Endpoints that wait for a place: one of their account's, or one of those for unproven endpoints. */
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

/**
 * Endpoints to check again at a given time: their rate allows an attempt, or their breaker closes.
 */
export type Wakes = Disposable & {
  /** Does nothing if the endpoint is checked before that time anyway. */
  readonly at: (endpoint: Endpoint, atMs: number) => void
}

const tickMs = 50

export function createWakes(nowMs: () => number, onWake: (endpoint: Endpoint) => void): Wakes {
  const byTick = new Map<number, Endpoint[]>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const wake = (): void => {
    timer = undefined
    const nowTick = Math.floor(nowMs() / tickMs)
    for (const [tick, waiting] of byTick) {
      if (tick > nowTick) continue
      byTick.delete(tick)
      for (const endpoint of waiting) {
        endpoint.wakeMs = 0
        onWake(endpoint)
      }
    }
    if (byTick.size > 0 && !isClosed) timer ??= setTimeout(wake, tickMs)
  }

  return {
    at: (endpoint, atMs) => {
      if (endpoint.wakeMs !== 0 && endpoint.wakeMs <= atMs) return
      endpoint.wakeMs = atMs
      const tick = Math.ceil(atMs / tickMs)
      const waiting = byTick.get(tick)
      if (waiting === undefined) byTick.set(tick, [endpoint])
      else waiting.push(endpoint)
      timer ??= setTimeout(wake, tickMs)
    },
    [Symbol.dispose]: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
