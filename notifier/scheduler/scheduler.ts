/**
 * Which attempt is next? Deliveries leave the wheel when they are due and wait in their endpoint's
 * queue. Endpoints take turns, those with something urgent first; each turn is one attempt. An
 * endpoint that may not have one now leaves the round for a named reason, and returns when the
 * reason no longer applies:
 *
 *     paused, disabled, held ─ it changes         rate, breaker ─ its time has come
 *     busy ─ an attempt of its own ends           account, unproven ─ a place becomes free
 *
 * `total` and `uncommitted` concern every endpoint, so the round itself waits.
 */

import { type RateLimit, rateVerdict } from '../../core/access/rate-limit.ts'
import { breakerState } from '../../core/delivery/attempt-verdict.ts'
import { isUrgent } from '../../core/delivery/delivery.ts'
import { createDueWheel, dequeue, enqueue } from '../../core/delivery/due-slots.ts'
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
} from '../../core/delivery/ledger.ts'
import type { WebhookNumber } from '../../core/delivery/webhook-id.ts'
import {
  createEndpoint,
  createPlaceQueue,
  createRounds,
  createWakes,
  type Endpoint,
  type PlaceQueue,
  type Rounds,
  type Wakes,
} from './endpoints.ts'
import type { Limits } from './limits.ts'

export type Receiver = {
  readonly account: string
  /** Sent to: neither paused nor disabled, and its account is premium. */
  readonly isOpen: boolean
}

export type Scheduler = Disposable & {
  /** A slot with a durable due time: goes into its queue if it is due, otherwise into the wheel. */
  readonly schedule: (slot: number) => void
  /** Removes a slot from the wheel, before its due time changes or it is freed. */
  readonly unschedule: (slot: number) => void
  /** Checks what has become due; call every 200 ms. */
  readonly turn: () => void
  /** The webhook was changed, or an attempt of it has ended. */
  readonly look: (webhook: WebhookNumber) => void
  readonly endpointOf: (webhook: WebhookNumber) => Endpoint
  readonly endpoints: () => IterableIterator<Endpoint>
  /** Forgets an endpoint; the caller frees the slots that were in its queues. */
  readonly forget: (webhook: WebhookNumber) => void
  /**
   * For how long the oldest delivery has been due that waits for us and not for its own endpoint
   * (paused, failing, busy or at its rate), ms; 0: none waits.
   */
  readonly oldestDueMs: () => number
  readonly inBreaker: () => number
}

type Options = {
  readonly ledger: Ledger
  readonly limits: Limits
  /** undefined: deleted. */
  readonly receiverOf: (webhook: WebhookNumber) => Receiver | undefined
  /** Starts an attempt; the scheduler has counted it and marked the slot. */
  readonly begin: (endpoint: Endpoint, slot: number) => void
  /** A clock that never goes back, in ms since the epoch. */
  readonly nowMs: () => number
  readonly inFlightEach?: number
  readonly rate: RateLimit
}

export const endpointInFlight = 4

/** The state that the functions below share. */
type State = Options & {
  readonly rounds: Rounds
  readonly places: PlaceQueue
  readonly wakes: Wakes
  readonly endpoints: Map<WebhookNumber, Endpoint>
  isPumping: boolean
  isClosed: boolean
}

export function createScheduler(options: Options): Scheduler {
  const { ledger, nowMs } = options
  const wheel = createDueWheel(ledger, nowMs())
  const wakes = createWakes(nowMs, (endpoint) => join(state, endpoint))
  const state: State = {
    ...options,
    rounds: createRounds(),
    places: createPlaceQueue(),
    wakes,
    endpoints: new Map(),
    isPumping: false,
    isClosed: false,
  }
  const { endpoints, rounds, places } = state
  const stopListening = options.limits.onFree((account) => {
    for (const endpoint of places.take(account)) rounds.enterIfDue(endpoint)
    if (!rounds.isEmpty()) pump(state)
  })
  const ready = (slot: number): void => becomeReady(state, slot)
  return {
    schedule: (slot) => {
      if (dueOf(ledger, slot) <= nowMs()) ready(slot)
      else wheel.add(slot)
    },
    unschedule: wheel.remove,
    turn: () => wheel.turn(nowMs(), ready),
    look: (webhook) => {
      const endpoint = endpoints.get(webhook)
      if (endpoint !== undefined) join(state, endpoint)
    },
    endpointOf: (webhook) => endpointOf(state, webhook),
    endpoints: () => endpoints.values(),
    forget: (webhook) => forget(state, webhook),
    oldestDueMs: () => oldestDueMs(state),
    inBreaker: () =>
      [...endpoints.values()].filter(({ breaker }) => breaker.openUntilMs > 0).length,
    [Symbol.dispose]: () => {
      state.isClosed = true
      wakes[Symbol.dispose]()
      stopListening()
    },
  }
}

