import { expect, test } from 'vitest'
import { minuteMs } from '../../core/time.ts'
import { RowsAtHand } from '../../pipeline/rows-at-hand.ts'
import { believed, idsOf, judgedMessage, openDesk, startMs } from '../support/decided.ts'
import { readingsIn } from '../support/log-rows.ts'

const [sensor] = idsOf(1)

/** Messages of one reading each. */
function log(count: number) {
  const desk = openDesk({ leafVersion: 2 })
  for (let i = 0; i < count; i++)
    desk.decide([judgedMessage(i + 1, [believed({ sensor: sensor!, timeMs: startMs + i })])])
  return desk.log
}

test('the rows of a message are made once, and another with its number has its own', () => {
  const [first, second] = log(2)
  const atHand = new RowsAtHand()
  const rows = atHand.of(first!, 1)
  expect(readingsIn(rows.rows)).toMatchObject([{ timeMs: startMs, leafVersion: 2 }])
  expect(atHand.of(first!, 1)).toBe(rows)
  expect(atHand.known(first!, 1)).toBe(rows)
  expect(atHand.known(second!, 1)).toBeUndefined()
  const other = atHand.of(second!, 1)
  expect(readingsIn(other.rows)).toMatchObject([{ timeMs: startMs + 1 }])
  expect(atHand.at(1)).toBe(other)
})

test('the oldest make room, wherever they came from', () => {
  // a message counts as one more than its readings
  const atHand = new RowsAtHand(20)
  for (const [i, message] of log(30).entries()) atHand.of(message, i + 1)
  expect([20, 21, 30].map((seq) => atHand.at(seq)?.seq)).toEqual([undefined, 21, 30])
  expect(atHand.newest).toBe(30)
})

test('a row that no engine may take is set apart', () => {
  const [message] = log(1)
  const bad = { ...message!.readings[0]!, area: '' }
  const rows = new RowsAtHand().of({ ...message!, readings: [bad, ...message!.readings] }, 1)
  expect(readingsIn(rows.rows)).toHaveLength(1)
  expect(rows.faulty).toMatchObject([{ row: bad, why: 'area is not 1 to 256 long' }])
})

test('a reader that waits is woken by the next message, by its time, and by a stop', async () => {
  const [message] = log(1)
  const atHand = new RowsAtHand()
  const stop = new AbortController()
  const woken = atHand.changed(60_000, stop.signal)
  atHand.of(message!, 1)
  expect(await woken).toBe(true)
  expect(await atHand.changed(1, stop.signal)).toBe(false)
  const stopped = atHand.changed(60_000, stop.signal)
  stop.abort()
  expect(await stopped).toBe(false)
})

test('what was not fresh when it arrived is stored as back-fill', () => {
  const [message] = log(1)
  const [reading] = message!.readings
  const readings = [30 * minuteMs, 30 * minuteMs + 1].map((late, at) => ({
    ...reading!,
    timeMs: startMs + at,
    arrivedMs: startMs + at + late,
  }))
  const { rows } = new RowsAtHand().of({ ...message!, readings }, 1)
  expect(readingsIn(rows).map(({ isBackfill }) => isBackfill)).toEqual([undefined, true])
})
