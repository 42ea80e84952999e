import { assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import type { Reading } from '../../core/air/reading.ts'
import { pastRises } from '../../core/state/past-rises.ts'
import { isFresh } from '../../core/state/presence.ts'
import { histories, lived } from '../support/random-history.ts'

/** What the worker decided, and its readings as the store has them. */
function played(history: Parameters<typeof lived>[0]) {
  const rises: { sensor: string; seq: number; from: number; to: number }[] = []
  const stored = new Map<string, Reading[]>()
  for (const { readings, events } of lived(history).log) {
    for (const { arrivedMs, ...reading } of readings) {
      const row: Reading = {
        ...reading,
        leafVersion: 2,
        ...(!isFresh(reading.timeMs, arrivedMs) && { isBackfill: true }),
      }
      const known = stored.get(row.sensor)
      if (known === undefined) stored.set(row.sensor, [row])
      else known.push(row)
    }
    for (const event of events) {
      const reading = event.kind === 'rise' ? readings[event.place] : undefined
      if (event.kind !== 'rise' || reading === undefined) continue
      rises.push({ sensor: reading.sensor, seq: reading.seq, from: event.from, to: event.to })
    }
  }
  return { rises, stored }
}

const bySeq = (a: { readonly seq: number }, b: { readonly seq: number }): number => a.seq - b.seq

test('the rises of stored readings are those that the worker decided', () => {
  assert(
    property(histories, (history) => {
      const { rises, stored } = played(history)
      const again = [...stored.values()].flatMap((rows) =>
        [...pastRises(rows, { isWhole: true })].map(({ reading, from, to, sureFrom }) => {
          expect(sureFrom).toBe(from)
          return { sensor: reading.sensor, seq: reading.seq, from, to }
        }),
      )
      expect(again.toSorted(bySeq)).toEqual(rises.toSorted(bySeq))
    }),
    { numRuns: 300 },
  )
})

test('without the readings before, the truth is between what is sure and what may be', () => {
  assert(
    property(histories, integer({ min: 0, max: 40 }), (history, cut) => {
      const { rises, stored } = played(history)
      for (const [sensor, rows] of stored) {
        // as the store gives them: those since a time
        const sinceMs = rows.map(({ timeMs }) => timeMs).toSorted((a, b) => a - b)[cut] ?? 0
        const read = rows.filter(({ timeMs }) => timeMs >= sinceMs)
        const seqs = new Set(read.map(({ seq }) => seq))
        const truth = rises.filter((rise) => rise.sensor === sensor && seqs.has(rise.seq))
        const again = [...pastRises(read, { isWhole: false })]
        for (let t = 0; t < 500; t += 7) {
          const sure = again.filter(({ sureFrom, to }) => sureFrom <= t && t < to).length
          const most = again.filter(({ from, to }) => from <= t && t < to).length
          const fired = truth.filter(({ from, to }) => from <= t && t < to).length
          expect(sure).toBeLessThanOrEqual(fired)
          expect(fired).toBeLessThanOrEqual(most)
          // a threshold is not known once at most
          expect(most - sure).toBeLessThanOrEqual(1)
        }
      }
    }),
    { numRuns: 200 },
  )
})
