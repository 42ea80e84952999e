import fc from 'fast-check'
import { expect, test } from 'vitest'
import { slugOf } from '../../core/air/area.ts'
import { type EventKind, eventKinds, sourceNames, sourceOf } from '../../core/delivery/delivery.ts'
import { webhookIdOf, webhookNumberOf } from '../../core/delivery/webhook-id.ts'
import { createWebhookIndex, type Subscription } from '../../core/delivery/webhook-match.ts'
import { matchEvent } from '../../schemas/log/event.ts'
import { offline, online, quality, rise } from '../support/notifier.ts'

const wants = (number: number, wish: Partial<Subscription> = {}): Subscription => ({
  number,
  events: ['aqi.high'],
  sensor: undefined,
  area: undefined,
  threshold: 150,
  ...wish,
})

const place = { sensor: 'NGR-LOS-YAB-001', area: 'Yaba' }
const indexOf = (...subscriptions: Subscription[]) => {
  const index = createWebhookIndex()
  for (const one of subscriptions) index.put(one)
  return index
}
type Hit = readonly [number, EventKind, number]
const hits = (look: (on: (...hit: Hit) => void) => void): Hit[] => {
  const collected: Hit[] = []
  look((...hit) => void collected.push(hit))
  return inOrder(collected)
}
const inOrder = (hits: readonly Hit[]): Hit[] =>
  hits.toSorted((a, b) => a[0] - b[0] || a[1].localeCompare(b[1]))
/** All kinds except the one with a threshold. */
const codedKinds = eventKinds.filter((kind) => kind !== 'aqi.high')

test('a threshold fires if the rise goes from at or below it to above it', () => {
  const index = indexOf(...[99, 100, 149, 150, 151].map((threshold, i) => wants(i, { threshold })))
  const fired = hits((on) => index.rise(place, { from: 100, to: 150 }, on))
  expect(fired).toEqual([
    [1, 'aqi.high', 100],
    [2, 'aqi.high', 149],
  ])
})

test('a jump over both lines fires aqi.high and aqi.critical', () => {
  const index = indexOf(wants(7, { events: ['aqi.high', 'aqi.critical'] }))
  expect(hits((on) => matchEvent(rise(100, 320, place.sensor), index, on))).toEqual([
    [7, 'aqi.critical', 0],
    [7, 'aqi.high', 150],
  ])
  expect(hits((on) => matchEvent(rise(100, 300, place.sensor), index, on))).toEqual([
    [7, 'aqi.high', 150],
  ])
  expect(hits((on) => matchEvent(rise(301, 320, place.sensor), index, on))).toEqual([])
})

test('aqi.critical ignores the threshold, and a fraction of one is floored', () => {
  const critical = indexOf(wants(1, { events: ['aqi.critical'], threshold: 400 }))
  expect(hits((on) => matchEvent(rise(290, 310), critical, on))).toHaveLength(1)
  const half = indexOf(wants(1, { threshold: 150.9 }))
  expect(hits((on) => half.rise(place, { from: 100, to: 151 }, on))).toEqual([[1, 'aqi.high', 150]])
})

test('sensor and area must both match, the area in any spelling', () => {
  const index = indexOf(
    wants(1, { sensor: place.sensor }),
    wants(2, { sensor: 'NGR-LOS-YAB-002' }),
    wants(3, { area: 'YABA' }),
    wants(4, { area: 'ikeja' }),
    wants(5, { sensor: place.sensor, area: 'yaba' }),
    wants(6, { sensor: place.sensor, area: 'ikeja' }),
    wants(7),
  )
  expect(hits((on) => index.rise(place, { from: 0, to: 200 }, on)).map(([n]) => n)).toEqual([
    1, 3, 5, 7,
  ])
})

test('an event goes to the webhooks of its own kind', () => {
  const index = indexOf(...codedKinds.map((kind, number) => wants(number, { events: [kind] })))
  const eventOf = {
    'sensor.offline': offline(),
    'sensor.online': online(),
    'sensor.quality': quality(),
  }
  for (const [kind, event] of Object.entries(eventOf))
    expect(hits((on) => matchEvent(event, index, on)).map(([, of]) => of)).toEqual([kind])
})

test('a source is wanted only while a webhook waits for one of its kinds', () => {
  const index = createWebhookIndex()
  expect(index.wants('readings')).toBe(false)
  index.put(wants(1, { events: ['reading.new'] }))
  index.put(wants(1, { events: ['reading.new', 'aqi.high'] }))
  expect(index.wants('readings')).toBe(true)
  expect(hits((on) => index.match('reading.new', place, 3, on))).toEqual([[1, 'reading.new', 3]])
  index.put(wants(1))
  expect(index.wants('readings')).toBe(false)
})

