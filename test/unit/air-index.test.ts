/** What every index promises, the European one, and a made-up one that is used everywhere. */

import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { assert, integer, option, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aqiScale } from '../../api/areas/aqi-scale.ts'
import { showArea } from '../../api/areas/areas.ts'
import type { Asker, Request, Route } from '../../api/http/answer.ts'
import { parseParams } from '../../api/http/params.ts'
import { areaDirectory } from '../../api/live/area-directory.ts'
import { createNewestReadings } from '../../api/live/newest-readings.ts'
import { createReadingTexts } from '../../api/live/reading-json.ts'
import { createSensorBoard } from '../../api/live/sensor-board.ts'
import { openApi } from '../../api/openapi/document.ts'
import { answerSchemas } from '../../api/openapi/schemas.ts'
import { listReadings } from '../../api/readings/list-readings.ts'
import { listSensors } from '../../api/sensors/list-sensors.ts'
import { sensorStatus } from '../../api/sensors/sensor-status.ts'
import { showSensor } from '../../api/sensors/show-sensor.ts'
import {
  type AirIndex,
  ends,
  type Pollutant,
  pollutants,
  tableIndex,
} from '../../core/air/index/air-index.ts'
import { europeanIndex } from '../../core/air/index/european.ts'
import { airIndices } from '../../core/air/index/indices.ts'
import { naqiPmIndex } from '../../core/air/index/naqi-pm.ts'
import { ukIndex } from '../../core/air/index/uk-daqi.ts'
import { usAqiOf, usIndex } from '../../core/air/index/us-epa.ts'
import { mapQuantities } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import { partitionCount, partitionOf, sensorIdRules } from '../../core/air/sensor-id.ts'
import { valueOf, valuesOf } from '../../core/air/values.ts'
import { applyNewer, createOutcome } from '../../core/state/apply-reading.ts'
import { createState, slotOf } from '../../core/state/partition-state.ts'
import { hourMs, minuteMs } from '../../core/time.ts'
import { newEntry } from '../../operate/sensor-registry.ts'
import { createCache } from '../../runtime/cache.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { noValues } from '../../store/stat-fields.ts'
import type { AreaStats, FieldStats } from '../../store/store.ts'
import { registeredView } from '../support/registered-view.ts'

const indexed = (pm25: number | null, pm10: number | null = null) => ({
  values: valuesOf({ pm25, pm10 }),
  aqi: usAqiOf(pm25, pm10),
})

/** Of each index, from its source: µg/m³ of PM2.5, and the index. */
const published: Readonly<Record<string, readonly (readonly [ugM3: number, value: number])[]>> = {
  // EPA, 2024: the ends of the bands
  us: [
    [0, 0],
    [9, 50],
    [9.1, 51],
    [35.4, 100],
    [35.5, 101],
    [55.4, 150],
    [55.5, 151],
    [125.4, 200],
    [125.5, 201],
    [225.4, 300],
    [225.5, 301],
    [325.4, 500],
  ],
  // EEA, hourly: six levels
  eu: [
    [5, 1],
    [6, 2],
    [15, 2],
    [16, 3],
    [50, 3],
    [51, 4],
    [90, 4],
    [91, 5],
    [140, 5],
    [141, 6],
  ],
  // Defra: 24-hour means rounded to whole µg/m³, so a level ends with a half
  uk: [
    [0, 1],
    [11, 1],
    [11.49, 1],
    [11.5, 2],
    [12, 2],
    [23, 2],
    [24, 3],
    [35, 3],
    [36, 4],
    [41, 4],
    [42, 5],
    [47, 5],
    [48, 6],
    [53, 6],
    [54, 7],
    [58, 7],
    [59, 8],
    [64, 8],
    [65, 9],
    [70, 9],
    [71, 10],
    [900, 10],
  ],
  // CPCB: linear between the ends of the bands
  naqi_pm: [
    [0, 0],
    [15, 25],
    [30, 50],
    [31, 51],
    [45, 75],
    [60, 100],
    [61, 101],
    [90, 200],
    [91, 201],
    [120, 300],
    [121, 301],
    [250, 400],
    [251, 401],
    [900, 401],
  ],
}

