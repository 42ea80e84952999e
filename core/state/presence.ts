/**
 * Presence: is a sensor sending at present?
 *
 *     unheard ──fresh──▶ online ──silent past its grace──▶ offline ──fresh──▶ online
 *                          ▲                        └─▶ held ──15 min──▶ offline
 *                          └──────────fresh─────────────┘
 *
 * Silence is measured on the partition's listening clock, so that time in which no worker could
 * have received from the sensor never counts. Only a fresh reading counts as a sign of life:
 * back-fill shows that a sensor measured, not that it is sending now. A sensor held back by a storm
 * returns without any event, since its silence was never reported; so offline and online alternate.
 */

import { minuteMs } from '../time.ts'
import type { WentOffline } from './log-message.ts'
import type { PartitionState } from './partition-state.ts'
import { newestMsOf, timeAt, timeOf } from './state-columns.ts'

export const statusNames = ['unheard', 'online', 'held', 'offline'] as const
export type Status = (typeof statusNames)[number]

export const unheard = 0
export const online = 1
export const held = 2
export const offline = 3

/** A reading older than this at its arrival is back-fill. */
export const freshMs = 30 * minuteMs
/** For how long of listening a storm holds an offline event back. */
export const holdMs = 15 * minuteMs
/** How many measurements may be missed in a row. */
export const missedAllowed = 3

export const graceMsOf = (cadenceMs: number): number => missedAllowed * cadenceMs

/** When the sensor fell silent, ms since the epoch; null unless it is offline. */
export function offlineSinceMsOf(state: PartitionState, slot: number): number | null {
  const sinceMs = timeOf(state, slot, timeAt.offlineSinceMs)
  return Number.isNaN(sinceMs) ? null : sinceMs
}

export const isFresh = (timeMs: number, arrivedMs: number): boolean => arrivedMs - timeMs <= freshMs

export const statusOf = (state: PartitionState, slot: number): Status =>
  statusNames[state.status[slot] ?? unheard] ?? 'unheard'

/** Listening time since the sensor was last heard; NaN if it never was. */
export const silenceMsOf = (
  state: PartitionState,
  slot: number,
  listenedMs: number = state.listenedMs,
): number => listenedMs - timeOf(state, slot, timeAt.heardAt)

/** How many sensors of the partition have each status. */
export function statusCounts(state: PartitionState): Record<Status, number> {
  const counts = [0, 0, 0, 0]
  const { status } = state
  for (let slot = 0; slot < state.ids.length; slot++) counts[status[slot] ?? 0]! += 1
  const [unheardCount = 0, onlineCount = 0, heldCount = 0, offlineCount = 0] = counts
  return { unheard: unheardCount, online: onlineCount, held: heldCount, offline: offlineCount }
}

/**
 * The event for a sensor whose silence has passed its grace, or whose hold has ended.
 * @param listenedMs the listening clock now
 * @returns undefined for a slot never assigned or a sensor never heard
 */
export function wentOffline(
  state: PartitionState,
  slot: number,
  nowMs: number,
  listenedMs: number,
  graceMs: number,
): WentOffline | undefined {
  const sensor = state.ids[slot]
  const silenceMs = silenceMsOf(state, slot, listenedMs)
  if (sensor === undefined || Number.isNaN(silenceMs)) return undefined
  return {
    kind: 'offline',
    sensor,
    lastReadingMs: newestMsOf(state, slot),
    offlineSinceMs: nowMs - (silenceMs - graceMs),
    silenceMs,
  }
}

/** Held slots whose hold has ended, at most `limit`: each is to be reported offline now. */
export function dueHeld(state: PartitionState, listenedMs: number, limit: number): number[] {
  const due: number[] = []
  const { status } = state
  for (let slot = 0; slot < state.ids.length && due.length < limit; slot++) {
    if (status[slot] !== held) continue
    if (listenedMs - timeOf(state, slot, timeAt.heldAt) >= holdMs) due.push(slot)
  }
  return due
}
