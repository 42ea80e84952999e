/**
 * Which attempt is next? Deliveries come from the wheel when they are due and wait in their
 * endpoint's queue. Endpoints take turns, those with something urgent first; each turn is one
 * attempt. An endpoint that may not have one just now leaves the round for a named reason, and comes
 * back when the reason is gone:
 *
 *     paused, disabled, held ─ it changes         rate, breaker ─ its time has come
 *     busy ─ an attempt of its own ends           account, unproven ─ a place comes free
 *
 * `total` and `uncommitted` concern everybody, so the round itself waits.
 */

import { type RateLimit, rateVerdict } from '../core/access/rate-limit.ts'
import { breakerState } from '../core/delivery/breaker.ts'
import { isUrgent } from '../core/delivery/delivery.ts'
import { createDueWheel } from '../core/delivery/due-wheel.ts'
import {
  clearMark,
  dueOf,
  hasMark,
  kindOfBits,
  type Ledger,
  setMark,
  slotMarks,
  slotStates,
  stateOf,
} from '../core/delivery/ledger.ts'
import { dequeue, enqueue, isEmpty } from '../core/delivery/slot-queue.ts'
import type { WebhookNumber } from '../core/delivery/webhook-id.ts'
import { createEndpoint, type Endpoint } from './endpoint.ts'
import type { Limits } from './limits.ts'

export type Receiver = {
  readonly account: string
  /** Sent to: neither paused nor disabled, and its account is premium. */
  readonly isOpen: boolean
}

export type Scheduler = Disposable & {
  /** A slot whose due time is durable: into its queue if it is due, else into the wheel. */
  readonly schedule: (slot: number) => void
  /** Takes a slot out of the wheel, before its due time changes or it comes free. */
  readonly unschedule: (slot: number) => void
  /** Looks at what has become due; call every 200 ms. */
  readonly turn: () => void
  /** The webhook was changed, or an attempt of it has ended. */
  readonly look: (webhook: WebhookNumber) => void
  readonly endpointOf: (webhook: WebhookNumber) => Endpoint
  readonly endpoints: () => IterableIterator<Endpoint>
  /** Forgets an endpoint; what stood in its queues is the caller's to free. */
  readonly forget: (webhook: WebhookNumber) => void
  /**
   * How long the oldest delivery has been due that waits for us and not for its own endpoint
   * (paused, failing, busy or at its rate), ms; 0: none does.
   */
  readonly oldestDueMs: () => number
  readonly inBreaker: () => number
}

type Options = {
  readonly ledger: Ledger
  readonly limits: Limits
  /** undefined: deleted. */
  readonly receiverOf: (webhook: WebhookNumber) => Receiver | undefined
  /** Begins an attempt; the scheduler has counted it and marked the slot. */
  readonly begin: (endpoint: Endpoint, slot: number) => void
  /** A clock that never goes back, in ms since the epoch. */
  readonly nowMs: () => number
  readonly inFlightEach?: number
  readonly rate: RateLimit
}

export const endpointInFlight = 4

