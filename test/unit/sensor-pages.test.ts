/** Lists of sensors are what a search through all of them finds, whatever the registry and the log did before. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { areaNow, areasNow } from '../../api/areas/network-now.ts'
import type { Area } from '../../api/live/area-directory.ts'
import { boxAround, distanceM, isLonIn } from '../../api/live/region.ts'
import { createSensorBoard } from '../../api/live/sensor-board.ts'
import {
  type Entry,
  isOnline,
  lastHeardMs,
  newestMs,
  statusNow,
} from '../../api/live/sensor-now.ts'
import { pageByDistance, pageById } from '../../api/live/sensor-pages.ts'
import type { SensorQuery } from '../../api/live/sensor-query.ts'
import { seqOf } from '../../core/air/reading.ts'
import { partitionCount, partitionOf, sensorIdRules } from '../../core/air/sensor-id.ts'
import { formatIso, formatIsoMs } from '../../core/iso-time.ts'
import { evolve } from '../../core/state/evolve.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { createState } from '../../core/state/partition-state.ts'
import { graceMsOf, held, online, statusNames } from '../../core/state/presence.ts'
import { minuteMs } from '../../core/time.ts'
import {
  parseAnySensor,
  type RegisteredSensor,
  siteAt,
} from '../../schemas/devices/registered-sensor.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import { valued } from '../support/readings.ts'
import { outlineOf, registeredView } from '../support/registered-view.ts'

const rules = sensorIdRules()
const startMs = Date.UTC(2026, 0, 1)

const areas = ['Ikeja', 'Yaba', 'Ìkòyí']
const ids = ['IKJ', 'YAB'].flatMap((code) =>
  ['001', '002', '0021', '003', '0100', '100'].map((number) => `NGR-LOS-${code}-${number}`),
)
// few places, of which some are equally far, two beside the antimeridian and one at a pole
const places = [
  [6.5, 3.4],
  [6.5, 3.5],
  [6.5, 3.3],
  [6.6, 3.4],
  [-17, 179.99],
  [-17, -179.99],
  [90, 0],
  [0, 0],
] as const
const anyPlace = fc.constantFrom(...places)
const anySite = fc.record({
  place: anyPlace,
  area: fc.constantFrom(...areas),
  fromMinutes: fc.integer({ min: -20, max: 20 }),
})
const anyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      put: fc.constantFrom(...ids),
      sites: fc.array(anySite, { minLength: 1, maxLength: 3 }),
      isRetired: fc.boolean(),
      cadenceSeconds: fc.constantFrom(60, 300),
    }),
  },
  { weight: 1, arbitrary: fc.record({ remove: fc.constantFrom(...ids) }) },
  // now, late, and too late to be a sign of life
  {
    weight: 4,
    arbitrary: fc.record({
      hear: fc.constantFrom(...ids),
      ageMinutes: fc.constantFrom(0, 0, 5, 31),
    }),
  },
  { weight: 1, arbitrary: fc.record({ silence: fc.constantFrom(...ids) }) },
  { weight: 1, arbitrary: fc.record({ hold: fc.constantFrom(...ids) }) },
  { weight: 1, arbitrary: fc.record({ seedAgain: fc.constantFrom('same', 'empty') }) },
  { weight: 1, arbitrary: fc.record({ passMinutes: fc.integer({ min: 5, max: 15 }) }) },
  { weight: 1, arbitrary: fc.constant({ look: true } as const) },
)
const anyQuery = fc.record(
  {
    isOnline: fc.boolean(),
    area: fc.constantFrom(...areas, 'Nowhere'),
    box: fc.constantFrom(
      { west: 3.3, south: 6.5, east: 3.4, north: 6.6 },
      { west: 179, south: -20, east: 181, north: 20 },
      { west: -180, south: -90, east: 180, north: 90 },
      { west: 3.45, south: 6.5, east: 3.45, north: 6.5 },
    ),
    circle: fc
      .record({
        at: anyPlace,
        radiusM: fc.constantFrom(1, 11_047, 12_000, 200_000),
      })
      .map(({ at: [lat, lon], radiusM }) => ({ lat, lon, radiusM })),
  },
  { requiredKeys: [] },
)
const anyPage = fc.record({
  query: anyQuery,
  limit: fc.integer({ min: 1, max: 8 }),
  from: anyPlace,
  isFine: fc.constantFrom(undefined, 0),
})

const entryOf = (
  id: string,
  sites: readonly { place: readonly [number, number]; area: string; fromMinutes: number }[],
  isRetired: boolean,
  cadenceSeconds: number,
): SensorEntry => ({
  id,
  cadence_seconds: cadenceSeconds,
  sites: sites.map(({ place: [lat, lon], area, fromMinutes }) => ({
    from: formatIso(startMs + fromMinutes * minuteMs),
    area,
    lat,
    lon,
    address: `${area}, ${fromMinutes}`,
  })),
  created_at: formatIso(startMs),
  ...(isRetired && { retired_at: formatIso(startMs) }),
})

/** A board, and beside it all that it should know, as objects. */
function openCity() {
  const registry = registeredView(rules)
  const noStates = () => Array.from({ length: partitionCount }, (_, at) => createState(at))
  let states = noStates()
  let nowMs = startMs
  let seq = 0
  const board = createSensorBoard({
    sensors: registry,
    states: () => states,
    nowMs: () => nowMs,
  })
  const known = new Map<string, RegisteredSensor>()
  const commit = (id: string, what: Partial<LogMessage>): void => {
    const state = states[partitionOf(id)]!
    const message: LogMessage = {
      partition: state.partition,
      worker: 'test',
      rawLast: 0,
      rawLastTimeMs: nowMs,
      nLast: state.n + (what.readings?.length ?? 0),
      lateTo: 0,
      listenedMs: nowMs,
      readings: [],
      events: [],
      held: [],
      deferred: [],
      refused: [],
      duplicates: [],
      ...what,
    }
    evolve(state, message, ++seq)
    board.onFolded(message)
  }
  return {
    board,
    nowMs: () => nowMs,
    known,
    states: () => states,
    pass: (ms: number): void => void (nowMs += ms),
    put: (id: string, entry: SensorEntry | undefined): void => {
      registry.put(id, entry, nowMs)
      const sensor = entry && parseAnySensor(entry, rules, id)
      if (sensor === undefined) known.delete(id)
      else known.set(id, sensor)
    },
    hear: (id: string, ageMinutes: number): void => {
      const sensor = rules.parse(id)!
      const state = states[partitionOf(id)]!
      const reading = valued({
        sensor,
        area: 'Ikeja',
        timeMs: ++nowMs - ageMinutes * minuteMs,
        arrivedMs: nowMs,
        pm25: 1_250,
        pm10: 4_000,
        co2: 41_000,
        temperature: 2_900,
        humidity: 7_000,
        aqi: 57,
        flags: 0,
        seq: seqOf(state.partition, state.n + 1),
      })
      commit(id, { readings: [reading] })
    },
    silence: (id: string): void => {
      const sensor = rules.parse(id)!
      if (!states[partitionOf(id)]!.slots.has(sensor)) return
      const offline = {
        kind: 'offline',
        sensor,
        lastReadingMs: nowMs,
        offlineSinceMs: nowMs,
        silenceMs: 1,
      } as const
      commit(id, { events: [offline] })
    },
    hold: (id: string): void => commit(id, { held: [rules.parse(id)!] }),
    seedAgain: (what: string): void => {
      if (what === 'empty') states = noStates()
      board.onFolded(undefined)
    },
  }
}
type City = ReturnType<typeof openCity>
const play = (city: City, steps: readonly object[]): void => {
  for (const step of steps as readonly Record<string, never>[]) {
    if (step['put'] !== undefined)
      city.put(
        step['put'],
        entryOf(step['put'], step['sites']!, step['isRetired']!, step['cadenceSeconds']!),
      )
    if (step['remove'] !== undefined) city.put(step['remove'], undefined)
    if (step['hear'] !== undefined) city.hear(step['hear'], step['ageMinutes']!)
    if (step['silence'] !== undefined) city.silence(step['silence'])
    if (step['hold'] !== undefined) city.hold(step['hold'])
    if (step['seedAgain'] !== undefined) city.seedAgain(step['seedAgain'])
    if (step['passMinutes'] !== undefined) city.pass(step['passMinutes'] * minuteMs)
    if (step['look'] !== undefined)
      city.board.table().near({ west: -180, east: 180, south: -90, north: 90 })
  }
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number =>
  a.id < b.id ? -1 : 1

/** The same by a look at each sensor. */
function searched(city: City, query: SensorQuery, isFine: ((id: string) => boolean) | undefined) {
  const { isOnline, area, box, circle } = query
  return [...city.known.values()]
    .filter((sensor) => {
      if (sensor.retiredMs !== undefined) return false
      const site = siteAt(sensor, city.nowMs())
      const state = city.states()[partitionOf(sensor.id)]!
      const slot = state.slots.get(sensor.id)
      const status = slot === undefined ? -1 : state.status[slot]
      return (
        (isOnline === undefined || (status === online || status === held) === isOnline) &&
        (area === undefined || site.area === area) &&
        (box === undefined ||
          (site.lat >= box.south && site.lat <= box.north && isLonIn(box, site.lon))) &&
        (circle === undefined ||
          distanceM(circle.lat, circle.lon, site.lat, site.lon) <= circle.radiusM) &&
        (isFine === undefined || isFine(sensor.id))
      )
    })
    .toSorted(byId)
}

type Shown = ReturnType<typeof pageById>
const seen = ({ shown }: Shown) =>
  shown.map(({ entry, distanceM: m }) => [entry.id, m, entry.area, entry.site.address])

test('pages by id and by distance are those of a search through all sensors', () => {
  let compared = 0
  fc.assert(
    fc.property(
      fc.array(anyStep, { maxLength: 40 }),
      fc.array(anyPage, { maxLength: 6 }),
      (steps, pages) => {
        const city = openCity()
        play(city, steps)
        // sites are those of the last step of the clock
        city.pass(5 * minuteMs)
        for (const {
          query,
          limit,
          from: [lat, lon],
          isFine,
        } of pages) {
          const condition = isFine === undefined ? undefined : (id: string) => id.endsWith('1')
          const wanted = {
            query,
            limit,
            isFine: condition && (({ id }: { readonly id: string }) => condition(id)),
          }
          const all = searched(city, query, condition)
          const siteOf = (sensor: RegisteredSensor) => siteAt(sensor, city.nowMs())
          const far = (sensor: RegisteredSensor) =>
            distanceM(lat, lon, siteOf(sensor).lat, siteOf(sensor).lon)
          const walks = [
            {
              expected: all.map((sensor) => [
                sensor.id,
                undefined,
                siteOf(sensor).area,
                siteOf(sensor).address,
              ]),
              next: (last: Shown['shown'][number] | undefined) =>
                pageById(city.board, { ...wanted, after: last?.entry.id }),
            },
            {
              expected: all
                .toSorted((a, b) => far(a) - far(b) || byId(a, b))
                .map((sensor) => [
                  sensor.id,
                  far(sensor),
                  siteOf(sensor).area,
                  siteOf(sensor).address,
                ]),
              next: (last: Shown['shown'][number] | undefined) =>
                pageByDistance(city.board, {
                  ...wanted,
                  from: { lat, lon },
                  after: last && { distanceM: last.distanceM ?? 0, id: last.entry.id },
                }),
            },
          ]
          for (const { expected, next } of walks) {
            let last: Shown['shown'][number] | undefined
            for (let at = 0; at === 0 || at < expected.length; at += limit) {
              const page = next(last)
              expect(seen(page)).toEqual(expected.slice(at, at + limit))
              expect([page.total, page.hasMore]).toEqual([all.length, at + limit < all.length])
              last = page.shown.at(-1)
              compared++
            }
          }
        }
      },
    ),
    { numRuns: 1_000 },
  )
  expect(compared).toBeGreaterThan(3_000)
})

test('short numbers, areas, borders and stays follow the registry', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      const city = openCity()
      play(city, steps)
      const table = city.board.table()
      const known = [...city.known.values()]
      expect(table.outline()).toEqual(outlineOf(known))
      for (const number of ['001', '002', '0021', '9']) {
        const all = known.filter(({ id }) => id.endsWith(`-${number}`)).toSorted(byId)
        const inUse = all.filter(({ retiredMs }) => retiredMs === undefined)
        expect(city.board.withNumber(number)).toEqual(
          (inUse.length > 0 ? inUse : all).map(({ id }) => id),
        )
      }
      for (const area of [undefined, ...areas])
        expect(
          [...table.stays(area)]
            .toSorted(byId)
            .map(({ id, cadenceMs, retiredMs, sites }) => [
              id,
              cadenceMs,
              retiredMs,
              sites.map(({ fromMs, area: name }) => [fromMs, name]),
            ]),
        ).toEqual(
          known
            .filter(({ sites }) => area === undefined || sites.some((site) => site.area === area))
            .toSorted(byId)
            .map(({ id, cadenceMs, retiredMs, sites }) => [
              id,
              cadenceMs,
              retiredMs,
              sites.map(({ fromMs, area: name }) => [fromMs, name]),
            ]),
        )
    }),
    { numRuns: 500 },
  )
})

