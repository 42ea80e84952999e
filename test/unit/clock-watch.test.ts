import { expect, test } from 'vitest'
import type { Refused } from '../../core/state/log-message.ts'
import { minuteMs } from '../../core/time.ts'
import { createClockWatch } from '../../pipeline/decide/clock-watch.ts'
import { believed, idsOf } from '../support/decided.ts'

const [sensor = believed({ sensor: 'x' as never }).sensor] = idsOf(1)

/** A minute of readings and refusals, then the first message of the next one. */
function watch() {
  let nowMs = 0
  const changes: boolean[] = []
  const clock = createClockWatch({
    monotonicMs: () => nowMs,
    onChange: (isBehind) => changes.push(isBehind),
  })
  const note = (accepted: number, reasons: readonly Refused['reason'][], repeats = 0): void => {
    clock.note({
      readings: Array.from({ length: accepted }, (_, n) => ({
        ...believed({ sensor }),
        seq: n + 1,
      })),
      refused: reasons.map((reason, item) => ({ rawSeq: 1, item, reason, sensor, why: '' })),
      duplicates: repeats > 0 ? [[sensor, repeats]] : [],
    })
  }
  const minute = (...of: Parameters<typeof note>): boolean => {
    note(...of)
    nowMs += minuteMs
    note(0, [])
    return clock.isBehind()
  }
  return { minute, changes }
}

const many = (count: number, reason: Refused['reason'] = 'future') =>
  Array.from({ length: count }, () => reason)

test('the broker’s clock is behind if more than nine of ten readings are from the future', () => {
  const { minute, changes } = watch()
  expect(minute(2, many(18))).toBe(false)
  expect(minute(1, many(19))).toBe(true)
  expect(minute(1, many(19))).toBe(true)
  expect(minute(10, many(10))).toBe(false)
  expect(changes).toEqual([true, false])
})

test('a few readings prove nothing about the clock, whatever they are', () => {
  const { minute, changes } = watch()
  expect(minute(0, many(19))).toBe(false)
  expect(minute(0, many(20))).toBe(true)
  // unchanged while too few readings arrive to prove otherwise
  expect(minute(5, [])).toBe(true)
  expect(changes).toEqual([true])
})

test('repeats and other refusals are judged too, a partial one is an accepted reading', () => {
  expect(watch().minute(0, [...many(90), ...many(10, 'schema')])).toBe(false)
  expect(watch().minute(0, many(90), 10)).toBe(false)
  expect(watch().minute(2, [...many(98), ...many(2, 'partial')])).toBe(true)
})
