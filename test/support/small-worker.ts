/**
 * A minimal worker of one partition: it decides with the state as the pipeline does and
 * has its log in memory. Its callers pass in the time.
 */

import { seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { applyLate, applyNewer, createOutcome } from '../../core/state/apply-reading.ts'
import { closeMessage, listenAt } from '../../core/state/evolve.ts'
import type { ArrivedReading, LogEvent, LogMessage } from '../../core/state/log-message.ts'
import {
  compareToNewest,
  createState,
  findSlot,
  type PartitionState,
  slotOf,
} from '../../core/state/partition-state.ts'
import { historyFlags } from '../../core/state/pm-checks.ts'
import { dueHeld, graceMsOf, wentOffline } from '../../core/state/presence.ts'
import { rulesNow } from '../../core/state/quality-rules.ts'
import { levelAt } from '../../core/state/sensor-level.ts'
import { createSilenceWheel } from '../../core/state/silence-wheel.ts'
import { minuteMs } from '../../core/time.ts'
import { type Over, valued } from './readings.ts'

export type Unnumbered = Omit<ArrivedReading, 'seq'>

export const sensorNamed = (number: number): SensorId =>
  `NGR-LOS-IKJ-${String(number).padStart(3, '0')}` as SensorId

/** A fresh reading with nothing special about it. */
export const readingOf = (timeMs: number, more: Over<Unnumbered> = {}): Unnumbered =>
  valued({
    sensor: sensorNamed(1),
    area: 'Ikeja',
    timeMs,
    arrivedMs: timeMs,
    pm25: 1_850,
    pm10: 3_000,
    temperature: 2_900,
    humidity: 7_000,
    aqi: 69,
    flags: 0,
    ...more,
  })

export const cadenceMs = 5 * minuteMs

export type SmallWorker = {
  readonly state: PartitionState
  readonly log: LogMessage[]
  readonly take: (batch: readonly Unnumbered[], listenedMs: number) => void
  readonly judgeLate: () => void
  readonly tick: (listenedMs: number, nowMs: number, verdict: 'report' | 'hold') => void
}

export function smallWorker(partition: number): SmallWorker {
  const state = createState(partition, 1)
  const wheel = createSilenceWheel(state, () => graceMsOf(cadenceMs))
  const outcome = createOutcome()
  const log: LogMessage[] = []
  const stored = new Set<string>()
  const waiting: Unnumbered[] = []

  function close(decided: Pick<LogMessage, 'readings' | 'events' | 'held'>, lateTo = state.lateTo) {
    const message: LogMessage = {
      partition,
      worker: 'small-1',
      rawLast: state.rawLast + 1,
      rawLastTimeMs: state.listenedMs,
      nLast: state.n + decided.readings.length,
      lateTo,
      listenedMs: state.listenedMs,
      deferred: [],
      refused: [],
      duplicates: [],
      rules: rulesNow,
      ...decided,
    }
    log.push(message)
    closeMessage(state, message, log.length)
  }

  const numbered = (reading: Unnumbered, place: number): ArrivedReading => {
    stored.add(`${reading.sensor} ${reading.timeMs}`)
    return { ...reading, seq: seqOf(partition, state.n + place + 1) }
  }

  function take(batch: readonly Unnumbered[], listenedMs: number): void {
    listenAt(state, listenedMs, rulesNow)
    const readings: ArrivedReading[] = []
    const events: LogEvent[] = []
    for (const reading of batch) {
      const known = findSlot(state, reading.sensor)
      const place = known === -1 ? 'newer' : compareToNewest(state, known, reading)
      if (place === 'older') waiting.push(reading)
      if (place !== 'newer') continue
      const slot = slotOf(state, reading.sensor)
      const flags = reading.flags | historyFlags(state, slot, reading)
      const accepted = numbered({ ...reading, flags }, readings.length)
      applyNewer(state, slot, accepted, accepted.seq, outcome)
      wheel.watch(slot)
      const at = { place: readings.length }
      if (outcome.rise) {
        const { from, to, previousAqi } = outcome
        events.push({ kind: 'rise', ...at, from, to, previousAqi })
      }
      if (outcome.cameOnline) {
        events.push({ kind: 'online', ...at, offlineSinceMs: outcome.offlineSinceMs })
      }
      if (outcome.level !== outcome.levelWas) {
        const [from, to] = [levelAt(outcome.levelWas), levelAt(outcome.level)]
        events.push({ kind: 'quality', ...at, from, to })
      }
      readings.push(accepted)
    }
    close({ readings, events, held: [] })
  }

  function judgeLate(): void {
    listenAt(state, state.listenedMs, rulesNow)
    const readings: ArrivedReading[] = []
    for (const reading of waiting.splice(0)) {
      if (stored.has(`${reading.sensor} ${reading.timeMs}`)) continue
      applyLate(state, slotOf(state, reading.sensor), reading)
      readings.push(numbered(reading, readings.length))
    }
    close({ readings, events: [], held: [] }, log.length)
  }

  function tick(listenedMs: number, nowMs: number, verdict: 'report' | 'hold'): void {
    listenAt(state, listenedMs, rulesNow)
    const silent = wheel.due(listenedMs, 1_000)
    const reported = [...dueHeld(state, listenedMs, 1_000), ...(verdict === 'report' ? silent : [])]
    const events = reported.flatMap(
      (slot) => wentOffline(state, slot, nowMs, listenedMs, graceMsOf(cadenceMs)) ?? [],
    )
    const held = (verdict === 'hold' ? silent : []).flatMap((slot) => state.ids[slot] ?? [])
    close({ readings: [], events, held })
  }

  return { state, log, take, judgeLate, tick }
}
