/**
 * Where a slot waits: in the wheel until it is due, then in a queue for its turn. Both are lists
 * through columns of the ledger, derived from it and rebuilt at start.
 */
import { clearMark, dueOf, hasMark, type Ledger, setMark, slotMarks } from './ledger.ts'

export const wheelTickMs = 200
/** The wheel reaches 3.6 hours. */
const buckets = 2 ** 16

const none = -1

/**
 * A timer wheel with ticks of 200 ms: a slot is in the bucket of its tick, linked through column
 * `timer`. A slot due beyond the wheel's reach is in the last bucket and is then checked again.
 */
export type DueWheel = {
  /** The slot must not be in the wheel. */
  readonly add: (slot: number) => void
  /** Removes a slot from the wheel if it is in it. Call it before the slot's due time changes. */
  readonly remove: (slot: number) => void
  /** Calls back for every slot due at `nowMs`, which is then no longer in the wheel. */
  readonly turn: (nowMs: number, onDue: (slot: number) => void) => void
}

export function createDueWheel(ledger: Ledger, startMs: number): DueWheel {
  const heads = new Int32Array(buckets).fill(none)
  /** Every bucket before this tick is empty. */
  let position = Math.floor(startMs / wheelTickMs)

  const bucketOf = (slot: number): number => {
    const tick = Math.ceil(dueOf(ledger, slot) / wheelTickMs)
    return Math.min(Math.max(tick, position), position + buckets - 1) % buckets
  }

  const add = (slot: number): void => {
    const at = bucketOf(slot)
    ledger.timer[slot] = heads[at] ?? none
    heads[at] = slot
    setMark(ledger, slot, slotMarks.inWheel)
  }

  const unlink = (at: number, wanted: number): boolean => {
    let before = none
    for (let slot = heads[at] ?? none; slot !== none; slot = ledger.timer[slot] ?? none) {
      if (slot === wanted) {
        const after = ledger.timer[slot] ?? none
        if (before === none) heads[at] = after
        else ledger.timer[before] = after
        return true
      }
      before = slot
    }
    return false
  }

  return {
    add,
    remove: (slot) => {
      if (!hasMark(ledger, slot, slotMarks.inWheel)) return
      clearMark(ledger, slot, slotMarks.inWheel)
      if (unlink(bucketOf(slot), slot)) return
      // it was beyond the wheel's reach when it was added
      for (let at = 0; at < buckets; at++) if (unlink(at, slot)) return
    },
    turn: (nowMs, onDue) => {
      const now = Math.floor(nowMs / wheelTickMs)
      const early: number[] = []
      for (; position <= now; position++) {
        const at = position % buckets
        let slot = heads[at] ?? none
        heads[at] = none
        while (slot !== none) {
          const next = ledger.timer[slot] ?? none
          clearMark(ledger, slot, slotMarks.inWheel)
          if (dueOf(ledger, slot) <= nowMs) onDue(slot)
          else early.push(slot)
          slot = next
        }
      }
      for (const slot of early) add(slot)
    },
  }
}

/** First in, first out, through column `next`: a slot is in one queue at a time. */
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
