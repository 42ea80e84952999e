/** What the pages of the city and of a sensor compute, without a browser. */
import { expect, test } from 'vitest'
import { usBands } from '../../core/air/index/us-bands.ts'
import { matchPath } from '../../dashboard/web/match-path.ts'
import {
  afterNews,
  type CitySensor,
  firstOf,
  matching,
  type Order,
} from '../../dashboard/web/pages/city/city-sensor.ts'
import { inkOn } from '../../dashboard/web/parts/air/ink.ts'
import { languages, snippet } from '../../dashboard/web/parts/snippet.ts'
import { ago, duration, isLongAgo, utcTime } from '../../dashboard/web/parts/time/times.ts'
import { zonesOf } from '../../dashboard/web/parts/time/zones.ts'

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
  const ids = ({ search = '', area = '', order = 'worst' as Order, most = 9 }): string =>
    firstOf(matching(all, { search, area }), { order, most })
      .map(({ id }) => id)
      .join('')
  expect(ids({})).toBe('dcbe')
  expect(ids({ order: 'best' })).toBe('cdbe')
  expect(ids({ order: 'id' })).toBe('bcde')
  expect(ids({ order: 'silent' })).toBe('ebcd')
  expect(ids({ area: 'Yaba' })).toBe('d')
  expect(ids({ search: ' ROAD  herbert ' })).toBe('d')
  expect(ids({ search: 'allen yaba' })).toBe('')
  expect(ids({ most: 2 })).toBe('dc')
  expect(ids({ most: 0 })).toBe('')
})

test('the first of very many are those of all put in order', () => {
  const all = Array.from({ length: 5_000 }, (_, at) =>
    sensor(`s${at}`, { aqi: (at * 7_919) % 501, isOnline: at % 9 > 0, lastMs: at % 1_000 }),
  )
  for (const order of ['worst', 'best', 'id', 'silent'] as const) {
    const whole = firstOf(all, { order, most: all.length })
    expect(firstOf(all, { order, most: 60 })).toEqual(whole.slice(0, 60))
  }
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
  // beyond that the month is said
  expect([59, 61].map((days) => isLongAgo(0, days * 86_400_000))).toEqual([false, true])
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
