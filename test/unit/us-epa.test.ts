import { assert, constantFrom, double, integer, option, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Pollutant, truncate } from '../../core/air/index/air-index.ts'
import { usBands, usCategoryOf } from '../../core/air/index/us-bands.ts'
import { usAqiOf, usIndex, usStepsPerUnit } from '../../core/air/index/us-epa.ts'
import { type Values, valueOf, valuesOf } from '../../core/air/values.ts'
import fixture from '../fixtures/aqi-vectors.json' with { type: 'json' }

const subIndex = (pollutant: Pollutant, hundredths: number): number | null =>
  pollutant === 'pm25' ? usAqiOf(hundredths, null) : usAqiOf(null, hundredths)

describe.each(fixture.suites)('$source', ({ pollutant, vectors }) => {
  const which: Pollutant = pollutant === 'pm10' ? 'pm10' : 'pm25'
  test.each(vectors)(`${pollutant} of %d µg/m³ has index %d`, (ugM3 = Number.NaN, aqi) => {
    expect(subIndex(which, Math.round(ugM3 * 100))).toBe(aqi)
    expect(usIndex.ofConcentration(which, ugM3)).toBe(aqi)
  })
})

/** By the table, without the look-up that is used for readings. */
const tableOf = ({ values }: { readonly values: Values }): number | null =>
  usIndex.worstOf((name) => {
    const hundredths = valueOf(values, name)
    return hundredths === null ? null : hundredths / 100
  })?.value ?? null

test('the index of a stored reading is the stored one, which is in its hash', () => {
  expect(usIndex.ofReading({ values: valuesOf({ pm25: 0, pm10: 0 }), aqi: 42 })).toBe(42)
  expect(usIndex.ofReading({ values: valuesOf({ pm25: 0, pm10: 0 }), aqi: null })).toBeNull()
})

/** EPA's formula as published, in the units of the step; not rounded. */
function interpolate(pollutant: Pollutant, step: number): number {
  const band = usBands.find((candidate) => step <= candidate[pollutant].high)
  if (band === undefined) return 500
  const { low, high } = band[pollutant]
  return ((band.aqi.high - band.aqi.low) / (high - low)) * (step - low) + band.aqi.low
}

test.each([
  { pollutant: 'pm25', top: 3_254, hundredths: 10 },
  { pollutant: 'pm10', top: 604, hundredths: 100 },
] as const)(
  'every step of $pollutant is the formula, rounded',
  ({ pollutant, top, hundredths }) => {
    for (let step = 0; step <= top + 100; step++) {
      const exact = interpolate(pollutant, step)
      expect(Math.abs((exact % 1) - 0.5), 'no step lies halfway').toBeGreaterThan(1e-6)
      expect(subIndex(pollutant, step * hundredths)).toBe(Math.round(exact))
      expect(subIndex(pollutant, (step + 1) * hundredths - 1), 'truncated').toBe(Math.round(exact))
    }
  },
)

test('bands follow one another without a gap, from 0 to 500', () => {
  usBands.forEach((band, i) => {
    const before = usBands[i - 1]
    for (const key of ['aqi', 'pm25', 'pm10'] as const) {
      expect(band[key].low).toBe(before === undefined ? 0 : before[key].high + 1)
    }
  })
  expect(usBands.at(-1)?.aqi.high).toBe(500)
})

