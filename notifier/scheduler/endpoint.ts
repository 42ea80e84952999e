/** A receiver as the scheduler sees it: what is due for it, and how it has behaved. */
import { type Breaker, closedBreaker } from '../../core/delivery/breaker.ts'
import { createSlotQueue, type SlotQueue } from '../../core/delivery/slot-queue.ts'
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
