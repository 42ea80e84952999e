import { expect, test } from 'vitest'
import { flagsFault, judgeValues, maskOf } from '../../core/air/quality.ts'
import { quantities } from '../../core/air/quantities.ts'
import { valued } from '../support/readings.ts'

const faultOf = (values: Readonly<Record<string, number>>, flags: number): string | undefined =>
  flagsFault({ values: valued(values).values, flags })

test('flags that follow from the values of a row must be there, and no others', () => {
  const { values } = valued({ pm25: 60_000, pm10: 1_000, humidity: 5_000 })
  const { flags } = judgeValues(values, { timeAssigned: false })
  expect(flags).toBe(maskOf('pm_high') | maskOf('pm25_over_pm10'))
  expect(flagsFault({ values, flags })).toBeUndefined()
  expect(flagsFault({ values, flags: 0 })).toBe(
    'flags none, where its values give pm_high, pm25_over_pm10',
  )
  expect(faultOf({ pm25: 1_000 }, maskOf('pm_high'))).toBe(
    'flags pm_high, where its values give none',
  )
})

test('what only the raw message or former readings show is not held against the values', () => {
  for (const flag of ['time_assigned', 'humidity_stuck', 'dropped_co2'] as const)
    expect(faultOf({ pm25: 1_000, humidity: 5_000 }, maskOf(flag))).toBeUndefined()
})

test('a value that is there was not dropped, and one that no sensor measures is never there', () => {
  for (const { name, hard } of quantities) {
    const { values } = valued({ [name]: hard.low })
    const { flags } = judgeValues(values, { timeAssigned: false })
    expect(flagsFault({ values, flags: flags | maskOf(`dropped_${name}`) })).toBe(
      `${name} marked as dropped, and there`,
    )
  }
  expect(faultOf({ pm25: 1_000, humidity: 20_000 }, 0)).toBe(
    'values that no sensor measures (dropped_humidity)',
  )
})
