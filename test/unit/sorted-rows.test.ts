/** Rows in the order of their ids, merged when they are asked for or too many wait: those of a set that is sorted. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { SortedRows } from '../../api/live/sorted-rows.ts'

const rows = 3_000
/** An order that is not that of the numbers. */
const rankOf = (row: number): number => (row * 1_009) % rows

test('rows that come and go are in order whenever they are asked for', () => {
  const step = fc.record({
    // a run of rows, so that the changes that wait are merged by themselves
    from: fc.nat({ max: rows - 1 }),
    count: fc.constantFrom(1, 2, 700, 2_500),
    isAsked: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const there = new Set<number>()
      const sorted = new SortedRows(
        (row, other) => rankOf(row) - rankOf(other),
        (row) => there.has(row),
      )
      const inOrder = (): number[] => [...there].sort((a, b) => rankOf(a) - rankOf(b))
      for (const { from, count, isAsked } of steps) {
        for (let row = from; row < Math.min(rows, from + count); row++) {
          if (!there.delete(row)) there.add(row)
          sorted.changed(row)
        }
        expect(isAsked ? [...sorted.all()] : inOrder()).toEqual(inOrder())
      }
      const version = sorted.version
      expect([...sorted.all()]).toEqual(inOrder())
      expect([sorted.size, sorted.version]).toEqual([there.size, version])
    }),
  )
})
