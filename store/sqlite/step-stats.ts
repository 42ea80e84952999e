import type { SensorId } from '../../core/air/sensor-id.ts'
import { floorTo } from '../../core/time.ts'
import { orNull } from '../packed-readings.ts'
import { rawRows, usualRows } from '../raw-rows.ts'
import { statCollector } from '../stat-collector.ts'
import { statNames, statsOf, stepsPerUnit } from '../stat-fields.ts'
import { addSummaries, type StepCollector, stepCollector } from '../step-collector.ts'
import { bucketMs, daysOf, stepSpans } from '../step-spans.ts'
import type { StatQuery, StepStats } from '../store.ts'
import type { SqliteCalls } from './calls.ts'
import type { FeedRows, Source } from './feed-rows.ts'
import { type Row, type SqliteFile, textOf } from './file.ts'
import { numberOf } from './pack.ts'
import { fieldStatsIn, pushSummaries } from './pack-sensor-stats.ts'
import { fieldNumber, sensorColumns } from './schema.ts'

export type SqliteSteps = Pick<SqliteCalls, 'names' | 'computeSensors' | 'statistics'>

export function sqliteSteps(db: SqliteFile, rows: FeedRows): SqliteSteps {
  const { feed, feedRaw, sourceOf, numberIn } = rows

  const statistics = (query: StatQuery): readonly StepStats[] => {
    const { of, fields, from } = query
    const source = sourceOf(of)
    const { written, raw, stepAt, partAt, isWhole } = stepSpans(query)
    const rawOnes = rawRows(query, (id) => numberIn('sensor', 'id', id))
    const steps = stepCollector(rawOnes.columns, isWhole)
    for (const span of raw) {
      for (const part of from === 'readings' ? [span] : daysOf(span)) {
        const collector = statCollector(rawOnes.columns)
        feedRaw(source, rawOnes, part, collector, partAt)
        addSummaries(steps, collector.summaries(), stepAt)
      }
    }
    if (from === 'readings') return steps.finish()
    const isOfSensors = source.kind === 'sensors'
    const table = `${isOfSensors ? 'sensor' : 'area'}_${from}`
    const read = (isOfSensors ? readSensors : readArea)({ fields, steps, stepAt, isWhole })
    const select = `${read.select} from ${table} ${read.where}`
    for (const number of isOfSensors ? source.sensors : [source.a]) {
      for (const { fromMs, toMs } of written) feed(select, [number, fromMs, toMs], read.into())
    }
    return steps.finish()
  }

  return {
    names: () => ({
      // only canonical ids were ever written
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      sensors: db.all('select id from sensor').map(([id]) => textOf(id) as SensorId),
      areas: db.all('select name from area').map(([name]) => textOf(name)),
    }),

    computeSensors: (sensors, fromMs, toMs, size) => {
      const cells: number[] = []
      for (const [index, id] of sensors.entries()) {
        const s = numberIn('sensor', 'id', id)
        if (s === undefined) continue
        const collector = statCollector()
        const source: Source = { kind: 'sensors', sensors: [s] }
        const startOf = (timeMs: number): number => floorTo(timeMs, bucketMs[size])
        feedRaw(source, usualRows(), { fromMs, toMs }, collector, startOf)
        pushSummaries(cells, index, collector.summaries())
      }
      return { sensors, cells: new Float64Array(cells) }
    },

    statistics,
  }
}

/** How written parts are read: `take_rows` over the columns of a part, and what takes them. */
type Reader = {
  readonly select: string
  readonly where: string
  /** Of one source: the parts of another one begin again. */
  readonly into: () => (cells: Row) => void
}

type Reading = Pick<StatQuery, 'fields'> & {
  readonly steps: StepCollector
  readonly stepAt: (timeMs: number) => number
  /** Quantiles are wanted. */
  readonly isWhole: boolean
}

function readSensors({ fields, steps, stepAt, isWhole }: Reading): Reader {
  const columns = isWhole ? sensorColumns.slice(1) : sumColumns
  const places: number[] = []
  for (const [at, field] of fields.entries()) places[fieldNumber(field) + 1] = at
  const units = fields.map(stepsPerUnit)
  return {
    select: `select take_rows(${columns.join(', ')})`,
    where: 'where s = ? and t >= ? and t < ?',
    into: () => {
      let partMs = -1
      let step = 0
      return (cells) => {
        const t = numberOf(cells[0])
        if (t !== partMs) {
          // the fields of a part follow one another, each with the readings of all
          partMs = t
          step = stepAt(t)
          steps.addReadings(step, numberOf(cells[2]), numberOf(cells[3]))
        }
        const at = places[numberOf(cells[1]) + 1]
        if (at === undefined) return
        if (isWhole)
          steps.addField(step, at, fieldStatsIn(cells.slice(4).map(numberOf), units[at]!))
        else addSums(steps, step, at, cells)
      }
    },
  }
}

const sumColumns = ['t', 'field', 'readings', 'failed', 'n', 'sum', 'sd', 'min', 'max']

const addSums = (steps: StepCollector, step: number, at: number, cells: Row): void =>
  steps.addSums(
    step,
    at,
    numberOf(cells[4]),
    numberOf(cells[5]),
    numberOf(cells[6]),
    numberOf(cells[7]),
    numberOf(cells[8]),
  )

function readArea({ fields, steps, stepAt, isWhole }: Reading): Reader {
  const names = isWhole ? statNames : meanNames
  const columns = fields.flatMap((field) => names.map((name) => `${field}_${name}`))
  const units = fields.map(stepsPerUnit)
  return {
    select: `select take_rows(t, readings, failed, ${columns.join(', ')})`,
    where: 'where a = ? and t >= ? and t < ?',
    into: () => (cells) => {
      const step = stepAt(numberOf(cells[0]))
      steps.addReadings(step, numberOf(cells[1]), numberOf(cells[2]))
      for (let at = 0; at < fields.length; at++) {
        const from = 3 + at * names.length
        const n = numberOf(cells[from])
        if (n === 0) continue
        if (isWhole) {
          steps.addField(
            step,
            at,
            statsOf((place) => orNull(numberOf(cells[from + place]))),
          )
          continue
        }
        const unit = units[at]!
        const scaled = (name: number): number => numberOf(cells[from + name]) * unit
        const sum = Math.round(scaled(1) * n)
        steps.addSums(step, at, n, sum, scaled(2), Math.round(scaled(3)), Math.round(scaled(4)))
      }
    },
  }
}

const meanNames = ['n', 'mean', 'sd', 'min', 'max'] as const
