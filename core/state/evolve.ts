/**
 * The fold over READINGS. A worker reaches the same state without reading its own message back:
 * `listenAt`, then `applyNewer` or `applyLate` for each reading as it is decided, then
 * `closeMessage`.
 */
import { applyLate, applyNewer, createOutcome } from './apply-reading.ts'
import type { LogMessage } from './log-message.ts'
import { findSlot, type PartitionState, slotOf } from './partition-state.ts'
import { held, offline } from './presence.ts'
import type { RulesVersion } from './quality-rules.ts'
import { checkAt, checksOf, newestMsOf, setTime, timeAt } from './state-columns.ts'
import { warmCaches } from './warm-caches.ts'

/** Everything in a message except its readings: what `closeMessage` needs. */
export type MessageHeader = Pick<
  LogMessage,
  'rawLast' | 'rawLastTimeMs' | 'nLast' | 'lateTo' | 'listenedMs' | 'events' | 'held' | 'neighbours'
>

const ignored = createOutcome()

/**
 * Folds one READINGS message, in the order of the log.
 * @param seq its sequence in READINGS; a message that was already folded changes nothing
 */
export function evolve(state: PartitionState, message: LogMessage, seq: number): void {
  if (seq <= state.readingsSeq) return
  listenAt(state, message.listenedMs, message.rules)
  const slots = warmCaches(state, message.readings)
  for (const [i, reading] of message.readings.entries()) {
    const known = slots[i] ?? -1
    const slot = known === -1 ? slotOf(state, reading.sensor) : known
    if (reading.timeMs > newestMsOf(state, slot)) {
      applyNewer(state, slot, reading, reading.seq, ignored)
    } else applyLate(state, slot, reading)
  }
  closeMessage(state, message, seq)
}

/**
 * Sets the listening clock of the message about to be decided, before its readings are applied, and
 * the rules that decide it.
 */
export function listenAt(state: PartitionState, listenedMs: number, rules: RulesVersion = 0): void {
  state.listenedMs = listenedMs
  state.rules = rules
}

/**
 * Closes a message whose readings have been applied: its silences, its verdicts and its counters. The state is
 * then that of READINGS at `seq`, and only then may a snapshot of it be taken.
 */
export function closeMessage(state: PartitionState, message: MessageHeader, seq: number): void {
  for (const event of message.events) {
    if (event.kind !== 'offline') continue
    const slot = findSlot(state, event.sensor)
    if (slot === -1) continue
    state.status[slot] = offline
    setTime(state, slot, timeAt.offlineSinceMs, event.offlineSinceMs)
    setTime(state, slot, timeAt.heldAt, Number.NaN)
  }
  for (const sensor of message.held) {
    const slot = findSlot(state, sensor)
    if (slot === -1) continue
    state.status[slot] = held
    setTime(state, slot, timeAt.heldAt, message.listenedMs)
  }
  for (const { sensor, among } of message.neighbours ?? []) {
    const slot = findSlot(state, sensor)
    if (slot !== -1) state.checks[checksOf(slot) + checkAt.unlike] = among.length > 0 ? 1 : 0
  }
  state.listenedMs = message.listenedMs
  state.n = message.nLast
  state.lateTo = message.lateTo
  state.rawLast = message.rawLast
  state.rawLastTimeMs = message.rawLastTimeMs
  state.readingsSeq = seq
}
