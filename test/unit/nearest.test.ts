import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nearestOf, type Place } from '../../core/air/nearest.ts'

const earthKm = 6_371
const pointOf = ({ lat, lon }: Place): readonly number[] => {
  const [north, east] = [(lat * Math.PI) / 180, (lon * Math.PI) / 180]
  return [
    earthKm * Math.cos(north) * Math.cos(east),
    earthKm * Math.cos(north) * Math.sin(east),
    earthKm * Math.sin(north),
  ]
}

/** By looking at all of them. */
function plainly(places: readonly Place[], index: number, count: number, withinKm: number) {
  const here = pointOf(places[index]!)
  return places
    .map((place, other) => {
      const there = pointOf(place)
      return { other, square: here.reduce((sum, at, axis) => sum + (there[axis]! - at) ** 2, 0) }
    })
    .filter(({ other, square }) => other !== index && square <= withinKm ** 2)
    .toSorted((a, b) => a.square - b.square || a.other - b.other)
    .slice(0, count)
    .map(({ other }) => other)
}

const near = (lat: number, lon: number) =>
  fc.record({
    lat: fc
      .integer({ min: -12, max: 12 })
      .map((step) => Math.max(-90, Math.min(90, lat + step / 100))),
    lon: fc.integer({ min: -12, max: 12 }).map((step) => ((lon + step / 100 + 540) % 360) - 180),
  })

test('the nearest of each are those that a look at all finds, over the poles and 180° too', () => {
  const towns = fc.oneof(near(6.5, 3.4), near(-17, 180), near(90, 0))
  fc.assert(
    fc.property(
      fc.array(towns, { maxLength: 60 }),
      fc.integer({ min: 1, max: 9 }),
      (places, count) => {
        const nearest = nearestOf(places, { count, withinKm: 10 })
        for (const index of places.keys())
          expect(nearest.of(index)).toEqual(plainly(places, index, count, 10))
      },
    ),
  )
})

test('sensors at the same place are found, the first given first', () => {
  const places = Array.from({ length: 40 }, () => ({ lat: 6.5, lon: 3.4 }))
  expect(nearestOf(places, { count: 4, withinKm: 10 }).of(2)).toEqual([0, 1, 3, 4])
})

test('what is 10 km away is near, and what is 10.1 km away is not', () => {
  const north = (km: number): Place => ({ lat: (km / earthKm) * (180 / Math.PI), lon: 0 })
  const places = [north(0), north(9.99), north(10.1)]
  expect(nearestOf(places, { count: 8, withinKm: 10 }).of(0)).toEqual([1])
})
