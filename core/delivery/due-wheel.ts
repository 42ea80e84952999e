/**
 * When is a slot due? A wheel of 200 ms: a slot stands in the bucket of its tick, linked through
 * the ledger's `timer` column. One further away than the wheel reaches stands in its last bucket
 * and is looked at again. Derived from the ledger, made anew at start.
 */
import { clearMark, dueOf, hasMark, type Ledger, setMark, slotMarks } from './ledger.ts'

export const wheelTickMs = 200
/** The wheel reaches 3.6 hours. */
const buckets = 2 ** 16

const none = -1

export type DueWheel = {
  /** The slot must not stand in the wheel. */
  readonly add: (slot: number) => void
  /** Takes a slot out, wherever it stands; nothing where it does not. Call before its due time changes. */
  readonly remove: (slot: number) => void
  /** Calls back for every slot due by now, which is then out of the wheel. */
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
      // it was beyond the wheel's reach when it was put in
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
