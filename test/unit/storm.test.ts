import { describe, expect, test } from 'vitest'
import { calm, judgeSilence, type Storm, stormAfterRestart } from '../../core/state/storm.ts'
import { minuteMs, secondMs } from '../../core/time.ts'

/** Successive silences: how many sensors, of how many online, when. */
function judged(falls: readonly (readonly [count: number, online: number, atMs: number])[]) {
  let storm: Storm = calm
  return falls.map(([count, online, atMs]) => {
    const { verdict, began, storm: next } = judgeSilence(storm, count, online, atMs)
    storm = next
    return began ? 'begins' : verdict
  })
}

describe('a storm starts', () => {
  test('when 20 sensors, more than half of those online, fall silent', () => {
    expect(judged([[20, 39, 0]])).toEqual(['begins'])
  })

  test('not with 19, even if these are all', () => {
    expect(judged([[19, 19, 0]])).toEqual(['report'])
  })

  test('not with half of those online', () => {
    expect(judged([[20, 40, 0]])).toEqual(['report'])
  })

  test('also if they fall silent one after the other within five minutes', () => {
    expect(
      judged([
        [10, 30, 0],
        [5, 20, 2 * minuteMs],
        [5, 15, 5 * minuteMs - 1],
      ]),
    ).toEqual(['report', 'report', 'begins'])
  })

  test('not if that takes five minutes', () => {
    expect(
      judged([
        [10, 30, 0],
        [5, 20, 2 * minuteMs],
        [5, 15, 5 * minuteMs],
      ]),
    ).toEqual(['report', 'report', 'report'])
  })

  test('not if all that fell silent are fewer than half of those that were online', () => {
    expect(
      judged([
        [15, 45, 0],
        [5, 30, minuteMs],
      ]),
    ).toEqual(['report', 'report'])
  })

  test('not without a silent sensor', () => {
    expect(
      judged([
        [30, 100, 0],
        [0, 10, 1],
      ]),
    ).toEqual(['report', 'report'])
  })
})

describe('a storm under way', () => {
  test('holds every further silence for 15 minutes, with one alarm', () => {
    expect(
      judged([
        [30, 40, 0],
        [5, 10, minuteMs],
        [5, 5, 15 * minuteMs - 1],
        [1, 40, 15 * minuteMs],
      ]),
    ).toEqual(['begins', 'hold', 'hold', 'report'])
  })

  test('continues after a restart while sensors are held, without another alarm', () => {
    const resumed = stormAfterRestart(3, minuteMs)
    expect(judgeSilence(resumed, 50, 60, 2 * minuteMs)).toMatchObject({
      verdict: 'hold',
      began: false,
    })
    expect(stormAfterRestart(0, minuteMs)).toEqual(calm)
  })
})

test('an hour of steady silences is remembered in at most a window of seconds', () => {
  let storm: Storm = calm
  for (let atMs = 0; atMs < 60 * minuteMs; atMs += 100) {
    ;({ storm } = judgeSilence(storm, 1, 1_000_000, atMs))
    expect(storm.falls.length).toBeLessThanOrEqual((5 * minuteMs) / secondMs + 1)
  }
})