describe.each(airIndices.map((index) => ({ name: index.name, index })))('$name', ({ index }) => {
  test('has bands that follow one another from 0, without a gap', () => {
    index.bands.forEach((band, at) => {
      const before = index.bands[at - 1]
      for (const name of pollutants)
        expect(band[name].low).toBe(before === undefined ? 0 : before[name].high + 1)
      expect(band.aqi.low).toBe(before === undefined ? band.aqi.low : before.aqi.high + 1)
      expect(band.aqi.high).toBeGreaterThanOrEqual(band.aqi.low)
    })
    // the levels of one category are neighbours
    const categories = index.bands.map(({ category }) => category)
    const begun = categories.filter((category, at) => category !== categories[at - 1])
    expect(new Set(begun).size).toBe(begun.length)
  })

  test('has the values that its source gives, and one for now from a whole day', () => {
    const values = published[index.name] ?? []
    expect(values.length).toBeGreaterThanOrEqual(index.bands.length)
    for (const [ugM3, value] of values)
      expect([ugM3, index.ofConcentration('pm25', ugM3)]).toEqual([ugM3, value])
    expect(index.nowOf(Array.from({ length: 24 }, () => 10))).toBe(10)
  })

  test('is that of the worse pollutant, never lower for more dust, null without any', () => {
    const value = option(integer({ min: 0, max: 100_000 }))
    assert(
      property(value, value, integer({ min: 0, max: 5_000 }), (pm25, pm10, more) => {
        const reading = indexed(pm25, pm10)
        const value = index.ofReading(reading)
        const means = (name: Pollutant) => {
          const hundredths = valueOf(reading.values, name)
          return hundredths === null ? null : hundredths / 100
        }
        expect(index.worstOf(means)?.value ?? null).toBe(value)
        expect(index.worstOf(means)?.pollutant ?? null).toBe(index.dominantOf(reading))
        expect(value === null).toBe(pm25 === null && pm10 === null)
        if (value === null || pm25 === null) return
        expect(index.ofReading(indexed(pm25 + more, pm10))).toBeGreaterThanOrEqual(value)
      }),
    )
  })

  test('has a category for every value that it gives', () => {
    for (let hundredths = 0; hundredths < 70_000; hundredths += 37) {
      const value = index.ofReading(indexed(hundredths)) ?? Number.NaN
      const band = index.bands.find(({ aqi }) => value >= aqi.low && value <= aqi.high)
      expect(index.categoryOf(value)).toBe(band?.category)
    }
  })
})

const europeanLevels = [
  ['good', 5, 15],
  ['fair', 15, 45],
  ['moderate', 50, 120],
  ['poor', 90, 195],
  ['very_poor', 140, 270],
  ['extremely_poor', 1_000, 1_000],
] as const

describe.each(europeanLevels.map(([category, pm25, pm10], at) => ({ category, pm25, pm10, at })))(
  'the European level $category',
  ({ category, at, ...highest }) => {
    test.each(pollutants)(
      'begins a hundredth above the level before, and ends with its upper number: %s',
      (name) => {
        const before = europeanLevels[at - 1]?.[name === 'pm25' ? 1 : 2]
        const lowest = before === undefined ? 0 : before + 0.01
        for (const ugM3 of [lowest, (lowest + highest[name]) / 2, highest[name]]) {
          const hundredths = Math.round(ugM3 * 100)
          const reading = name === 'pm25' ? indexed(hundredths) : indexed(null, hundredths)
          expect(europeanIndex.ofReading(reading)).toBe(at + 1)
          expect(europeanIndex.ofConcentration(name, ugM3)).toBe(at + 1)
          expect(europeanIndex.isBeyond(reading)).toBe(false)
        }
        expect(europeanIndex.categoryOf(at + 1)).toBe(category)
      },
    )
  },
)

