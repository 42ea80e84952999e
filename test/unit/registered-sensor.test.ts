import { anything, assert, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { dayMs } from '../../core/time.ts'
import {
  entryFault,
  parseAnySensor,
  parseSensor,
  siteAt,
} from '../../schemas/devices/registered-sensor.ts'

const rules = sensorIdRules()
const site = (from: string, area: string) => ({ from, area, lat: 6.6, lon: 3.35, address: '' })
const entry = {
  id: 'NGR-LOS-IKJ-017',
  cadence_seconds: 60,
  sites: [site('2025-06-01T00:00:00+01:00', 'Yaba'), site('2024-01-01T00:00:00Z', 'Ikeja')],
  created_at: '2024-01-01T00:00:00Z',
}

test('sites are sorted by their times, whatever order they were written in', () => {
  const sensor = parseSensor(entry, rules)!
  expect(sensor.sites.map(({ area }) => area)).toEqual(['Ikeja', 'Yaba'])
  expect(sensor.cadenceMs).toBe(60_000)
  const movedMs = Date.UTC(2025, 4, 31, 23)
  const areasAt = [0, movedMs - 1, movedMs, movedMs + dayMs].map((ms) => siteAt(sensor, ms).area)
  expect(areasAt).toEqual(['Ikeja', 'Ikeja', 'Yaba', 'Yaba'])
})

test('of two sites with the same start the one written later counts', () => {
  const from = '2024-01-01T00:00:00Z'
  const sensor = parseSensor({ ...entry, sites: [site(from, 'A'), site(from, 'B')] }, rules)!
  expect(siteAt(sensor, Date.UTC(2025, 0, 1)).area).toBe('B')
})

describe('an invalid entry is not a sensor, and its fault is explained', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'NGR-LOS-IKJ-017'],
    ['an id of another city', { ...entry, id: 'GHA-ACC-OSU-001' }],
    ['an id with a wildcard', { ...entry, id: 'NGR-LOS-*-001' }],
    ['an id of lower case', { ...entry, id: 'ngr-los-ikj-017' }],
    ['an id that is too long', { ...entry, id: `NGR-LOS-IKJ-${'1'.repeat(60)}` }],
    ['no sites', { ...entry, sites: [] }],
    ['a site without an offset', { ...entry, sites: [site('2024-01-01T00:00:00', 'A')] }],
    ['a site on 30 February', { ...entry, sites: [site('2024-02-30T00:00:00Z', 'A')] }],
    ['a cadence of 0', { ...entry, cadence_seconds: 0 }],
    ['a cadence of half a second', { ...entry, cadence_seconds: 0.5 }],
    ['a field nobody knows', { ...entry, lat: 6.6 }],
    ['a make of two lines', { ...entry, make: 'Plan\ntower' }],
    ['a model of control characters', { ...entry, model: 'A\u001b[2J' }],
    ['a blank owner', { ...entry, owner: '  ' }],
    ['a long licence', { ...entry, licence: 'x'.repeat(201) }],
    ['a height in words', { ...entry, height_m: '3 m' }],
    ['a height on the moon', { ...entry, height_m: 384_400_000 }],
    ['an indoor that is not yes or no', { ...entry, indoor: 'yes' }],
  ])('%s', (_, value) => {
    expect(parseSensor(value, rules)).toBeUndefined()
    expect(entryFault(value, rules)).toMatch(/\w+ \w+/)
  })

  test('what is valid has no fault', () => {
    expect(entryFault(entry, rules)).toBeUndefined()
  })

  test('and nothing in the bucket can throw', () => {
    assert(property(anything(), (value) => parseSensor(value, rules) === undefined))
  })
})

test('what everyone may know about a device is read, and absent if nothing is known', () => {
  const about = {
    make: 'AirGradient',
    model: 'Open Air O-1PST',
    indoor: false,
    height_m: 2.5,
    licence: 'CC-BY-4.0',
    owner: 'Ẹgbẹ́ Afẹ́fẹ́',
  }
  expect(parseSensor({ ...entry, ...about }, rules)?.about).toEqual(about)
  expect(parseSensor({ ...entry, indoor: true }, rules)?.about).toEqual({ indoor: true })
  expect(parseSensor(entry, rules)).not.toHaveProperty('about')
})

test('a retired sensor is unknown to code that accepts readings, and known to code that shows them', () => {
  const entry = {
    id: 'NGR-LOS-IKJ-001',
    cadence_seconds: 300,
    sites: [
      { from: '2026-01-01T00:00:00Z', area: 'Ikeja', lat: 6.6, lon: 3.35, address: '1 Ikeja Road' },
    ],
    created_at: '2026-01-01T00:00:00Z',
  }
  const retired = { ...entry, retired_at: '2026-01-31T08:00:00Z' }
  expect(parseSensor(entry, sensorIdRules())).toBeDefined()
  expect(entryFault(retired, sensorIdRules())).toBeUndefined()
  expect(parseSensor(retired, sensorIdRules())).toBeUndefined()
  expect(parseAnySensor(retired, sensorIdRules())).toMatchObject({
    retiredMs: Date.UTC(2026, 0, 31, 8),
    sites: [{ area: 'Ikeja' }],
  })
})
