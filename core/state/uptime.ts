/**
 * Uptime: in how many five-minute slots of the last 24 h did a sensor measure? A ring of bits by
 * the time of the reading, not of its arrival, so back-fill repairs it.
 */

import { dayMs, minuteMs } from '../time.ts'
import type { PartitionState } from './partition-state.ts'
import { newestMsOf, uptimeWords } from './state-columns.ts'

const slotMs = 5 * minuteMs
const ringSlots = uptimeWords * 32
const daySlots = dayMs / slotMs

const slotNumber = (timeMs: number): number => Math.floor(timeMs / slotMs)

/** The place of the word that holds the bit of a time. */
export const uptimePlace = (slot: number, timeMs: number): number =>
  slot * uptimeWords + ((slotNumber(timeMs) % ringSlots) >>> 5)

/**
 * Marks the five-minute slot of an accepted reading; a reading too old for the ring changes nothing.
 * Call it before the reading becomes its sensor's newest: the newest slot is that of `newestMs`.
 */
export function markUptime(state: PartitionState, slot: number, timeMs: number): void {
  const bits = state.uptimeBits
  const base = slot * uptimeWords
  const number = slotNumber(timeMs)
  const newest = slotNumber(newestMsOf(state, slot))
  if (number <= newest - ringSlots) return
  // the ring used these places for slots that are now too old
  for (let passed = Math.max(newest + 1, number - ringSlots + 1); passed <= number; passed++) {
    const bit = passed % ringSlots
    bits[base + (bit >>> 5)]! &= ~(1 << (bit & 31))
  }
  const bit = number % ringSlots
  bits[base + (bit >>> 5)]! |= 1 << (bit & 31)
}

/** @param newest the number of the sensor's newest slot */
function anyMarked(
  state: PartitionState,
  slot: number,
  newest: number,
  first: number,
  last: number,
): boolean {
  const base = slot * uptimeWords
  const from = Math.max(first, newest - ringSlots + 1, 0)
  const to = Math.min(last, newest)
  for (let number = from; number <= to; number++) {
    const bit = number % ringSlots
    if (((state.uptimeBits[base + (bit >>> 5)] ?? 0) >>> (bit & 31)) & 1) return true
  }
  return false
}

/**
 * The fraction of slots with a reading, 0…1 with two decimals. A slot is five minutes, or the
 * cadence rounded up to whole five minutes if that is longer. The running five minutes are left
 * out: they are not yet complete. Slots are counted back from there, as many as fit in 24 h; none
 * begins before the sensor was commissioned. Before the first slot is complete, the result is 1 if
 * anything was measured since commissioning, else 0.
 * @param slot −1 or one never assigned: nothing was ever measured, 0
 */
export function uptime24h(
  state: PartitionState,
  slot: number,
  nowMs: number,
  cadenceMs: number,
  commissionedMs: number,
): number {
  if (slot < 0 || slot >= state.ids.length) return 0
  const running = slotNumber(nowMs)
  const newest = slotNumber(newestMsOf(state, slot))
  const length = Math.max(1, Math.min(daySlots, Math.ceil(cadenceMs / slotMs)))
  const commissioned = Math.ceil(commissionedMs / slotMs)
  const age = Math.max(0, Math.min(daySlots, running - commissioned))
  const slots = Math.floor(age / length)
  if (slots === 0) {
    const since = Math.max(running - daySlots, slotNumber(commissionedMs))
    return anyMarked(state, slot, newest, since, running) ? 1 : 0
  }
  let measured = 0
  for (let k = 1; k <= slots; k++) {
    const first = running - k * length
    if (anyMarked(state, slot, newest, first, first + length - 1)) measured++
  }
  return Math.round((measured / slots) * 100) / 100
}
