import { array, assert, constantFrom, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { quantityNames } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import { minuteMs } from '../../core/time.ts'
import { judgeLate } from '../../pipeline/decide/decide.ts'
import { believed, idsOf, startMs } from '../support/decided.ts'
import { readingOf } from '../support/readings.ts'

const sensor = idsOf(1)[0]!
const stored: Reading = { ...believed({ sensor }), seq: 1 }
const verdictsOn = (...args: Parameters<typeof judgeLate>): string[] =>
  judgeLate(...args).map(({ verdict }) => verdict)

test('nothing under its key: accepted', () => {
  expect(verdictsOn([believed({ sensor })], [undefined])).toEqual(['accepted'])
})

test('the same values under its key: a duplicate, whatever area and flags they came with', () => {
  const again = believed({ sensor, area: 'Yaba', flags: 1_024, arrivedMs: startMs + minuteMs })
  expect(verdictsOn([again], [stored])).toEqual(['duplicate'])
})

test.each(quantityNames)('another %s under its key, or one missing: a conflict', (name) => {
  expect(verdictsOn([believed({ sensor, [name]: 5 })], [stored])).toEqual(['conflict'])
  const full = readingOf({ ...stored, [name]: 7 })
  expect(verdictsOn([believed({ sensor, [name]: null })], [full])).toEqual(['conflict'])
})

test('a key whose row the store refused is taken for good', () => {
  expect(verdictsOn([believed({ sensor, pm25: 9 })], ['unknown'])).toEqual(['duplicate'])
})

test('within one batch the first is accepted and the rest are compared with it', () => {
  const deferred = [
    believed({ sensor, pm25: 1 }),
    believed({ sensor, pm25: 1 }),
    believed({ sensor }),
  ]
  const verdicts = verdictsOn(deferred, [undefined, undefined, undefined])
  expect(verdicts).toEqual(['accepted', 'duplicate', 'conflict'])
})

test('every deferred reading gets one verdict, and no key two acceptances', () => {
  const deferred = array(
    record({
      sensor: constantFrom(...idsOf(3)),
      timeMs: integer({ min: 0, max: 5 }),
      pm25: integer({ min: 0, max: 2 }),
    }).map(believed),
  )
  assert(
    property(deferred, array(constantFrom(undefined, 'unknown' as const)), (batch, known) => {
      const verdicts = judgeLate(batch, known)
      expect(verdicts.map((one) => one.deferred)).toEqual(batch)
      const accepted = verdicts.filter(({ verdict }) => verdict === 'accepted')
      const keys = accepted.map((one) => `${one.deferred.sensor} ${one.deferred.timeMs}`)
      expect(new Set(keys).size).toBe(keys.length)
    }),
  )
})
