import { expect, test } from 'vitest'
import { flagsFault, judgeValues, maskOf, usualBounds } from '../../core/air/quality.ts'
import { parseUsualRanges } from '../../core/air/usual-ranges.ts'
import { overlap, parseBox } from '../../core/map-box.ts'
import { languages } from '../../dashboard/texts/languages.ts'
import { networkTable } from '../../runtime/settings-table.ts'
import { valued } from '../support/readings.ts'

const judged = (values: Readonly<Record<string, number>>, ranges: string): number => {
  const own = parseUsualRanges(ranges)
  if (typeof own === 'string') throw new Error(own)
  const options = { timeAssigned: false, usual: usualBounds(own) }
  return judgeValues(valued(values).values, options).flags
}
const unusual = maskOf('temperature_unusual')

test('both ends are usual, what is beyond is not, and what is not named keeps its range', () => {
  const berlin = 'temperature=-20.5..40'
  for (const [temperature, flags] of [
    [-2_050, 0],
    [-2_051, unusual],
    [4_000, 0],
    [4_001, unusual],
  ] as const)
    expect([temperature, judged({ temperature }, berlin)]).toEqual([temperature, flags])
  expect(judged({ co2: 29_999 }, berlin)).toBe(maskOf('co2_unusual'))
  expect(judged({ co2: 29_999, temperature: 0 }, `${berlin}, co2=200..900`)).toBe(0)
})

test.each([
  ['', /is not a range of co2 or temperature/],
  ['temperature', /is not a range/],
  ['humidity=0..50', /is not a range of co2 or temperature/],
  ['temperature=1..2..3', /is not a range/],
  ['temperature=.5.-..3', /is not a range/],
  ['temperature=5..5', /lower end first/],
  ['temperature=-300..40', /within -40\.\.85/],
  ['temperature=0..40,temperature=0..50', /there twice/],
])('%s says what is wrong', (text, words) => {
  expect(parseUsualRanges(text)).toEqual(expect.stringMatching(words))
})

test('what is unusual in a network is held against a row only where its leaf has no flags', () => {
  const { values } = valued({ temperature: 200 })
  expect(flagsFault({ values, flags: unusual })).toBeUndefined()
  expect(flagsFault({ values, flags: 0 })).toMatch(/temperature_unusual/)
  for (const flags of [0, unusual])
    expect(flagsFault({ values, flags, leafVersion: 2 })).toBeUndefined()
  // the other flags follow from the values whatever the leaf
  const high = { ...valued({ pm25: 60_000 }), leafVersion: 2 } as const
  expect(flagsFault({ ...high, flags: 0 })).toMatch(/pm_high/)
})

test('a box is west, south, east, north within the world', () => {
  expect(parseBox('13.0, 52.3,13.8,52.7')).toEqual([13, 52.3, 13.8, 52.7])
  for (const text of ['', '1,2,3', '1,2,3,4,5', '1,2,x,4', '1,2,,4', '3,2,1,4', '1,4,3,2'])
    expect([text, parseBox(text)]).toEqual([text, expect.any(String)])
  for (const text of ['-181,0,1,1', '0,0,181,1', '0,-86,1,1', '0,0,1,86'])
    expect([text, parseBox(text)]).toEqual([text, expect.stringMatching(/within/)])
  expect(overlap([0, 0, 2, 2], [1, 1, 3, 3])).toBe(true)
  expect(overlap([0, 0, 1, 1], [1, 0, 2, 1])).toBe(false)
})

test('the network may have each language of the pages', () => {
  expect(networkTable.AIRPROOF_LANGUAGE.choices).toEqual(languages)
})
