/** What the pages of the city and of a sensor compute, without a browser. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { usBands } from '../../core/air/index/us-bands.ts'
import {
  areaOfRing,
  clipRing,
  packRing,
  thinRing,
  unpackRing,
} from '../../dashboard/web/map/clip-rings.ts'
import { matchPath } from '../../dashboard/web/match-path.ts'
import { bandOf } from '../../dashboard/web/pages/city/area-band.ts'
import { afterNews, type CitySensor, choose } from '../../dashboard/web/pages/city/city-sensor.ts'
import { heardIn, thinned, withGaps } from '../../dashboard/web/pages/sensor/gaps.ts'
import { inkOn } from '../../dashboard/web/parts/ink.ts'
import { languages, snippet } from '../../dashboard/web/parts/snippet.ts'
import { ago, duration, utcTime } from '../../dashboard/web/parts/times.ts'
import { zonesOf } from '../../dashboard/web/parts/zones.ts'

const sensor = (id: string, more: Partial<CitySensor> = {}): CitySensor => ({
  id,
  area: 'Ikeja',
  lat: 6.6,
  lon: 3.3,
  address: '1 Allen Avenue',
  isOnline: true,
  lastMs: 1000,
  aqi: 50,
  ...more,
})

test('an older reading changes nothing, a newer one does, and silence keeps the last index', () => {
  const was = sensor('a')
  expect(afterNews(was, { kind: 'reading', sensor: 'a', timeMs: 1000, aqi: 9 })).toBe(was)
  const now = afterNews(was, { kind: 'reading', sensor: 'a', timeMs: 2000, aqi: null })
  expect(now).toMatchObject({ lastMs: 2000, aqi: null })
  expect(afterNews(was, { kind: 'online', sensor: 'a' })).toBe(was)
  expect(afterNews(was, { kind: 'offline', sensor: 'a' })).toMatchObject({
    isOnline: false,
    aqi: 50,
  })
})

test('the list is searched by every word, and those without an index come last either way', () => {
  const all = [
    sensor('c', { aqi: 20 }),
    sensor('b', { aqi: 300, isOnline: false, lastMs: 1 }),
    sensor('d', { aqi: 90, area: 'Yaba', address: '2 Herbert Road' }),
    sensor('e', { aqi: null, lastMs: null }),
  ]
  const ids = (wanted: Partial<Parameters<typeof choose>[1]>): string =>
    choose(all, { search: '', area: '', order: 'worst', ...wanted })
      .map(({ id }) => id)
      .join('')
  expect(ids({})).toBe('dcbe')
  expect(ids({ order: 'best' })).toBe('cdbe')
  expect(ids({ order: 'id' })).toBe('bcde')
  expect(ids({ order: 'silent' })).toBe('ebcd')
  expect(ids({ area: 'Yaba' })).toBe('d')
  expect(ids({ search: ' ROAD  herbert ' })).toBe('d')
  expect(ids({ search: 'allen yaba' })).toBe('')
})

test('a line is broken where readings are missing, and nowhere else', () => {
  const at = (timeMs: number) => ({ timeMs, value: timeMs })
  expect(withGaps([at(3000), at(1000), at(2000)], 1000).ys).toEqual([1000, 2000, 3000])
  const { xs, ys } = withGaps([at(1000), at(9000)], 1000)
  expect(ys).toEqual([1000, null, 9000])
  expect(xs).toEqual([1, 2, 9])
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1e6 })), (times) => {
      const line = withGaps(times.map(at), 1000)
      expect(line.xs).toEqual(line.xs.toSorted((a, b) => a - b))
      expect(line.ys.filter((y) => y !== null)).toHaveLength(times.length)
    }),
  )
})

test('thinned readings keep their mean, and steps without readings stay empty', () => {
  const points = Array.from({ length: 100 }, (_, at) => ({
    timeMs: at * 10,
    value: at < 50 ? 1 : 3,
  }))
  const few = thinned(points, { fromMs: 0, toMs: 2000, most: 4 })
  expect(few).toEqual([
    { timeMs: 250, value: 1 },
    { timeMs: 750, value: 3 },
  ])
  expect(thinned(points, { fromMs: 0, toMs: 1000, most: 100 })).toBe(points)
  expect(heardIn([0, 10, 999, 1000, -1], { fromMs: 0, toMs: 1000, count: 4 })).toEqual([
    true,
    false,
    false,
    true,
  ])
})

test('an hour without readings is a gap in the band', () => {
  const hour = (start_time: string, average: number) => ({
    start_time,
    aqi: { average, min: average - 5, max: average + 5 },
  })
  const { xs, ys, band, from } = bandOf(
    [hour('2026-01-01T00:30:00Z', 40), hour('2026-01-01T02:00:00Z', 60)],
    { start_time: '2026-01-01T00:30:00Z', end_time: '2026-01-01T03:00:00Z' },
  )
  expect(ys).toEqual([40, null, 60])
  expect(band.low).toEqual([35, null, 55])
  expect(xs[0]).toBe(from)
})

test('zones cover the scale without a gap, and humidity has none', () => {
  for (const name of ['aqi', 'pm25', 'pm10']) {
    const zones = zonesOf(name)
    expect(zones).toHaveLength(usBands.length)
    expect(zones[0]?.from).toBe(0)
    for (const [at, { to }] of zones.entries()) expect(zones[at + 1]?.from ?? Infinity).toBe(to)
  }
  expect(zonesOf('pm25')[1]?.from).toBe(9.1)
  expect(zonesOf('humidity')).toEqual([])
})

test('every number on the map can be read on its colour', () => {
  const light = (hex: string): number => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  for (const { color, colorVision } of usBands)
    for (const ground of [color, colorVision]) {
      const [low = 0, high = 0] = [light(ground), light(inkOn(ground))].toSorted((a, b) => a - b)
      expect([ground, (high + 0.05) / (low + 0.05) >= 4.5]).toEqual([ground, true])
    }
})

test('addresses are matched by their shape, and a broken escape is not a page', () => {
  expect(matchPath('/', '/')).toEqual({})
  expect(matchPath('/sensors/:id', '/sensors/a%20b/')).toEqual({ id: 'a b' })
  expect(matchPath('/sensors/:id', '/sensors/')).toBeUndefined()
  expect(matchPath('/sensors/:id', '/sensors/%zz')).toBeUndefined()
  expect(matchPath('/proof/:id/:timestamp', '/proof/a')).toBeUndefined()
})

test('lengths of time are shown in their largest units', () => {
  expect(['just now', '42 s ago', 'in 7 min', '3 h 20 min ago']).toEqual([
    ago(1000, 5000),
    ago(0, 42_000),
    ago(420_000, 0),
    ago(0, 12_000_000),
  ])
  expect([59, 60, 3600, 90_000, 172_800].map(duration)).toEqual([
    '59 s',
    '1 min',
    '1 h',
    '1 d 1 h',
    '2 d',
  ])
  expect(utcTime(Date.UTC(2026, 0, 1, 0, 7, 1))).toBe('2026-01-01 00:07:01 UTC')
})

test('every example holds the address and the key', () => {
  for (const language of languages) {
    const text = snippet(language, 'http://127.0.0.1:8080/v1/sensors?limit=5', 'aqk_x')
    expect(text).toContain('http://127.0.0.1:8080/v1/sensors?limit=5')
    expect(text).toContain('Bearer aqk_x')
  }
})

test('the coast is cut to its box, thinned within its tolerance, and comes back as it was packed', () => {
  const square = [
    [0, 0],
    [4, 0],
    [4, 4],
    [0, 4],
    [0, 0],
  ] as const
  expect(areaOfRing(clipRing(square, [1, 1, 3, 9]))).toBeCloseTo(6)
  expect(clipRing(square, [5, 5, 6, 6])).toEqual([])
  const line = [
    [0, 0],
    [1, 0.01],
    [2, 0],
    [3, 1],
  ] as const
  expect(thinRing(line, 0.1)).toEqual([line[0], line[2], line[3]])
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer(), fc.integer())), (steps) => {
      const ring = steps.map(([x, y]): [number, number] => [(x % 9000) / 10, (y % 9000) / 10])
      expect(unpackRing(packRing(ring, 10), 10)).toEqual(ring.map(([x, y]) => [x + 0, y + 0]))
    }),
  )
})