function endpointOf({ endpoints }: State, webhook: WebhookNumber): Endpoint {
  const known = endpoints.get(webhook)
  if (known !== undefined) return known
  const created = createEndpoint(webhook)
  endpoints.set(webhook, created)
  return created
}

function becomeReady(state: State, slot: number): void {
  const { ledger } = state
  if (stateOf(ledger, slot) !== slotStates.pending) return
  if (hasMark(ledger, slot, slotMarks.active)) return
  setMark(ledger, slot, slotMarks.active)
  const endpoint = endpointOf(state, ledger.webhook[slot] ?? 0)
  const kind = kindOfBits(ledger.bits[slot] ?? 0)
  enqueue(ledger, isUrgent(kind) ? endpoint.urgent : endpoint.ordinary, slot)
  join(state, endpoint)
}

function join(state: State, endpoint: Endpoint): void {
  if (state.rounds.enterIfDue(endpoint)) pump(state)
}

/** Runs the round soon, once for all endpoints that joined meanwhile. */
function pump(state: State): void {
  if (state.isPumping || state.isClosed) return
  state.isPumping = true
  setImmediate(() => {
    state.isPumping = false
    while (!state.isClosed) {
      const endpoint = state.rounds.next()
      if (endpoint === undefined || !takeTurn(state, endpoint)) return
    }
  })
}

/** One turn of an endpoint. @returns false if the whole round must wait */
function takeTurn(state: State, endpoint: Endpoint): boolean {
  const { inFlightEach = endpointInFlight, rate, limits, places, rounds, wakes } = state
  const receiver = state.receiverOf(endpoint.number)
  if (receiver === undefined || !receiver.isOpen) return true
  const now = state.nowMs()
  if (breakerState(endpoint.breaker, now) === 'open') {
    wakes.at(endpoint, endpoint.breaker.openUntilMs)
    return true
  }
  if (endpoint.busy >= (endpoint.isProven ? inFlightEach : 1)) return true
  const allowed = rateVerdict(rate, endpoint.rate, now)
  if (!allowed.allowed) {
    wakes.at(endpoint, allowed.atMs)
    return true
  }
  switch (limits.take(receiver.account, endpoint.isProven)) {
    case 'total':
    case 'uncommitted':
      rounds.enterIfDue(endpoint)
      return false
    case 'unproven':
      places.forUnproven(endpoint)
      return true
    case 'account':
      places.forAccount(receiver.account, endpoint)
      return true
    case 'taken':
      beginNext(state, endpoint, receiver, allowed.state)
      return true
  }
}

function beginNext(
  { ledger, limits, rounds, begin }: State,
  endpoint: Endpoint,
  { account }: Receiver,
  rate: number,
): void {
  const slot = dequeue(ledger, endpoint.urgent) ?? dequeue(ledger, endpoint.ordinary)
  if (slot === undefined) return limits.give(account, endpoint.isProven)
  endpoint.rate = rate
  endpoint.busy++
  begin(endpoint, slot)
  rounds.enterIfDue(endpoint)
}

function forget({ ledger, endpoints, rounds, places }: State, webhook: WebhookNumber): void {
  const endpoint = endpoints.get(webhook)
  if (endpoint === undefined) return
  endpoints.delete(webhook)
  rounds.leave(endpoint)
  places.forget(endpoint)
  for (const queue of [endpoint.urgent, endpoint.ordinary])
    for (let slot = dequeue(ledger, queue); slot !== undefined; slot = dequeue(ledger, queue))
      clearMark(ledger, slot, slotMarks.active)
}

function oldestDueMs({ ledger, nowMs, receiverOf, rounds, places }: State): number {
  const now = nowMs()
  let oldest = now
  for (const { number, urgent, ordinary } of [...rounds.endpoints(), ...places.unproven()]) {
    if (receiverOf(number)?.isOpen !== true) continue
    for (const { head } of [urgent, ordinary])
      if (head >= 0) oldest = Math.min(oldest, dueOf(ledger, head))
  }
  return now - oldest
}
