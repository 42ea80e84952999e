/**
 * A lazy timer wheel: which sensors may have been silent for longer than their grace? A reading
 * does not touch it. A sensor is in the bucket of the second at which it is to be checked; then it
 * is due, or moves to a later bucket. It is derived from the state and rebuilt at start.
 */

import { secondMs } from '../time.ts'
import type { PartitionState } from './partition-state.ts'
import { online } from './presence.ts'
import { timeAt, timeOf } from './state-columns.ts'

const tickMs = secondMs
const buckets = 512
/** Ticks until the next check at the latest, so a shortened cadence takes effect within this time. */
const longestWaitTicks = 300

const none = -1
const unwatched = -2

export type SilenceWheel = {
  /** Watches an online sensor; call it after each fresh reading: a watched one costs a comparison. */
  readonly watch: (slot: number) => void
  /**
   * Online sensors silent for longer than their grace, at most `limit`; the next call returns the
   * rest. They are no longer watched: the caller reports them or holds them back.
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
    const at = Math.max(position, Math.min(tick, position + longestWaitTicks)) % buckets
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
    const silent: number[] = []
    const now = Math.floor(listenedMs / tickMs)
    for (; position <= now; position++) {
      const at = position % buckets
      // a sensor that is not due yet has a later deadline, so it goes into a later bucket
      for (let slot = heads[at] ?? none; slot !== none; slot = heads[at] ?? none) {
        if (silent.length >= limit) return silent
        heads[at] = next[slot] ?? none
        next[slot] = unwatched
        if (state.status[slot] !== online) continue
        if (listenedMs - timeOf(state, slot, timeAt.heardAt) > graceMs(slot)) silent.push(slot)
        else put(slot)
      }
    }
    return silent
  }

  for (let slot = 0; slot < state.ids.length; slot++) watch(slot)
  return { watch, due }
}
