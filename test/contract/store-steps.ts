/** What every store must do with hours and days of sensors, and with steps made of them. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { wholeNetwork } from '../../core/air/area.ts'
import type { CorrectionModel } from '../../core/air/correction-model.ts'
import { maskOf } from '../../core/air/quality.ts'
import { isFail, type QualityFilter, qualityFilters } from '../../core/air/quality-level.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { statFields } from '../../store/stat-fields.ts'
import type {
  BucketSize,
  FieldStats,
  SensorStats,
  StatField,
  StatQuery,
  StepStats,
  Store,
} from '../../store/store.ts'
import { reading, sensorId } from './store-rows.ts'
import { plainStats } from './store-statistics.ts'

const startMs = Date.UTC(2026, 2, 1)

/** Now and then one that failed, or is suspect; sensor 2 is stuck for eight hours. */
function flagsOf(number: number, minute: number, seed: number): number {
  if (number === 2 && minute > 3_500 && minute < 3_980) return maskOf('pm_stuck')
  if (seed % 13 === 0) return maskOf('pm_saturated') | maskOf('pm_high')
  return seed % 5 === 0 ? maskOf('pm_spike') : 0
}

/** Four days of three sensors, one of which moves; some quantities now and then. */
export const city = (): Reading[] => {
  const rows: Reading[] = []
  for (let minute = 0; minute < 4 * 24 * 60; minute += 11) {
    for (const number of [1, 2, 3]) {
      // one that is silent for a day and a half
      if (number === 2 && minute > 1_000 && minute < 3_000) continue
      const seed = (minute * 7_919 + number * 104_729) % 8_009
      rows.push(
        reading({
          sensor: sensorId(number),
          area: number === 3 && minute > 2_000 ? 'Yaba' : 'Ikeja',
          timeMs: startMs + minute * minuteMs + number,
          pm25: seed % 7 === 0 ? null : seed,
          pm10: 2 * seed,
          aqi: seed % 7 === 0 ? null : seed % 501,
          co2: number === 1 ? 41_200 + (seed % 13) : null,
          temperature: (seed % 900) - 450,
          humidity: null,
          pressure: number === 3 ? 101_325 + (seed % 31) : null,
          flags: flagsOf(number, minute, seed),
          seq: minute * 4 + number,
        }),
      )
    }
  }
  return rows
}

export const plainSensors = (
  rows: readonly Reading[],
  sensors: readonly SensorId[],
  size: BucketSize,
): SensorStats[] =>
  sensors.flatMap((sensor) => {
    const own = rows.filter((row) => row.sensor === sensor)
    const starts = Map.groupBy(own, ({ timeMs }) =>
      floorTo(timeMs, size === 'hour' ? hourMs : dayMs),
    )
    return [...starts].map(([start, of]) => {
      const { area: _, ...stats } = plainStats('', start, of)
      return { sensor, ...stats }
    })
  })

/** By sensor, then by time. */
export const inOrder = (stats: readonly SensorStats[]): SensorStats[] =>
  stats.toSorted((a, b) =>
    a.sensor === b.sensor ? a.startMs - b.startMs : a.sensor < b.sensor ? -1 : 1,
  )

/** Everything that the job would write. */
export async function rollUp(store: Store): Promise<void> {
  const toMs = startMs + 4 * dayMs
  const { sensors, areas } = await store.names()
  for (const area of [wholeNetwork, ...areas]) {
    await store.writeAreaHours(await store.computeBuckets(area, startMs, toMs, 'hour'))
    await store.writeAreaDays(await store.computeBuckets(area, startMs, toMs, 'day'))
  }
  await store.writeSensorHours(await store.computeSensors(sensors, startMs, toMs, 'hour'))
  await store.writeSensorDays(await store.computeSensors(sensors, startMs, toMs, 'day'))
}

const percentile = (sorted: readonly number[], percent: number): number =>
  sorted[Math.max(0, Math.floor((sorted.length * percent) / 100 + 0.5) - 1)] ?? Number.NaN

/** Twice the particles and the temperature, between 0 and 4 degrees. */
const doubled: CorrectionModel = {
  name: 'doubled',
  version: 1,
  title: 'double',
  citation: 'none',
  of: 'pm25',
  range: { temperature: [0, 4] },
  pieces: [
    {
      terms: [
        { times: 2, pm25: 1 },
        { times: 1, temperature: 1 },
      ],
    },
  ],
}
const corrections = [{ model: doubled, without: [sensorId(3)] }]

