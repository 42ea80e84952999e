/** What a sensor may send on one day, beyond what the gate lets through. */
import { expect, test } from 'vitest'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time.ts'
import { createFreshBook } from '../../pipeline/decide/day-books.ts'
import type { JudgedMessage } from '../../pipeline/decide/judge.ts'
import { believed, idsOf, judgedMessage, openDesk, startMs } from '../support/decided.ts'

const [a, b] = idsOf(2) as [SensorId, SensorId]
let seq = 0
/** A message of readings a second apart. */
const fresh = (sensor = a, fromMs = startMs, count = 4): JudgedMessage =>
  judgedMessage(
    ++seq,
    Array.from({ length: count }, (_, i) =>
      believed({ sensor, timeMs: fromMs + i * 1_000, arrivedMs: fromMs + 10_000 }),
    ),
  )

test('fresh readings up to a number per day, each day again, each sensor for itself', () => {
  const { decide, log } = openDesk({ mostFresh: 3 })
  // the first of all is not counted: the sensor had no place before it
  decide([fresh(a), fresh(b, startMs, 2)])
  decide([fresh(a, startMs + minuteMs)])
  const accepted = () => log.flatMap(({ readings }) => readings.map(({ sensor }) => sensor))
  const refused = () => log.flatMap(({ refused }) => refused.map(({ reason }) => reason))
  expect(accepted()).toEqual([a, a, a, a, b, b])
  expect(refused()).toEqual(Array.from({ length: 4 }, () => 'too_many_fresh'))

  decide([{ ...fresh(a, startMs + hourMs), isAgain: true }])
  expect(accepted().length, 'what the operator sends again').toBe(10)
  decide([fresh(a, startMs + dayMs)])
  expect(accepted().length, 'the next day').toBe(13)
})

test('fresh ones that are older than their sensor’s newest count with those that came late', () => {
  const { decide, log } = openDesk({ mostFresh: 1, mostLate: 3 })
  decide([fresh(a, startMs + hourMs, 1)])
  decide([fresh(a, startMs + hourMs - minuteMs, 5)])
  const { deferred = [], refused = [] } = log.at(-1) ?? {}
  expect(deferred.length).toBe(3)
  expect(refused.map(({ reason }) => reason)).toEqual(['too_many_late', 'too_many_late'])
  const again = { ...fresh(a, startMs + hourMs - 2 * minuteMs, 5), isAgain: true }
  decide([again])
  expect(log.at(-1)?.deferred.length).toBe(5)
})

test('a sensor that the operator lets send more may do so all day', () => {
  const mayBeFresh = createFreshBook((sensor) => (sensor === a ? 5 : 0), 3)
  const taken = (sensor: string, slot: number) =>
    Array.from({ length: 9 }, () => mayBeFresh(slot, sensor, startMs)).filter(Boolean).length
  expect([taken('other', 0), taken(a, 1), taken('other', 100_000)]).toEqual([3, 5, 3])
})

test('what is refused without end is listed once per message, and all of it is counted', () => {
  const { decide, log, notListed } = openDesk({ mostListed: 600 })
  const fault = { reason: 'schema', why: 'the reading must be object' } as const
  const good = believed({ sensor: a, timeMs: startMs, arrivedMs: startMs })
  const bad = (): JudgedMessage =>
    judgedMessage(++seq, [good, ...Array.from({ length: 499 }, () => fault)])
  decide(Array.from({ length: 10 }, bad))
  const listed = log.flatMap(({ refused }) => refused)
  expect(listed.length + notListed.length).toBe(10 * 499)
  expect(listed.length).toBeLessThanOrEqual(600 + 10)
  expect(new Set(listed.map(({ rawSeq }) => rawSeq)).size, 'each message is listed').toBe(10)
  expect(log.flatMap(({ readings }) => readings).length, 'what is good is accepted').toBe(1)

  const before = notListed.length
  decide([{ ...bad(), isAgain: true }])
  expect(notListed.length, 'what the operator sends again is listed').toBe(before)
})
