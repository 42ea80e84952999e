/**
 * Which hours (or days) of which sensors are to be computed. The record in KV names only the hours: a
 * process that goes on from there computes them for all sensors.
 */
import type { SensorId } from '../../core/air/sensor-id.ts'

/** The sensors of each start; 'all' where they are not known, or are too many. */
export type SensorMarks = Map<number, Set<SensorId> | 'all'>

/** What is computed and written by one call: spans of steps that follow one another. */
export type SensorTask = {
  readonly sensors: readonly SensorId[] | 'all'
  readonly starts: readonly number[]
}

/** At most this many sensors are named, over all starts. */
const mostMarks = 200_000

export const marksOf = (starts: Iterable<number>): SensorMarks =>
  new Map([...starts].map((start) => [start, 'all']))

export function markSensor(marks: SensorMarks, sensor: SensorId, startMs: number): void {
  const sensors = marks.get(startMs)
  if (sensors === 'all') return
  if (sensors === undefined) marks.set(startMs, new Set([sensor]))
  else if (!sensors.has(sensor)) {
    sensors.add(sensor)
    if (sensors.size % 1_000 === 0) bound(marks)
  }
}

function bound(marks: SensorMarks): void {
  const named = [...marks].filter(([, sensors]) => sensors !== 'all')
  const sizeOf = (sensors: Set<SensorId> | 'all'): number => (sensors === 'all' ? 0 : sensors.size)
  let total = named.reduce((sum, [, sensors]) => sum + sizeOf(sensors), 0)
  for (const [start, sensors] of named.toSorted(([, a], [, b]) => sizeOf(b) - sizeOf(a))) {
    if (total <= mostMarks) return
    total -= sizeOf(sensors)
    marks.set(start, 'all')
  }
}

/** Takes out what is over; what still runs stays. */
export function takeOver(marks: SensorMarks, stepMs: number, nowMs: number): SensorMarks {
  const over: SensorMarks = new Map()
  for (const [start, sensors] of marks) {
    if (start + stepMs > nowMs) continue
    marks.delete(start)
    over.set(start, sensors)
  }
  return over
}

/** Sensors that have the same starts are computed together. */
export function tasksOf(marks: SensorMarks): readonly SensorTask[] {
  const startsOf = new Map<SensorId, number[]>()
  const ofAll: number[] = []
  for (const [start, sensors] of marks) {
    if (sensors === 'all') {
      ofAll.push(start)
      continue
    }
    for (const sensor of sensors) {
      const starts = startsOf.get(sensor)
      if (starts === undefined) startsOf.set(sensor, [start])
      else starts.push(start)
    }
  }
  const groups = Map.groupBy(startsOf, ([, starts]) => starts.toSorted((a, b) => a - b).join())
  const named = [...groups.values()].map((group) => ({
    sensors: group.map(([sensor]) => sensor),
    starts: group[0]?.[1] ?? [],
  }))
  return ofAll.length === 0 ? named : [...named, { sensors: 'all', starts: ofAll }]
}
