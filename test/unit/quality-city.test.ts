/**
 * A simulated city of 40 for 24 hours, in simulated time, decided as the pipeline does: what is broken
 * is flagged within three hours, and what is not is not.
 */
import { expect, test } from 'vitest'
import { chanceOf } from '../../cli/simulate/chance.ts'
import { planCity } from '../../cli/simulate/city.ts'
import { type Measured, measure } from '../../cli/simulate/measure.ts'
import { maskOf } from '../../core/air/quality.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time.ts'
import { believed, judgedMessage, openDesk } from '../support/decided.ts'

const cadenceMs = 5 * minuteMs
const brokenFromMs = 6 * hourMs
const ofHistory = (['pm_flat', 'pm_stuck', 'pm_zero', 'pm_spike'] as const).reduce(
  (mask, flag) => mask | maskOf(flag),
  0,
)

type Fault = (measured: Measured, before: Measured, sinceMs: number) => Measured
const faults: ReadonlyMap<number, Fault> = new Map<number, Fault>([
  [7, (_, before) => before],
  // a wasp in the inlet: once in forty minutes
  [
    19,
    (measured, _, sinceMs) =>
      sinceMs % (40 * minuteMs) === 0
        ? { ...measured, pm25: measured.pm25 * 5 + 100, pm10: measured.pm10 * 5 + 100 }
        : measured,
  ],
  [33, (measured) => ({ ...measured, pm25: 0, pm10: 0 })],
])

/** Index of a sensor → when its first flag came, ms after its fault began. */
function flagged(seed: number, startMs: number): ReadonlyMap<number, number> {
  const draw = chanceOf(seed)
  const rules = sensorIdRules('NGR-LOS')
  const city = planCity({ sensors: 40, seed, firstNumber: 1, idPrefix: 'NGR-LOS', rules })
  const desk = openDesk({ leafVersion: 2 })
  const found = new Map<number, number>()
  let rawSeq = 0
  for (let at = 0; at < dayMs; at += cadenceMs) {
    const messages = city.map((sensor) => {
      const timeMs = startMs + at
      const fault = at < brokenFromMs ? undefined : faults.get(sensor.index)
      const measured = measure(sensor, timeMs, draw)
      const before = measure(sensor, startMs + brokenFromMs, draw)
      const { pm25, pm10 } = fault?.(measured, before, at - brokenFromMs) ?? measured
      const values = { pm25: Math.round(pm25 * 100), pm10: Math.round(pm10 * 100) }
      return judgedMessage(++rawSeq, [believed({ sensor: sensor.id, timeMs, ...values })])
    })
    for (const { readings } of desk.decide(messages)) {
      for (const { sensor, flags } of readings) {
        const index = city.find(({ id }) => id === sensor)?.index ?? -1
        if ((flags & ofHistory) !== 0 && !found.has(index)) found.set(index, at - brokenFromMs)
      }
    }
  }
  return found
}

// Harmattan, the end of the rains, the rains
test.each([
  [1, Date.UTC(2026, 0, 14)],
  [2, Date.UTC(2026, 10, 3)],
  [3, Date.UTC(2026, 5, 20)],
  [4, Date.UTC(2026, 11, 25)],
])(
  'a stuck, a spiking and a blind sensor are flagged within 3 h, no other (seed %d)',
  (seed, startMs) => {
    const found = flagged(seed, startMs)
    expect([...found.keys()].toSorted((a, b) => a - b)).toEqual([...faults.keys()])
    for (const afterMs of found.values()) {
      expect(afterMs).toBeGreaterThanOrEqual(0)
      expect(afterMs).toBeLessThanOrEqual(3 * hourMs)
    }
  },
)
