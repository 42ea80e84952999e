import type { SensorId } from '../../core/air/sensor-id.ts'
import type { LogEvent } from '../../core/state/log-message.ts'
import type { PartitionState } from '../../core/state/partition-state.ts'
import { dueHeld, wentOffline } from '../../core/state/presence.ts'
import type { SilenceWheel } from '../../core/state/silence-wheel.ts'
import type { StormWatch } from './storm-watch.ts'

export type Silences = {
  readonly events: readonly LogEvent[]
  /** Found silent in a storm: reported after it, if they are still silent. */
  readonly held: readonly SensorId[]
}

type Options = {
  readonly state: PartitionState
  readonly wheel: SilenceWheel
  readonly storm: StormWatch
  readonly graceMs: (slot: number) => number
}

/** More silences wait for the next tick, so that a message has a bound. */
const eventsPerTick = 1_000

/** Which sensors have fallen silent, and which of those held back are due. */
export function findSilences(
  { state, wheel, storm, graceMs }: Options,
  { nowMs, listenedMs }: { readonly nowMs: number; readonly listenedMs: number },
): Silences {
  const offline = (slots: readonly number[]): LogEvent[] =>
    slots.flatMap((slot) => wentOffline(state, slot, nowMs, listenedMs, graceMs(slot)) ?? [])
  const released = offline(dueHeld(state, listenedMs, eventsPerTick))
  const silent = wheel.due(listenedMs, eventsPerTick - released.length)
  if (silent.length === 0) return { events: released, held: [] }
  if (storm.judge(state.partition, silent.length, nowMs) === 'report') {
    return { events: [...released, ...offline(silent)], held: [] }
  }
  return { events: released, held: silent.flatMap((slot) => state.ids[slot] ?? []) }
}