test('the European index takes the mean of the running hour, else of the previous one, never an older one', () => {
  expect(europeanIndex.nowOf([3, 60])).toBe(3)
  expect(europeanIndex.nowOf([null, 60, 3])).toBe(60)
  expect(europeanIndex.nowOf([null, null, 3])).toBeNull()
  expect(europeanIndex.nowOf([])).toBeNull()
})

test('the indices of days take the mean of 24 hours: 18 must be there in the UK, 16 in India', () => {
  const hours = (present: number): (number | null)[] =>
    Array.from({ length: 24 }, (_, at) => (at < present ? 40 : null))
  expect([ukIndex.nowOf(hours(18)), ukIndex.nowOf(hours(17))]).toEqual([40, null])
  expect([naqiPmIndex.nowOf(hours(16)), naqiPmIndex.nowOf(hours(15))]).toEqual([40, null])
})

test('the US index takes the NowCast, in which the hours before count too', () => {
  expect(usIndex.nowOf([10, 20])).toBeCloseTo(13.333, 3)
})

test('every index that a file makes is in the list', async () => {
  const names = globSync('core/air/index/*.ts').map((file) => basename(file, '.ts'))
  const modules: object[] = await Promise.all(
    names.map((name) => import(`../../core/air/index/${name}.ts`)),
  )
  const made = modules
    .flatMap((module) => Object.values(module))
    .filter((value) => typeof value === 'object' && value !== null && 'categoryOf' in value)
  expect(new Set(made)).toEqual(new Set(airIndices))
})

test('the document has the categories of every index', () => {
  const named = airIndices.flatMap(({ bands }) => bands.map(({ category }) => category))
  expect(answerSchemas.AqiCategory.enum).toEqual([...new Set(named)])
})

test('the page of the API has every index, and every one its own name', () => {
  const page = readFileSync('docs/api.md', 'utf8')
  for (const { name } of airIndices)
    expect(page).toMatch(new RegExp(`^\\| \\|.* \`${name}\` \\|`, 'm'))
  expect(new Set(airIndices.map(({ name }) => name)).size).toBe(airIndices.length)
})

/** Three levels, of PM2.5 and PM10 alike: up to 10, up to 100, above. */
const madeUp: AirIndex = tableIndex({
  name: 'made-up',
  title: 'A made-up index',
  revision: '2026-01-01',
  stepsPerUnit: { pm25: 1, pm10: 1 },
  bands: [
    { category: 'clean', aqi: ends(7, 7), pm25: ends(0, 10), pm10: ends(0, 10), ...noColors() },
    { category: 'dusty', aqi: ends(8, 8), pm25: ends(11, 100), pm10: ends(11, 100), ...noColors() },
    {
      category: 'foul',
      aqi: ends(9, 9),
      pm25: ends(101, 200),
      pm10: ends(101, 200),
      ...noColors(),
    },
  ],
  averagingHours: 1,
  nowOf: ([newest = null]) => newest,
})
function noColors() {
  return { color: '#000000', colorVision: '#000000' }
}