const subscription = fc.record({
  number: fc.integer({ min: 0, max: 12 }),
  events: fc.uniqueArray(fc.constantFrom(...eventKinds), { minLength: 1 }),
  sensor: fc.constantFrom(undefined, 'S1', 'S2'),
  area: fc.constantFrom(undefined, 'Yaba', 'yaba', 'Ikeja GRA'),
  threshold: fc.integer({ min: 0, max: 499 }),
})
const change = fc.oneof(
  subscription.map((put) => ({ put })),
  fc.integer({ min: 0, max: 12 }).map((remove) => ({ remove })),
)

test('after any changes the index gives the same result as a scan of all webhooks', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 30 }),
      fc.constantFrom('S1', 'S2', 'S3'),
      fc.constantFrom('Yaba', 'Ikeja GRA', ''),
      fc.integer({ min: 0, max: 500 }),
      fc.integer({ min: 0, max: 500 }),
      (changes, sensor, area, from, to) => {
        const index = createWebhookIndex()
        const all = new Map<number, Subscription>()
        for (const one of changes) {
          if ('put' in one) {
            index.put(one.put)
            all.set(one.put.number, one.put)
          } else {
            index.remove(one.remove)
            all.delete(one.remove)
          }
        }
        const expected: Hit[] = []
        const coded: Hit[] = []
        for (const { number, events, threshold, ...filter } of all.values()) {
          if (filter.sensor !== undefined && filter.sensor !== sensor) continue
          if (filter.area !== undefined && slugOf(filter.area) !== slugOf(area)) continue
          if (events.includes('aqi.high') && from <= threshold && threshold < to)
            expected.push([number, 'aqi.high', threshold])
          if (events.includes('aqi.critical') && from <= 300 && 300 < to)
            expected.push([number, 'aqi.critical', 0])
          for (const kind of codedKinds) if (events.includes(kind)) coded.push([number, kind, 9])
        }
        const place = { sensor, area }
        const collect = (on: (...hit: Hit) => void) => {
          for (const kind of codedKinds) index.match(kind, place, 9, on)
        }
        expect(hits(collect)).toEqual(inOrder(coded))
        expect(hits((on) => matchEvent({ ...rise(from, to, sensor), area }, index, on))).toEqual(
          inOrder(expected),
        )
        for (const source of sourceNames)
          expect(index.wants(source)).toBe(
            [...all.values()].some(({ events }) => events.map(sourceOf).includes(source)),
          )
        expect(index.size()).toBe(all.size)
      },
    ),
  )
})

test('a number and its id are two spellings of the same thing', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (number) => {
      const id = webhookIdOf(number)
      expect(id).toMatch(/^wh_[0-9a-hjkmnp-tv-z]{7}$/)
      expect(webhookNumberOf(id)).toBe(number)
    }),
  )
})

test.each([
  '',
  'wh_',
  'wh_000000',
  'wh_00000000',
  'wh_000000i',
  'WH_0000000',
  'wh_zzzzzzz',
  'xx_0000000',
])('%j is not an id', (text) => expect(webhookNumberOf(text)).toBeUndefined())

test('events about readings that are worse than a webhook wants are left out, others are not', () => {
  const index = indexOf(
    wants(0, { events: eventKinds }),
    wants(1, { events: eventKinds, minQuality: 'good' }),
    wants(2, { events: eventKinds, minQuality: 'suspect', sensor: place.sensor }),
    wants(3, { events: eventKinds, minQuality: 'fail', area: 'Yaba' }),
  )
  const webhooksFor = (level?: 'good' | 'suspect' | 'fail'): number[] =>
    hits((on) => index.match('reading.new', level ? { ...place, level } : place, 0, on)).map(
      ([number]) => number,
    )
  expect(webhooksFor('good')).toEqual([0, 1, 2, 3])
  expect(webhooksFor('suspect')).toEqual([0, 2, 3])
  expect(webhooksFor('fail')).toEqual([0, 3])
  expect(webhooksFor()).toEqual([0, 1, 2, 3])
  const event = rise(100, 320)
  if (event.kind !== 'rise') throw new Error('it is a rise')
  const spike = { ...event, reading: { ...event.reading, quality: ['pm_spike'] } }
  const risen = hits((on) => matchEvent(spike, index, on))
  expect(risen.map(([number, kind]) => [number, kind])).toEqual(
    [0, 2, 3].flatMap((number) => [
      [number, 'aqi.critical'],
      [number, 'aqi.high'],
    ]),
  )
  // that a sensor is bad does not make its reading bad
  const changed = hits((on) => matchEvent(quality(place.sensor), index, on))
  expect(changed.map(([number]) => number)).toEqual([0, 1, 2, 3])
})