/** What is known of these sensors now, by a look at each. */
function looked(sensors: Iterable<Entry>, nowMs: number) {
  const all = [...sensors]
  const inAll = (isMeant: (sensor: Entry) => boolean): number => all.filter(isMeant).length
  const latestMs = Math.max(...all.map(newestMs))
  const isReporting = (sensor: Entry): boolean => {
    const lastMs = lastHeardMs(sensor)
    return lastMs !== null && nowMs - lastMs <= graceMsOf(sensor.cadenceMs)
  }
  return {
    sensors: {
      total: all.length,
      online: inAll(isOnline),
      offline: inAll((sensor) => !isOnline(sensor)),
    },
    presence: {
      reporting: inAll(isReporting),
      never_reported: inAll((sensor) => newestMs(sensor) === -Infinity),
    },
    last_updated: latestMs === -Infinity ? null : formatIsoMs(latestMs),
  }
}

test('what is known of an area now is what a look at each of its sensors finds', () => {
  const names = [...areas, 'Nowhere']
  const areaNamed = (name: string, isNetwork = false): Area => ({
    name,
    code: null,
    slug: name,
    storedAs: name,
    isNetwork,
  })
  // also by a clock that was set back, and at the very end of a grace
  const anyAsk = fc.record({
    askAfterMs: fc.constantFrom(-minuteMs, 0, 180_000, 180_001, 900_000, 900_001),
  })
  const seenCounts = new Set<number>()
  fc.assert(
    fc.property(
      fc.subarray(ids),
      fc.array(fc.oneof({ weight: 3, arbitrary: anyStep }, { weight: 1, arbitrary: anyAsk }), {
        maxLength: 60,
        size: 'max',
      }),
      (known, steps) => {
        const city = openCity()
        const { board } = city
        for (const [at, id] of known.entries())
          city.put(
            id,
            entryOf(id, [{ place: [0, 0], area: areas[at % 2]!, fromMinutes: 0 }], false, 60),
          )
        for (const step of [...steps, { askAfterMs: 0 }]) {
          if (!('askAfterMs' in step)) {
            play(city, [step])
            continue
          }
          const nowMs = city.nowMs() + step.askAfterMs
          const now = areasNow(board, names, nowMs)
          expect(now.network).toEqual(looked(board.inUse(), nowMs))
          expect(areaNow(board, areaNamed('Lagos', true), nowMs)).toEqual(now.network)
          for (const name of names) {
            expect(now.areas.get(name)).toEqual(looked(board.inUse(name), nowMs))
            expect(areaNow(board, areaNamed(name), nowMs)).toEqual(now.areas.get(name))
          }
          const statuses = [...board.inUse()].map((sensor) => statusNames[statusNow(sensor)])
          expect(board.counts().byStatus()).toEqual(
            Object.fromEntries(
              statusNames.map((name) => [
                name,
                statuses.filter((status) => status === name).length,
              ]),
            ),
          )
          seenCounts.add(now.network.presence.reporting)
        }
      },
    ),
    { numRuns: 1_000 },
  )
  expect(seenCounts.size).toBeGreaterThan(5)
})

