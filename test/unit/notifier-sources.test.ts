import { expect, test } from 'vitest'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { minuteMs } from '../../core/time.ts'
import { matchReadings } from '../../notifier/sources/readings.ts'
import { indexOfOne } from '../../notifier/webhook-book.ts'
import { believed, idsOf } from '../support/decided.ts'

const arrivedMs = Date.UTC(2026, 0, 15, 10, 30)
const sensor = idsOf(1)[0]!
const wanted = indexOfOne({
  number: 1,
  events: ['reading.new'],
  sensor: undefined,
  area: undefined,
  threshold: 150,
})

function placesMatched(readings: readonly ArrivedReading[]): number[] {
  const places: number[] = []
  matchReadings('reading.new', readings, wanted, (_, __, place) => void places.push(place))
  return places
}

test('a fresh reading is matched, and one that was buffered for longer than half an hour is not', () => {
  const aged = (ms: number, seq: number): ArrivedReading => ({
    ...believed({ sensor, timeMs: arrivedMs - ms, arrivedMs }),
    seq,
  })
  expect(placesMatched([aged(0, 1), aged(30 * minuteMs, 2), aged(30 * minuteMs + 1, 3)])).toEqual([
    0, 1,
  ])
})
