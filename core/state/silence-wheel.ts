/**
 * A lazy timer wheel: which sensors may have been silent for longer than their grace? Being heard
 * does not touch it. A sensor stands in the bucket of the second at which it is to be looked at;
 * then it is due, or moves to a later bucket. It is derived from the state and made anew at start.
 */

import { secondMs } from '../time.ts'
import type { PartitionState } from './partition-state.ts'
import { online } from './presence.ts'
import { timeAt, timeOf } from './state-columns.ts'

const tickMs = secondMs
const buckets = 512
/** Nobody is left alone for longer, so a cadence made shorter counts within this time. */
const longestLook = 300

const none = -1
const unwatched = -2

export type SilenceWheel = {
  /** Watches an online sensor; call it after each fresh reading, a watched one costs a comparison. */
  readonly watch: (slot: number) => void
  /**
   * Online sensors silent for longer than their grace, at most `limit`; the rest come with the
   * next call. Each is no longer watched: it is the caller's to tell or to hold.
   */
  readonly due: (listenedMs: number, limit: number) => number[]
}

/** @param graceMs of a slot, as the registry has it now */
export function createSilenceWheel(
  state: PartitionState,
  graceMs: (slot: number) => number,
): SilenceWheel {
  const heads = new Int32Array(buckets).fill(none)
  let next = new Int32Array(state.capacity).fill(unwatched)
  /** Every bucket before this tick is empty. */
  let position = Math.floor(state.listenedMs / tickMs)

  function put(slot: number): void {
    const deadlineMs = timeOf(state, slot, timeAt.heardAt) + graceMs(slot)
    const tick = Math.floor(deadlineMs / tickMs) + 1
    const at = Math.max(position, Math.min(tick, position + longestLook)) % buckets
    next[slot] = heads[at] ?? none
    heads[at] = slot
  }

  function watch(slot: number): void {
    if (slot >= next.length) {
      const wider = new Int32Array(state.capacity).fill(unwatched)
      wider.set(next)
      next = wider
    }
    if (next[slot] === unwatched && state.status[slot] === online) put(slot)
  }

  function due(listenedMs: number, limit: number): number[] {
    const found: number[] = []
    const now = Math.floor(listenedMs / tickMs)
    for (; position <= now; position++) {
      const at = position % buckets
      // whoever is not due yet has a later deadline, so is put into a later bucket than this
      for (let slot = heads[at] ?? none; slot !== none; slot = heads[at] ?? none) {
        if (found.length >= limit) return found
        heads[at] = next[slot] ?? none
        next[slot] = unwatched
        if (state.status[slot] !== online) continue
        if (listenedMs - timeOf(state, slot, timeAt.heardAt) > graceMs(slot)) found.push(slot)
        else put(slot)
      }
    }
    return found
  }

  for (let slot = 0; slot < state.ids.length; slot++) watch(slot)
  return { watch, due }
}
