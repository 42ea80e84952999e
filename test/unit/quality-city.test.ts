/**
 * A simulated city of 40 for 24 hours, in simulated time, decided as the pipeline does: what is broken
 * is flagged within three hours, and what is not is not.
 */
import { expect, test } from 'vitest'
import { chanceOf } from '../../cli/simulate/chance.ts'
import { planCity } from '../../cli/simulate/city.ts'
import { type Measured, measure } from '../../cli/simulate/measure.ts'
import { namesOf, type OtherFlag } from '../../core/air/quality.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time.ts'
import { believed, judgedMessage, openDesk } from '../support/decided.ts'
import { openNeighbours } from '../support/neighbours.ts'

const lagos = { name: 'Lagos', idPrefix: 'NGR-LOS', box: undefined }

const cadenceMs = 5 * minuteMs
const brokenFromMs = 6 * hourMs
const ofHistory: ReadonlySet<string> = new Set<OtherFlag>([
  'pm_flat',
  'pm_stuck',
  'pm_zero',
  'pm_spike',
  'pm_unlike_neighbours',
])

type Fault = {
  /** The flag that finds it; others may come too. */
  readonly flag: OtherFlag
  readonly measured: (measured: Measured, before: Measured, sinceMs: number) => Measured
}
const more = (measured: Measured, by: number): Measured => ({
  ...measured,
  pm25: measured.pm25 + by,
  pm10: measured.pm10 + by,
})

const faults: ReadonlyMap<number, Fault> = new Map<number, Fault>([
  [7, { flag: 'pm_flat', measured: (_, before) => before }],
  // a wasp in the inlet: once in forty minutes
  [
    19,
    {
      flag: 'pm_spike',
      measured: (measured, _, sinceMs) =>
        sinceMs % (40 * minuteMs) === 0 ? more(measured, measured.pm25 * 4 + 100) : measured,
    },
  ],
  // its fan clogs: 1 µg/m³ more with each minute
  [
    26,
    {
      flag: 'pm_unlike_neighbours',
      measured: (measured, _, sinceMs) => more(measured, sinceMs / minuteMs),
    },
  ],
  [33, { flag: 'pm_zero', measured: (measured) => ({ ...measured, pm25: 0, pm10: 0 }) }],
])

type Flagged = ReadonlyMap<number, ReadonlyMap<string, number>>

/** Index of a sensor → flag → when it came first, ms after the faults began. */
function flagged(seed: number, startMs: number): Flagged {
  const draw = chanceOf(seed)
  const rules = sensorIdRules('NGR-LOS')
  const city = planCity({ sensors: 40, seed, firstNumber: 1, network: lagos, rules })
  const desk = openDesk({ leafVersion: 2 })
  const judgeNeighbours = openNeighbours(desk, () =>
    city.map(({ id, lat, lon }) => ({ sensor: id, lat, lon, sinceMs: -Infinity })),
  )
  const found = new Map<number, Map<string, number>>()
  let rawSeq = 0
  for (let at = 0; at < dayMs; at += cadenceMs) {
    const messages = city.map((sensor) => {
      const timeMs = startMs + at
      const fault = at < brokenFromMs ? undefined : faults.get(sensor.index)
      const measured = measure(sensor, timeMs, draw)
      const before = measure(sensor, startMs + brokenFromMs, draw)
      const { pm25, pm10 } = fault?.measured(measured, before, at - brokenFromMs) ?? measured
      const values = { pm25: Math.round(pm25 * 100), pm10: Math.round(pm10 * 100) }
      return judgedMessage(++rawSeq, [believed({ sensor: sensor.id, timeMs, ...values })])
    })
    for (const { readings } of desk.decide(messages)) {
      for (const { sensor, flags } of readings) {
        const index = city.find(({ id }) => id === sensor)?.index ?? -1
        const known = found.get(index) ?? new Map<string, number>()
        for (const name of namesOf(flags)) {
          if (!ofHistory.has(name) || known.has(name)) continue
          known.set(name, at - brokenFromMs)
          found.set(index, known)
        }
      }
    }
    judgeNeighbours()
  }
  return found
}

// Harmattan, the end of the rains, the rains
test.each([
  [1, Date.UTC(2026, 0, 14)],
  [2, Date.UTC(2026, 10, 3)],
  [3, Date.UTC(2026, 5, 20)],
  [4, Date.UTC(2026, 11, 25)],
  [5, Date.UTC(2026, 0, 14)],
  [6, Date.UTC(2026, 5, 20)],
])(
  'a stuck, a spiking, a drifting and a blind sensor are flagged within 3 h, no other (seed %d)',
  (seed, startMs) => {
    const found = flagged(seed, startMs)
    expect([...found.keys()].toSorted((a, b) => a - b)).toEqual([...faults.keys()])
    for (const [index, { flag }] of faults) {
      const afterMs = found.get(index)?.get(flag)
      expect({
        flag,
        isInTime: afterMs !== undefined && afterMs >= 0 && afterMs <= 3 * hourMs,
      }).toEqual({ flag, isInTime: true })
    }
  },
)