/** The same readings with the corrected value as their pm25. */
const correctedRows = (rows: readonly Reading[]): Reading[] =>
  rows.map((row): Reading => {
    const [pm25 = null, , , temperature = null] = row.values
    const isIn = pm25 !== null && temperature !== null && temperature >= 0 && temperature <= 400
    const isFor = row.sensor !== sensorId(3)
    const value = isIn && isFor ? 2 * pm25 + temperature : null
    return { ...row, values: [value, ...row.values.slice(1)] }
  })

/** A step by its definition, from all rows. */
function plainSteps(rows: readonly Reading[], query: StatQuery): StepStats[] {
  const { of, edges, steps, fields, from, quality = 'suspect' } = query
  const columns: [string, StatField, (rows: readonly Reading[]) => readonly Reading[]][] = [
    ...fields.map((field): (typeof columns)[number] => [field, field, (rows) => rows]),
    ...(query.corrections ?? []).map((): (typeof columns)[number] => [
      'doubled:pm25',
      'pm25',
      correctedRows,
    ]),
  ]
  const mine = rows.filter((row) =>
    'sensors' in of
      ? of.sensors.includes(row.sensor)
      : of.area === wholeNetwork || row.area === of.area,
  )
  const sizeMs = from === 'hour' ? hourMs : dayMs
  const spans = steps.map((step, at) => ({ step, fromMs: edges[at]!, toMs: edges[at + 1]! }))
  const isWhole =
    from === 'readings' ||
    (new Set(steps).size === steps.length &&
      spans.every(({ fromMs, toMs }) => floorTo(fromMs, sizeMs) === floorTo(toMs - 1, sizeMs)))
  return [...new Set(steps)]
    .toSorted((a, b) => a - b)
    .flatMap((step): StepStats[] => {
      const own = spans.filter((span) => span.step === step)
      const within = (row: Reading): boolean =>
        own.some(({ fromMs, toMs }) => row.timeMs >= fromMs && row.timeMs < toMs)
      const inStep = mine.filter(within)
      if (inStep.length === 0) return []
      const isPart = 'sensors' in of && of.sensors.length > 1
      const parts = Map.groupBy(inStep, ({ timeMs, sensor }) => {
        const span = own.find(({ fromMs, toMs }) => timeMs >= fromMs && timeMs < toMs)
        const start = Math.max(floorTo(timeMs, sizeMs), span?.fromMs ?? 0)
        return `${start} ${isPart ? sensor : ''}`
      })
      const statsOf = ([, field, of]: (typeof columns)[number]): FieldStats => {
        const plain = (part: readonly Reading[]): FieldStats =>
          plainStats('', 0, of(part), quality).fields[field]
        const all = plain(inStep)
        if (isWhole || all.n === 0) return all
        const means = [...parts.values()]
          .flatMap((part) => plain(part).mean ?? [])
          .toSorted((a, b) => a - b)
        const middle = means.length / 2
        return {
          ...all,
          q02: percentile(means, 2),
          q25: percentile(means, 25),
          p50: ((means[Math.ceil(middle) - 1] ?? 0) + (means[Math.floor(middle)] ?? 0)) / 2,
          q75: percentile(means, 75),
          p98: percentile(means, 98),
        }
      }
      const { readings, failed } = plainStats('', 0, inStep, quality)
      const shown = columns
        .map((column): [string, FieldStats] => [column[0], statsOf(column)])
        .filter(([, { n }]) => n > 0)
      return [{ step, readings, leftOut: failed, fields: Object.fromEntries(shown) }]
    })
}

/** Equal to eight decimals: a plain mean of decimals is a few units in the last place off. */
export const nearly = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, cell: unknown) =>
      typeof cell === 'number' ? Math.round(cell * 1e8 + 0.003) / 1e8 + 0 : cell,
    ),
  )