describe('a reading', () => {
  test.each([
    { what: 'without PM has no index', pm25: null, pm10: null, detail: null },
    {
      what: 'takes the larger sub-index: PM2.5',
      pm25: 4_530,
      pm10: 7_820,
      detail: { aqi: 125, category: 'unhealthy_sensitive', dominant: 'pm25', beyondIndex: false },
    },
    {
      what: 'takes the larger sub-index: PM10',
      pm25: 500,
      pm10: 13_500,
      detail: { aqi: 91, category: 'moderate', dominant: 'pm10', beyondIndex: false },
    },
    {
      what: 'with PM10 alone is judged by it',
      pm25: null,
      pm10: 0,
      detail: { aqi: 0, category: 'good', dominant: 'pm10', beyondIndex: false },
    },
    {
      what: 'with equal sub-indices names PM2.5',
      pm25: 0,
      pm10: 0,
      detail: { aqi: 0, category: 'good', dominant: 'pm25', beyondIndex: false },
    },
    {
      what: 'at the end of the table is within it',
      pm25: 32_549,
      pm10: 60_499,
      detail: { aqi: 500, category: 'hazardous', dominant: 'pm25', beyondIndex: false },
    },
    {
      what: 'above the table stays at 500 and says so: PM2.5',
      pm25: 32_550,
      pm10: null,
      detail: { aqi: 500, category: 'hazardous', dominant: 'pm25', beyondIndex: true },
    },
    {
      what: 'above the table stays at 500 and says so: PM10',
      pm25: 1_000,
      pm10: 60_500,
      detail: { aqi: 500, category: 'hazardous', dominant: 'pm10', beyondIndex: true },
    },
  ])('$what', ({ pm25, pm10, detail }) => {
    const aqi = usAqiOf(pm25, pm10)
    const reading = { values: valuesOf({ pm25, pm10 }), aqi }
    expect(tableOf(reading)).toBe(aqi)
    const dominant = usIndex.dominantOf(reading)
    const category = aqi === null ? null : usIndex.categoryOf(aqi)
    const none = { aqi: null, category: null, dominant: null, beyondIndex: false }
    const beyondIndex = usIndex.isBeyond(reading)
    expect({ aqi, category, dominant, beyondIndex }).toEqual(detail ?? none)
  })

  test('never has a lower index for more dust', () => {
    const value = option(integer({ min: 0, max: 100_000 }))
    assert(
      property(value, value, integer({ min: 0, max: 5_000 }), (pm25, pm10, more) => {
        const aqi = usAqiOf(pm25, pm10)
        if (aqi === null) return
        expect(usAqiOf(pm25 === null ? null : pm25 + more, pm10)).toBeGreaterThanOrEqual(aqi)
        expect(usAqiOf(pm25, pm10 === null ? null : pm10 + more)).toBeGreaterThanOrEqual(aqi)
        expect(tableOf({ values: valuesOf({ pm25, pm10 }) })).toBe(aqi)
      }),
    )
  })
})

test.each([
  [0, 'good'],
  [50, 'good'],
  [50.6, 'good'],
  [51, 'moderate'],
  [100, 'moderate'],
  [101, 'unhealthy_sensitive'],
  [150, 'unhealthy_sensitive'],
  [151, 'unhealthy'],
  [200, 'unhealthy'],
  [201, 'very_unhealthy'],
  [300, 'very_unhealthy'],
  [301, 'hazardous'],
  [500, 'hazardous'],
])('an index of %d is %s', (aqi, category) => {
  expect([usCategoryOf(aqi), usIndex.categoryOf(aqi)]).toEqual([category, category])
})

describe('a computed concentration', () => {
  test.each([
    ['pm25', 9.0999999999, 910],
    ['pm25', 9.099, 900],
    ['pm25', 35.49, 3_540],
    ['pm25', 9.1, 910],
    ['pm25', -3, 0],
    ['pm10', 54.9999999999, 5_500],
    ['pm10', 54.99, 5_400],
  ] as const)('%s of %d µg/m³ counts as %d hundredths', (pollutant, ugM3, hundredths) => {
    expect(truncate(ugM3, usStepsPerUnit[pollutant])).toBe(hundredths)
  })

  test('of whole hundredths has the index of the reading', () => {
    assert(
      property(
        constantFrom<Pollutant[]>('pm25', 'pm10'),
        integer({ min: 0, max: 100_000 }),
        double({ min: -1e-10, max: 1e-10, noNaN: true }),
        (pollutant, hundredths, noise) => {
          const index = usIndex.ofConcentration(pollutant, hundredths / 100 + noise)
          expect(index).toBe(subIndex(pollutant, hundredths))
        },
      ),
    )
  })
})
