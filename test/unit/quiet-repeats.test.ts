import { expect, test } from 'vitest'
import { quietRepeats } from '../../runtime/quiet-repeats.ts'

test('of repeated lines the first few are shown, and later how many were not', () => {
  const repeats = quietRepeats({ most: 2, withinMs: 100 })
  const shown = [0, 10, 20, 30, 99, 100, 110, 120, 205].map((ms) => repeats.show('away', ms))
  expect(shown).toEqual([0, 0, undefined, undefined, undefined, 3, 0, undefined, 1])
})

test('other lines are shown, however many there are', () => {
  const repeats = quietRepeats({ most: 1, withinMs: 100 })
  const shown = Array.from({ length: 1_000 }, (_, i) => repeats.show(`line ${i}`, i))
  expect(new Set(shown)).toEqual(new Set([0]))
})