describe('a made-up index is used everywhere', async () => {
  const indices = [...airIndices, madeUp]
  const keccak = await createKeccak()
  const rules = sensorIdRules('NGR-LOS')
  const sensor = rules.parse('NGR-LOS-IKJ-001')
  if (sensor === undefined) throw new Error('no sensor id')
  const nowMs = Date.UTC(2026, 0, 31, 8, 30)
  const reading: Reading & { readonly arrivedMs: number } = {
    sensor,
    area: 'Ikeja',
    timeMs: nowMs - minuteMs,
    arrivedMs: nowMs - minuteMs,
    values: valuesOf({ pm25: 4_120, pm10: 25_000 }),
    aqi: usAqiOf(4_120, 25_000),
    flags: 0,
    seq: 1,
  }
  const states = Array.from({ length: partitionCount }, (_, at) => createState(at))
  const state = states[partitionOf(sensor)]
  if (state === undefined) throw new Error('no state')
  // a day of the same air, an hour apart
  for (let hoursAgo = 20; hoursAgo >= 0; hoursAgo--) {
    const timeMs = reading.timeMs - hoursAgo * hourMs
    const one = { ...reading, timeMs, arrivedMs: timeMs }
    applyNewer(state, slotOf(state, sensor), one, one.seq, createOutcome())
  }
  const sensors = registeredView(rules)
  sensors.put(
    sensor,
    newEntry({
      id: sensor,
      area: 'Ikeja',
      lat: 6.6,
      lon: 3.35,
      address: '',
      cadenceSeconds: 3_600,
      fromMs: 0,
      nowMs: 0,
    }),
  )
  const board = createSensorBoard({ sensors, states: () => states, nowMs: () => nowMs })
  const newest = createNewestReadings()
  newest.add([reading])
  newest.seed([], { timeMs: -1, sensor: '' }, newest.generation())
  const texts = createReadingTexts(keccak, () => ({
    verified: false,
    tx_hash: null,
    status: 'pending',
  }))
  const field = (...values: readonly number[]): FieldStats => {
    const [mean = null, min = null, max = null, p50 = null] = values
    return { ...noValues, n: values.length, mean, min, max, p50, p98: max }
  }
  const stats: AreaStats = {
    area: 'Ikeja',
    startMs: nowMs,
    readings: 3,
    failed: 0,
    fields: {
      ...mapQuantities(() => field()),
      pm25: field(20, 2, 150, 9),
      pm10: field(5, 1, 90, 5),
      aqi: field(70.4, 8, 201, 50),
    },
  }
  const directory = () =>
    areaDirectory(board.table().outline(), {
      networkName: 'Lagos',
      idPrefix: 'NGR-LOS',
    })
  const keep = createCache({ forMs: minuteMs, most: 10, nowMs: () => nowMs })
  const asker: Asker = { isVisitor: false, share: () => '', gone: () => AbortSignal.abort() }
  const queryStore = () => expect.unreachable()
  const common = {
    board,
    rules,
    directory,
    texts,
    newest,
    queryStore,
    indices,
    nowMs: () => nowMs,
  }
  const ask = async (route: Route, query: string, names = {}): Promise<string> => {
    const params = parseParams(query, route.params)
    const type = route.typeOf?.(params) ?? route.types[0] ?? ''
    const request: Request = {
      names,
      params,
      type,
      asker,
      caller: undefined,
      network: () => '',
      header: () => undefined,
      readBody: async () => undefined,
    }
    return (await route.answer(request)).body.toString()
  }
  const json = async (route: Route, query: string, names = {}) =>
    JSON.parse(await ask(route, query, names))

  const readings = listReadings(common)
  const area = showArea({
    ...common,
    queryStore: (_, question) => question({} as never, new AbortController().signal),
    history: async () => ({ stats, basis: 'readings', series: [stats] }),
    keeps: { accounts: keep, visitors: keep },
  })
  const ours = { aqi: 9, aqi_category: 'foul', dominant_pollutant: 'pm10', beyond_index: true }

  test('through a reading in every shape and format, after the usual index of the same reading', async () => {
    const [usual] = (await json(readings, '')).readings
    expect(usual).toMatchObject({ aqi: 148, aqi_category: 'unhealthy_sensitive' })
    const [full] = (await json(readings, 'index=made-up')).readings
    expect(full).toEqual({ ...usual, ...ours })
    expect((await json(readings, 'index=us')).readings).toEqual([usual])
    expect((await json(readings, 'index=made-up&shape=flat')).readings[0]).toMatchObject({ aqi: 9 })
    const nested = (await json(readings, 'index=made-up&shape=nested')).readings[0]
    expect(nested).toMatchObject({ aqi: 9, aqi_category: 'foul' })
    const [head, row] = (await ask(readings, 'index=made-up&format=csv')).split('\r\n')
    const cells = row?.split(',') ?? []
    const cell = (name: string) => cells[head?.split(',').indexOf(name) ?? -1]
    expect(Object.keys(ours).map(cell)).toEqual(Object.values(ours).map(String))
    expect(await json(readings, 'index=made-up&format=ndjson')).toEqual(full)
    const { features } = await json(readings, 'index=made-up&format=geojson')
    expect(features[0].properties).toEqual(full)
  })

  test('through a sensor and its status, after the usual index of the same sensor', async () => {
    const sensors = listSensors(common)
    expect((await json(sensors, '')).sensors[0].aqi).toBe(148)
    expect((await json(sensors, 'index=made-up')).sensors[0].aqi).toBe(9)
    expect((await json(sensors, 'index=eu')).sensors[0].aqi).toBe(5)
    const [usually] = (await json(sensors, 'include=latest')).sensors
    const [latest] = (await json(sensors, 'include=latest&index=made-up')).sensors
    expect(latest).toEqual({ ...usually, ...ours })
    expect(await json(sensors, 'include=latest&index=made-up&format=ndjson')).toEqual(latest)
    const names = Object.keys(ours).join()
    const picked = `include=latest&index=made-up&fields=${names}`
    expect((await json(sensors, picked)).sensors[0]).toEqual(ours)
    expect(await ask(sensors, `${picked}&format=csv`)).toBe(
      `${names}\r\n${Object.values(ours).join()}\r\n`,
    )
    const { sensor: shown } = await json(showSensor(common), 'index=made-up', { sensor_id: sensor })
    expect(shown.aqi).toBe(9)
    const status = await json(sensorStatus(common), 'index=made-up', { sensor_id: sensor })
    expect(status).toMatchObject({ latest: ours, aqi_nowcast: 9, aqi_24h: 9 })
    const usual = await json(sensorStatus(common), '', { sensor_id: sensor })
    expect(usual).toMatchObject({ latest: { aqi: 148 }, aqi_nowcast: 148, aqi_24h: 148 })
  })

  test('through an area: now, its statistics and its steps, after the usual index of the same area', async () => {
    const usual = await json(area, 'interval=hour', { area_name: 'Ikeja' })
    expect(usual).toMatchObject({
      aqi: { average: 70.4, median: 50, min: 8, max: 201, category: 'moderate', nowcast: 148 },
      worst_sensor: { aqi: 148 },
    })
    const levels = { average: 8, median: 7, min: 7, max: 9 }
    const asked = await json(area, 'interval=hour&index=made-up', { area_name: 'Ikeja' })
    expect(asked).toMatchObject({
      aqi: { ...levels, category: 'dusty', dominant_pollutant: 'pm25', nowcast: 9 },
      worst_sensor: { aqi: 9 },
      series: [{ aqi: { ...levels, category: 'dusty' } }],
      measurements: usual.measurements,
    })
  })

  test('through the scale', async () => {
    const scale = await json(aqiScale(indices), 'index=made-up')
    expect(scale).toMatchObject({ name: 'A made-up index', highest: 9 })
    expect(scale.categories[1]).toMatchObject({
      category: 'dusty',
      aqi: { low: 8, high: 8 },
      pm25: { low: 11, high: 100, unit: 'µg/m³' },
    })
    const { categories } = await json(aqiScale(indices), 'index=eu')
    expect(categories[0].pm25).toEqual({ low: 0, high: 5, unit: 'µg/m³' })
    expect(categories[5].pm10).toEqual({ low: 270.01, high: null, unit: 'µg/m³' })
  })

  test('and every route with an index documents it, and refuses one that is not in the list', async () => {
    const paths = JSON.parse(JSON.stringify(openApi.paths))
    const routes = [
      listSensors(common),
      showSensor(common),
      sensorStatus(common),
      readings,
      area,
      aqiScale(indices),
    ]
    for (const route of routes) {
      const path = route.path.replace(/:(\w+)/g, '{$1}')
      expect(paths[path].get.parameters).toContainEqual(
        expect.objectContaining({ name: 'index', in: 'query' }),
      )
      const names = { sensor_id: sensor, area_name: 'Ikeja' }
      await expect(ask(route, 'index=mars', names)).rejects.toMatchObject({
        status: 400,
        code: 'bad_parameter',
        message: expect.stringContaining(
          [...airIndices.map(({ name }) => name), 'made-up'].join(', '),
        ),
      })
    }
  })
})
