import { assert, double, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { corrected, inputsOf } from '../../core/air/correction-model.ts'
import shipped from '../../core/air/correction-models.json' with { type: 'json' }
import { valuesOf } from '../../core/air/values.ts'
import { epa2021, readCorrections, shippedCorrections } from '../../schemas/corrections.ts'
import fixture from '../fixtures/correction-vectors.json' with { type: 'json' }

const given = (pm25: number | null, humidity: number | null) =>
  valuesOf({
    pm25: pm25 === null ? null : Math.round(pm25 * 100),
    humidity: humidity === null ? null : Math.round(humidity * 100),
  })
const epa = (pm25: number | null, humidity: number | null) =>
  corrected(epa2021, given(pm25, humidity), undefined)
const barkjohn = shippedCorrections.find(({ name }) => name === 'barkjohn_2021')!

test.each(fixture.vectors)(
  '$pm25UgM3 µg/m³ at $humidityPercent % is corrected to $corrected',
  ({ pm25UgM3, humidityPercent, corrected: expected }) => {
    const got = epa(pm25UgM3, humidityPercent) ?? Number.NaN
    expect(Math.abs(got - expected), 'the fixture has four decimals').toBeLessThan(1e-3)
  },
)

test('the corrections of airproof are as their schema says, though no start checks them', () => {
  expect(readCorrections(shipped)).toEqual(shippedCorrections)
})

test('nothing is corrected if PM2.5 or humidity is missing', () => {
  expect(epa(10, null)).toBeNull()
  expect(epa(null, 50)).toBeNull()
})

test('clean and humid air is corrected to 0, not below', () => {
  expect(epa(0, 100)).toBe(0)
})

test.each([30, 50, 210, 260])('the pieces meet at %d µg/m³', (edge) => {
  assert(
    property(integer({ min: 0, max: 10_000 }), (humidity) => {
      const below = epa(edge - 0.01, humidity / 100) ?? Number.NaN
      expect(Math.abs((epa(edge, humidity / 100) ?? Number.NaN) - below)).toBeLessThan(0.03)
    }),
  )
})

/** As published: between two pieces with a straight line, both are weighted. */
function published(ugM3: number, humidity: number): number {
  const [clean, smoke] = [0.524, 0.786]
  const damp = 5.75 - 0.0862 * humidity
  if (ugM3 < 50) {
    const part = Math.max(0, ugM3 / 20 - 3 / 2)
    return (smoke * part + clean * (1 - part)) * ugM3 + damp
  }
  const part = Math.min(1, Math.max(0, ugM3 / 50 - 21 / 5))
  const dense = 2.966 + 0.69 * ugM3 + 8.84e-4 * ugM3 ** 2
  return (smoke * ugM3 + damp) * (1 - part) + dense * part
}

test.each([25, 35, 45, 55, 205, 215, 255, 265])('%d µg/m³ are in their own piece', (ugM3) => {
  for (const humidity of [10, 90])
    expect(epa(ugM3, humidity)).toBeCloseTo(published(ugM3, humidity), 6)
})

test('a piece ends before its `below`, where the next one begins', () => {
  const pieces = [{ below: 10, terms: [{ times: 1 }] }, { terms: [{ times: 2 }] }]
  const model = { ...epa2021, pieces }
  expect([9.99, 10].map((ugM3) => corrected(model, given(ugM3, 50), undefined))).toEqual([1, 2])
})

test('a model reads what it corrects, what its range bounds and what its terms name, each once', () => {
  const range = { pm25: [0, 100], humidity: [0, 100] } as const
  const pieces = [
    {
      terms: [
        { times: 1, pm25: 1 },
        { times: 1, temperature: 1 },
      ],
    },
  ]
  expect(inputsOf({ ...epa2021, of: 'pm10', range, pieces })).toEqual([
    'pm10',
    'pm25',
    'humidity',
    'temperature',
  ])
})

test('more dust is never corrected to less', () => {
  const ugM3 = integer({ min: 0, max: 100_000 })
  assert(
    property(ugM3, ugM3, double({ min: 0, max: 100, noNaN: true }), (a, b, humidity) => {
      const low = epa(Math.min(a, b) / 100, humidity) ?? Number.NaN
      expect(epa(Math.max(a, b) / 100, humidity)).toBeGreaterThanOrEqual(low - 1e-3)
    }),
  )
})

test('Barkjohn 2021 is 0.524 PM2.5 − 0.0862 RH + 5.75, within its range only', () => {
  expect(corrected(barkjohn, given(100, 60), undefined)).toBeCloseTo(52.978, 6)
  expect(corrected(barkjohn, given(250.01, 60), undefined)).toBeNull()
})

test('a device that is known must be of a kind that the model was fitted to', () => {
  expect(corrected(barkjohn, given(100, 60), 'Nova SDS011')).toBeNull()
  expect(corrected(barkjohn, given(100, 60), 'Plantower pms5003')).not.toBeNull()
  expect(corrected(barkjohn, given(100, 60), 'Plantower PMS5003')).not.toBeNull()
})

describe("an operator's file", () => {
  const model = {
    name: 'lagos_2026',
    version: 1,
    title: 'Co-location in Ikeja',
    citation: 'ours',
    of: 'pm25',
    range: { pm25: [0, 200] },
    pieces: [{ below: 20, terms: [{ times: 1, pm25: 1 }] }, { terms: [{ times: 0.8, pm25: 1 }] }],
  }

  test('is read, and each model has a hash that other coefficients change', () => {
    const [read] = readCorrections([model]) as never[] as { hash: string }[]
    const { name, version, ...rest } = model
    const [same] = readCorrections([{ ...rest, version, name }]) as never[] as { hash: string }[]
    const [other] = readCorrections([{ ...model, version: 2 }]) as never[] as { hash: string }[]
    expect(read?.hash).toMatch(/^0x[0-9a-f]{64}$/)
    expect(same?.hash).toBe(read?.hash)
    expect(other?.hash).not.toBe(read?.hash)
  })

  test.each([
    ['is not a list', model],
    ['has a name twice', [model, model]],
    ['lacks its citation', [{ ...model, citation: undefined }]],
    ['has pieces that do not ascend', [{ ...model, pieces: model.pieces.toReversed() }]],
    [
      'has a power of a quantity that there is not',
      [{ ...model, pieces: [{ terms: [{ times: 1, ozon: 1 }] }] }],
    ],
  ])('that %s is refused in words', (_, file) => {
    expect(readCorrections(JSON.parse(JSON.stringify(file)))).toMatch(/\w/)
    expect(typeof readCorrections(JSON.parse(JSON.stringify(file)))).toBe('string')
  })
})