const minutes = 4 * 24 * 60
const anyQuery: fc.Arbitrary<StatQuery> = fc
  .record({
    of: fc.constantFrom<StatQuery['of']>(
      { area: 'Ikeja' },
      { area: 'Yaba' },
      { area: wholeNetwork },
      { area: 'Nowhere' },
      { sensors: [sensorId(1)] },
      { sensors: [sensorId(3)] },
      { sensors: [sensorId(77)] },
    ),
    cuts: fc.oneof(
      fc.uniqueArray(fc.integer({ min: -90, max: minutes + 90 }), { minLength: 2, maxLength: 9 }),
      // hours and days of zones with offsets of whole and of half hours
      fc
        .record({
          offset: fc.constantFrom(0, 60, 330, 345),
          step: fc.constantFrom(60, 1_440),
          count: fc.integer({ min: 1, max: 30 }),
        })
        .map(({ offset, step, count }) =>
          Array.from({ length: count + 1 }, (_, at) => at * step - offset),
        ),
    ),
    gathered: fc.integer({ min: 1, max: 5 }),
    fields: fc.subarray<StatField>([...statFields], { minLength: 1 }),
    from: fc.constantFrom<StatQuery['from']>('readings', 'hour', 'day'),
    unwritten: fc.oneof(
      fc.constant('all' as const),
      fc.array(fc.integer({ min: 0, max: 96 }), { maxLength: 6 }),
    ),
    writtenFrom: fc.constantFrom(0, 0, startMs + 1.5 * dayMs, Number.POSITIVE_INFINITY),
    quality: fc.constantFrom<QualityFilter | undefined>(undefined, ...qualityFilters),
    isCorrected: fc.boolean(),
  })
  .map(({ of, cuts, gathered, fields, from, unwritten, writtenFrom, quality, isCorrected }) => {
    const edges = cuts.toSorted((a, b) => a - b).map((minute) => startMs + minute * minuteMs)
    const unit = from === 'day' ? dayMs : hourMs
    return {
      of,
      edges,
      steps: edges.slice(1).map((_, at) => (gathered === 1 ? at : at % gathered)),
      fields,
      from,
      unwritten:
        unwritten === 'all'
          ? unwritten
          : new Set(unwritten.map((at) => startMs + floorTo(at * hourMs, unit))),
      writtenFromMs: writtenFrom,
      ...(quality && { quality }),
      ...(isCorrected && { corrections }),
    }
  })

/** Any steps, from whatever is written, are those of the rows. */
export async function stepsAreThoseOfTheRows(store: Store): Promise<void> {
  const rows = city()
  await store.writeBatch(rows)
  await rollUp(store)
  await fc.assert(
    fc.asyncProperty(anyQuery, async (query) => {
      expect(nearly(await store.statistics(query))).toEqual(nearly(plainSteps(rows, query)))
    }),
    { numRuns: 90, seed: 20_260_301 },
  )
  const box = { sensors: [sensorId(1), sensorId(2), sensorId(3)] }
  const edges = [startMs, startMs + 36 * hourMs, startMs + 96 * hourMs]
  for (const from of ['readings', 'hour'] as const) {
    const query: StatQuery = {
      of: box,
      edges,
      steps: [0, 1],
      fields: ['pm25', 'pressure'],
      from,
      unwritten: new Set(),
      writtenFromMs: 0,
    }
    expect(nearly(await store.statistics(query))).toEqual(nearly(plainSteps(rows, query)))
  }
}

/** What is not written, or is older than its readings, is not read. */
export async function staleHoursAreNotRead(store: Store): Promise<void> {
  const rows = city()
  await store.writeBatch(rows)
  await rollUp(store)
  const [sensor] = rows.map((row) => row.sensor)
  if (sensor === undefined) throw new Error('there are rows')
  const wrong: SensorStats = {
    sensor,
    startMs: startMs + 5 * hourMs,
    readings: 999,
    failed: 0,
    fields: {
      ...plainStats('', 0, []).fields,
      pm25: { n: 999, mean: 1, sd: 0, min: 1, q02: 1, q25: 1, p50: 1, q75: 1, p98: 1, max: 1 },
    },
  }
  await store.writeSensorHours([wrong])
  const ask = async (unwritten: ReadonlySet<number>, writtenFromMs: number) => {
    const edges = [startMs, startMs + dayMs]
    const [step] = await store.statistics({
      of: { sensors: [sensor] },
      edges,
      steps: [0],
      fields: ['pm25'],
      from: 'hour',
      unwritten,
      writtenFromMs,
    })
    return step?.fields.pm25?.n
  }
  const right = rows.filter(
    (row) =>
      row.sensor === sensor &&
      row.timeMs < startMs + dayMs &&
      row.values[0] !== null &&
      !isFail(row.flags),
  ).length
  expect(await ask(new Set(), 0)).toBeGreaterThan(990)
  expect(await ask(new Set([wrong.startMs]), 0)).toBe(right)
  expect(await ask(new Set(), wrong.startMs + hourMs)).toBe(right)
  expect(await ask(new Set(), wrong.startMs + 1)).toBe(right)
}
