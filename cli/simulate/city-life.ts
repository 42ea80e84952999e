/**
 * The city in time: which raw messages its sensors send at each tick. Its only state is what
 * disconnected sensors hold until they can send again.
 */
import type { Draw } from './chance.ts'
import type { CitySensor } from './city.ts'
import { type Condition, conditionAt } from './condition.ts'
import { demoCondition, demoMeasured } from './demonstration.ts'
import { type RawMessage, withDirt } from './dirt.ts'
import { type Measured, measure } from './measure.ts'
import { rawReading } from './raw-reading.ts'

export type CityLife = {
  /** When a tick is due, ms since the epoch; each tick is one sensor's turn. */
  readonly dueMs: (tick: number) => number
  /** The first tick that is due at a time or later. */
  readonly tickAt: (timeMs: number) => number
  /** What is sent at a tick; ticks are given in order, and may be left out. */
  readonly messagesAt: (tick: number) => readonly RawMessage[]
}

export type CityLifeOptions = {
  readonly city: readonly CitySensor[]
  readonly draw: Draw
  readonly startMs: number
  /** Between two readings of a sensor. */
  readonly cadenceMs: number
  readonly isDemonstration: boolean
  readonly hasFaults: boolean
}

/** What a sensor can hold while it is disconnected; then it drops the oldest. */
const memory = 500

export function openCityLife(options: CityLifeOptions): CityLife {
  const { city, draw, startMs, cadenceMs, isDemonstration, hasFaults } = options
  const stepMs = cadenceMs / city.length
  const held = new Map<number, string[]>()
  const dueMs = (tick: number): number => Math.floor(startMs + tick * stepMs)

  const condition = ({ index }: CitySensor, timeMs: number): Condition =>
    isDemonstration ? demoCondition(index, timeMs - startMs) : conditionAt(index, timeMs, draw)
  const measured = (sensor: CitySensor, timeMs: number): Measured => {
    const values = measure(sensor, timeMs, draw)
    return isDemonstration ? demoMeasured(sensor.index, timeMs - startMs, values) : values
  }

  return {
    dueMs,
    tickAt: (timeMs) => Math.max(0, Math.ceil((timeMs - startMs) / stepMs)),
    messagesAt(tick) {
      const sensor = city[tick % city.length]
      if (sensor === undefined) return []
      const timeMs = dueMs(tick)
      const state = condition(sensor, timeMs)
      if (state === 'dark') return []
      const values = measured(sensor, timeMs)
      const waiting = held.get(sensor.index) ?? []
      if (state === 'cut_off') {
        waiting.push(rawReading(sensor, timeMs, values))
        if (waiting.length > memory) waiting.shift()
        held.set(sensor.index, waiting)
        return []
      }
      held.delete(sensor.index)
      const backFill =
        waiting.length === 0 ? [] : [{ sensor: sensor.id, body: `[${waiting.join(',')}]` }]
      const now = hasFaults
        ? withDirt({ sensor: sensor.id, timeMs, values }, sensor.index, draw)
        : [{ sensor: sensor.id, body: rawReading(sensor, timeMs, values) }]
      return [...backFill, ...now]
    },
  }
}
