import { assert, boolean, constant, integer, option, property, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { flags, judgeValues, maskOf, namesOf, stuckAfter } from '../../core/air/quality.ts'
import { hardRanges, mapQuantities, quantityNames } from '../../core/air/quantities.ts'
import { type NamedValues, valueOf, valuesOf } from '../../core/air/values.ts'

const named = {
  pm25: 1_850,
  pm10: 3_200,
  co2: 41_200,
  temperature: 2_850,
  humidity: 6_500,
}
const ordinary = valuesOf(named)
const nothing = valuesOf({})
const sensorTime = { timeAssigned: false }

test('an ordinary reading stays the object it was, without flags', () => {
  const judged = judgeValues(ordinary, sensorTime)
  expect(judged.values).toBe(ordinary)
  expect(judged).toMatchObject({ flags: 0, nothingLeft: false })
})

describe('a value outside its hard range is dropped alone', () => {
  test.each([
    { what: 'PM2.5 below zero', over: { pm25: -1 }, name: 'dropped_pm25', gone: 'pm25' },
    { what: 'PM2.5 of 1999.9', over: { pm25: 199_990 }, name: 'dropped_pm25', gone: 'pm25' },
    { what: 'PM10 above 1000', over: { pm10: 100_001 }, name: 'dropped_pm10', gone: 'pm10' },
    { what: 'CO2 above 40,000', over: { co2: 4_000_001 }, name: 'dropped_co2', gone: 'co2' },
    {
      what: 'a thermometer at −200 °C',
      over: { temperature: -20_000 },
      name: 'dropped_temperature',
      gone: 'temperature',
    },
    {
      what: 'a thermometer at 141 °C',
      over: { temperature: 14_100 },
      name: 'dropped_temperature',
      gone: 'temperature',
    },
    {
      what: 'humidity above 100 %',
      over: { humidity: 10_001 },
      name: 'dropped_humidity',
      gone: 'humidity',
    },
  ])('$what', ({ over, name, gone }) => {
    const judged = judgeValues(valuesOf({ ...named, ...over }), sensorTime)
    expect(judged.values).toEqual(valuesOf({ ...named, [gone]: null }))
    expect(namesOf(judged.flags)).toEqual([name])
    expect(judged.nothingLeft).toBe(false)
  })
})

describe('a believable but rare value stays, with its flag', () => {
  test.each<{ what: string; over: NamedValues; names: string[] }>([
    { what: 'PM2.5 of exactly 500', over: { pm25: 50_000, pm10: 50_000 }, names: [] },
    { what: 'PM10 above 500', over: { pm10: 50_001 }, names: ['pm_high'] },
    { what: 'PM10 of 999.9', over: { pm10: 99_990 }, names: ['pm_high', 'pm_saturated'] },
    { what: 'PM10 of 999.8', over: { pm10: 99_980 }, names: ['pm_high'] },
    {
      what: 'PM2.5 of 999.9 alone',
      over: { pm25: 99_990, pm10: null },
      names: ['pm_high', 'pm_saturated'],
    },
    { what: 'PM of exactly 1000', over: { pm25: 100_000, pm10: 100_000 }, names: ['pm_high'] },
    { what: 'PM2.5 above PM10', over: { pm25: 3_201 }, names: ['pm25_over_pm10'] },
    { what: 'PM2.5 equal to PM10', over: { pm25: 3_200 }, names: [] },
    { what: 'PM2.5 above a dropped PM10', over: { pm10: -5 }, names: ['dropped_pm10'] },
    { what: 'CO2 of 299.99', over: { co2: 29_999 }, names: ['co2_unusual'] },
    { what: 'CO2 of 300', over: { co2: 30_000 }, names: [] },
    { what: 'CO2 of 5000', over: { co2: 500_000 }, names: [] },
    { what: 'CO2 of 5000.01', over: { co2: 500_001 }, names: ['co2_unusual'] },
    { what: '9.99 °C', over: { temperature: 999 }, names: ['temperature_unusual'] },
    { what: '10 °C', over: { temperature: 1_000 }, names: [] },
    { what: '50.01 °C', over: { temperature: 5_001 }, names: ['temperature_unusual'] },
    { what: 'humidity of 0', over: { humidity: 0 }, names: [] },
    { what: 'humidity of 99.9', over: { humidity: 9_990 }, names: [] },
  ])('$what: $names', ({ over, names }) => {
    expect(namesOf(judgeValues(valuesOf({ ...named, ...over }), sensorTime).flags)).toEqual(names)
  })
})

test('a time the gate assigned is flagged', () => {
  expect(namesOf(judgeValues(ordinary, { timeAssigned: true }).flags)).toEqual(['time_assigned'])
})

test('a reading whose only value is dropped has nothing left', () => {
  const judged = judgeValues(valuesOf({ temperature: 14_100 }), sensorTime)
  expect(judged).toEqual({
    values: nothing,
    flags: maskOf('dropped_temperature'),
    nothingLeft: true,
  })
})

test('a reading without values has nothing left', () => {
  expect(judgeValues(nothing, sensorTime)).toMatchObject({ flags: 0, nothingLeft: true })
})

test('whatever arrives, what is left is in range and what is gone has its flag', () => {
  const value = option(integer({ min: -5_000_000, max: 5_000_000 }))
  const any = record(mapQuantities(() => value))
  assert(
    property(any, boolean(), (raw, timeAssigned) => {
      const judged = judgeValues(valuesOf(raw), { timeAssigned })
      for (const name of quantityNames) {
        const left = valueOf(judged.values, name)
        const { low, high } = hardRanges[name]
        const inRange = raw[name] !== null && raw[name] >= low && raw[name] <= high
        expect(left).toBe(inRange ? raw[name] : null)
        const isFlagged = (judged.flags & maskOf(`dropped_${name}`)) !== 0
        expect(isFlagged).toBe(raw[name] !== null && left === null)
      }
      expect(judgeValues(judged.values, { timeAssigned }).values).toBe(judged.values)
    }),
  )
})

test('flags are numbered as they are stored', () => {
  expect(Object.entries(flags)).toEqual([
    ['dropped_pm25', 0],
    ['dropped_pm10', 1],
    ['dropped_co2', 2],
    ['dropped_temperature', 3],
    ['dropped_humidity', 4],
    ['pm_high', 5],
    ['pm_saturated', 6],
    ['pm25_over_pm10', 7],
    ['co2_unusual', 8],
    ['temperature_unusual', 9],
    ['humidity_stuck', 10],
    ['time_assigned', 11],
    ['dropped_pm1', 12],
    ['dropped_pm4', 13],
    ['dropped_pressure', 14],
    ['dropped_no2', 15],
    ['dropped_o3', 16],
    ['dropped_co', 17],
    ['dropped_so2', 18],
    ['dropped_voc_index', 19],
    ['dropped_nox_index', 20],
    ['dropped_tvoc', 21],
    ['dropped_noise', 22],
    ['pm_flat', 23],
    ['pm_stuck', 24],
    ['pm_zero', 25],
    ['pm_spike', 26],
    ['pm_unlike_neighbours', 27],
  ])
  expect(stuckAfter).toBe(24)
})

test('names and bits agree', () => {
  assert(
    property(integer({ min: 0, max: 2 ** 23 - 1 }), constant(2 ** 29), (bits, unknown) => {
      const names = namesOf(bits | unknown)
      expect(names.reduce((sum, name) => sum | maskOf(name), 0)).toBe(bits)
    }),
  )
})