test('a box around a place has every place that is no further away', () => {
  const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true })
  fc.assert(
    fc.property(
      degrees(90),
      degrees(180),
      degrees(90),
      degrees(180),
      (lat, lon, otherLat, otherLon) => {
        const radiusM = distanceM(lat, lon, otherLat, otherLon)
        const { west, east, south, north } = boxAround(lat, lon, radiusM)
        expect(otherLat).toBeGreaterThanOrEqual(south)
        expect(otherLat).toBeLessThanOrEqual(north)
        expect(
          [-360, 0, 360].some((turn) => otherLon >= west + turn && otherLon <= east + turn),
        ).toBe(true)
      },
    ),
    { numRuns: 5_000 },
  )
})

test('the sensors of a box that was asked for before follow the registry', () => {
  const city = openCity()
  const [first = '', second = '', third = ''] = ids
  const inside = { place: [6.55, 3.35], area: 'Ikeja', fromMinutes: -60 } as const
  const outside = { place: [9.05, 7.49], area: 'Ikeja', fromMinutes: -60 } as const
  const elsewhere = { place: [6.55, 3.35], area: 'Yaba', fromMinutes: 10 } as const
  const box = { west: 3.3, south: 6.5, east: 3.4, north: 6.6 }
  const ask = (query: SensorQuery): readonly string[] =>
    pageById(city.board, { query, limit: 8, after: undefined }).shown.map(({ entry }) => entry.id)
  const put = (id: string, site: Parameters<typeof entryOf>[1][number], isRetired = false): void =>
    city.put(id, entryOf(id, [site], isRetired, 60))
  // a box around all sensors is not looked for
  put(third, outside)
  expect(ask({ box })).toEqual([])
  put(first, inside)
  expect(ask({ box })).toEqual([first])
  put(second, inside)
  expect(ask({ box })).toEqual([first, second])
  put(first, outside)
  expect(ask({ box })).toEqual([second])
  put(first, inside)
  city.put(second, entryOf(second, [inside, elsewhere], false, 60))
  expect(ask({ box, area: 'Yaba' })).toEqual([])
  city.pass(11 * minuteMs)
  expect(ask({ box, area: 'Yaba' })).toEqual([second])
  put(first, inside, true)
  city.put(second, undefined)
  expect(ask({ box })).toEqual([])
})
