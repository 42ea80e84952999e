/** How long a partition's worker has listened, and which sensors were silent meanwhile. */
import type { SensorId } from '../core/air/sensor-id.ts'
import {
  type ListeningClock,
  startListening,
  tickListening,
} from '../core/state/listening-clock.ts'
import type { PartitionState } from '../core/state/partition-state.ts'
import { graceMsOf, statusCounts } from '../core/state/presence.ts'
import { createSilenceWheel, type SilenceWheel } from '../core/state/silence-wheel.ts'
import { secondMs } from '../core/time.ts'
import { defaultCadenceSeconds } from '../schemas/devices/sensor.ts'
import { findSilences, type Silences } from './decide/find-silences.ts'
import type { PartitionContext } from './partition-context.ts'

type Parts = {
  readonly context: Pick<PartitionContext, 'sensorOf' | 'storm' | 'nowMs' | 'monotonicMs'>
  readonly state: PartitionState
  /** When everything that RAW held had last been taken. */
  readonly lastAtEndMs: () => number
}

export const tickMs = secondMs
/** The worker listens while it has been at RAW's end within the last tick and a half. */
const listeningWithinMs = 1.5 * tickMs

export class Listener {
  readonly #parts: Parts
  readonly #wheel: SilenceWheel
  #clock: ListeningClock

  constructor(parts: Parts) {
    this.#parts = parts
    this.#wheel = createSilenceWheel(parts.state, this.#graceMs)
    this.#clock = startListening(parts.state.listenedMs)
  }

  get watch(): SilenceWheel['watch'] {
    return this.#wheel.watch
  }

  get listenedMs(): number {
    return this.#clock.listenedMs
  }

  /** A tick has passed. */
  tick(): void {
    const { context, state, lastAtEndMs } = this.#parts
    const nowMs = context.monotonicMs()
    const isListening = nowMs - lastAtEndMs() < listeningWithinMs
    this.#clock = tickListening(this.#clock, nowMs, isListening)
    context.storm.report(state.partition, statusCounts(state))
  }

  silences(): Silences {
    const { context, state } = this.#parts
    return findSilences(
      { state, wheel: this.#wheel, storm: context.storm, graceMs: this.#graceMs },
      { nowMs: context.nowMs(), listenedMs: this.#clock.listenedMs },
    )
  }

  readonly #graceMs = (slot: number): number =>
    graceMsOf(this.#cadenceMsOf(this.#parts.state.ids[slot]))

  #cadenceMsOf(sensor: SensorId | undefined): number {
    const registered = sensor && this.#parts.context.sensorOf(sensor)
    return registered?.cadenceMs ?? defaultCadenceSeconds * secondMs
  }
}
