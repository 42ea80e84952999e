import { expect, test } from 'vitest'
import { partWords } from '../../cli/export/part-words.ts'

const part = (index: number, rows: number, count: number) => ({ index, rows, count })

test.each([
  { parts: [part(1, 1640, 3122)], words: '1640 of the 3122 readings of batch 1' },
  { parts: [part(7, 20, 20)], words: 'all 20 readings of batch 7' },
  { parts: [part(7, 1, 1)], words: 'the one reading of batch 7' },
  { parts: [], words: 'no reading that is anchored' },
  {
    parts: [part(1, 5, 9), part(2, 8, 8)],
    words: '5 of the 9 readings of batch 1, all 8 readings of batch 2',
  },
  {
    parts: [1, 2, 3, 4, 5, 6].map((index) => part(index, index === 1 ? 3 : 10, 10)),
    words: '53 of the 60 readings of 6 batches, 5 of which are here whole',
  },
])('an export says how much of its batches is here: $words', ({ parts, words }) => {
  expect(partWords(parts)).toBe(words)
})
