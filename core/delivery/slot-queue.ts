/** First in, first out, through the ledger's `next` column: a slot is in one queue at a time. */
import type { Ledger } from './ledger.ts'

const none = -1

export type SlotQueue = { head: number; tail: number }

export const createSlotQueue = (): SlotQueue => ({ head: none, tail: none })

export const isEmpty = (queue: SlotQueue): boolean => queue.head === none

export function enqueue(ledger: Ledger, queue: SlotQueue, slot: number): void {
  ledger.next[slot] = none
  if (queue.tail === none) queue.head = slot
  else ledger.next[queue.tail] = slot
  queue.tail = slot
}

/** @returns undefined if the queue is empty */
export function dequeue(ledger: Ledger, queue: SlotQueue): number | undefined {
  const slot = queue.head
  if (slot === none) return undefined
  queue.head = ledger.next[slot] ?? none
  if (queue.head === none) queue.tail = none
  return slot
}

/** Slots in order; the queue must not change meanwhile. */
export function* queued(ledger: Ledger, queue: SlotQueue): Generator<number> {
  for (let slot = queue.head; slot !== none; slot = ledger.next[slot] ?? none) yield slot
}
