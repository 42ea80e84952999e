import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BoundedMap } from '../../core/bounded-map.ts'

const change = fc.record({
  key: fc.integer({ min: 0, max: 12 }),
  what: fc.constantFrom('set', 'set', 'set', 'delete', 'clear'),
})

test('it keeps those set last, whatever is set again, deleted or cleared between', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(change, { maxLength: 200 }),
      (most, all) => {
        const map = new BoundedMap<number, number>(most)
        let expected: (readonly [number, number])[] = []
        all.forEach(({ key, what }, i) => {
          if (what === 'clear') {
            map.clear()
            expected = []
            return
          }
          expected = expected.filter(([known]) => known !== key)
          if (what === 'delete') map.delete(key)
          else {
            map.set(key, i)
            expected = [...expected, [key, i] as const].slice(-most)
          }
          expect([...map]).toEqual(expected)
        })
      },
    ),
  )
})