export function createScheduler(options: Options): Scheduler {
  const { ledger, limits, receiverOf, begin, nowMs } = options
  const { inFlightEach = endpointInFlight, rate } = options
  const wheel = createDueWheel(ledger, nowMs())
  const endpoints = new Map<WebhookNumber, Endpoint>()
  const urgentRound = new Set<Endpoint>()
  const ordinaryRound = new Set<Endpoint>()
  const waitingForAccount = new Map<string, Set<Endpoint>>()
  const waitingUnproven = new Set<Endpoint>()
  /** By tick of 50 ms. */
  const wakes = new Map<number, Endpoint[]>()
  let wakeTimer: NodeJS.Timeout | undefined
  let isPumping = false
  let isClosed = false

  const endpointOf = (webhook: WebhookNumber): Endpoint => {
    const found = endpoints.get(webhook)
    if (found !== undefined) return found
    const made = createEndpoint(webhook)
    endpoints.set(webhook, made)
    return made
  }

  /** @returns whether anything is due for it */
  const enter = (endpoint: Endpoint): boolean => {
    if (!isEmpty(endpoint.urgent)) urgentRound.add(endpoint)
    else if (!isEmpty(endpoint.ordinary)) ordinaryRound.add(endpoint)
    else return false
    return true
  }

  const join = (endpoint: Endpoint): void => {
    if (enter(endpoint)) pump()
  }

  const leave = (endpoint: Endpoint): void => {
    urgentRound.delete(endpoint)
    ordinaryRound.delete(endpoint)
  }

  const ready = (slot: number): void => {
    if (stateOf(ledger, slot) !== slotStates.pending) return
    if (hasMark(ledger, slot, slotMarks.active)) return
    setMark(ledger, slot, slotMarks.active)
    const endpoint = endpointOf(ledger.webhook[slot] ?? 0)
    const kind = kindOfBits(ledger.bits[slot] ?? 0)
    enqueue(ledger, isUrgent(kind) ? endpoint.urgent : endpoint.ordinary, slot)
    join(endpoint)
  }

  const wakeAt = (endpoint: Endpoint, atMs: number): void => {
    if (endpoint.wakeMs !== 0 && endpoint.wakeMs <= atMs) return
    endpoint.wakeMs = atMs
    const tick = Math.ceil(atMs / wakeTickMs)
    const at = wakes.get(tick)
    if (at === undefined) wakes.set(tick, [endpoint])
    else at.push(endpoint)
    wakeTimer ??= setTimeout(wake, wakeTickMs)
  }

  function wake(): void {
    wakeTimer = undefined
    const nowTick = Math.floor(nowMs() / wakeTickMs)
    for (const [tick, waiting] of wakes) {
      if (tick > nowTick) continue
      wakes.delete(tick)
      for (const endpoint of waiting) {
        endpoint.wakeMs = 0
        join(endpoint)
      }
    }
    if (wakes.size > 0 && !isClosed) wakeTimer ??= setTimeout(wake, wakeTickMs)
  }

  /** One turn of an endpoint. @returns false where the whole round has to wait */
  const takeTurn = (endpoint: Endpoint): boolean => {
    const receiver = receiverOf(endpoint.number)
    if (receiver === undefined || !receiver.isOpen) return true
    const now = nowMs()
    const state = breakerState(endpoint.breaker, now)
    if (state === 'open') {
      wakeAt(endpoint, endpoint.breaker.openUntilMs)
      return true
    }
    if (endpoint.busy >= (endpoint.isProven ? inFlightEach : 1)) return true
    const allowed = rateVerdict(rate, endpoint.rate, now)
    if (!allowed.allowed) {
      wakeAt(endpoint, allowed.atMs)
      return true
    }
    switch (limits.take(receiver.account, endpoint.isProven)) {
      case 'total':
      case 'uncommitted':
        enter(endpoint)
        return false
      case 'unproven':
        waitingUnproven.add(endpoint)
        return true
      case 'account': {
        const others = waitingForAccount.get(receiver.account)
        if (others === undefined) waitingForAccount.set(receiver.account, new Set([endpoint]))
        else others.add(endpoint)
        return true
      }
      case 'taken':
    }
    const slot = dequeue(ledger, endpoint.urgent) ?? dequeue(ledger, endpoint.ordinary)
    if (slot !== undefined) {
      endpoint.rate = allowed.state
      endpoint.busy++
      begin(endpoint, slot)
      enter(endpoint)
    } else limits.give(receiver.account, endpoint.isProven)
    return true
  }

  const round = (): void => {
    while (!isClosed) {
      const [endpoint] = urgentRound.size > 0 ? urgentRound : ordinaryRound
      if (endpoint === undefined) return
      leave(endpoint)
      if (!takeTurn(endpoint)) return
    }
  }

  function pump(): void {
    if (isPumping || isClosed) return
    isPumping = true
    setImmediate(() => {
      isPumping = false
      round()
    })
  }

  const stopListening = limits.onFree((account) => {
    const others = account === undefined ? undefined : waitingForAccount.get(account)
    if (account !== undefined) waitingForAccount.delete(account)
    for (const endpoint of others ?? []) join(endpoint)
    for (const endpoint of waitingUnproven) join(endpoint)
    waitingUnproven.clear()
    if (urgentRound.size > 0 || ordinaryRound.size > 0) pump()
  })

  return {
    schedule: (slot) => {
      if (dueOf(ledger, slot) <= nowMs()) ready(slot)
      else wheel.add(slot)
    },
    unschedule: wheel.remove,
    turn: () => wheel.turn(nowMs(), ready),
    look: (webhook) => {
      const endpoint = endpoints.get(webhook)
      if (endpoint !== undefined) join(endpoint)
    },
    endpointOf,
    endpoints: () => endpoints.values(),
    forget: (webhook) => {
      const endpoint = endpoints.get(webhook)
      if (endpoint === undefined) return
      endpoints.delete(webhook)
      leave(endpoint)
      waitingUnproven.delete(endpoint)
      for (const queue of [endpoint.urgent, endpoint.ordinary])
        for (let slot = dequeue(ledger, queue); slot !== undefined; slot = dequeue(ledger, queue))
          clearMark(ledger, slot, slotMarks.active)
    },
    oldestDueMs: () => {
      const now = nowMs()
      let oldest = now
      for (const waiting of [urgentRound, ordinaryRound, waitingUnproven])
        for (const { number, urgent, ordinary } of waiting) {
          if (receiverOf(number)?.isOpen !== true) continue
          for (const { head } of [urgent, ordinary])
            if (head >= 0) oldest = Math.min(oldest, dueOf(ledger, head))
        }
      return now - oldest
    },
    inBreaker: () => {
      let count = 0
      for (const { breaker } of endpoints.values()) if (breaker.openUntilMs > 0) count++
      return count
    },
    [Symbol.dispose]: () => {
      isClosed = true
      clearTimeout(wakeTimer)
      stopListening()
    },
  }
}

const wakeTickMs = 50
