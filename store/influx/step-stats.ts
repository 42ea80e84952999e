import type { SensorId } from '../../core/air/sensor-id.ts'
import { floorTo, hourMs } from '../../core/time.ts'
import { rawRows, usualRows } from '../raw-rows.ts'
import { statCollector } from '../stat-collector.ts'
import { noValues, sensorStats, statFields, statNames, statsOf } from '../stat-fields.ts'
import { addSummaries, stepCollector } from '../step-collector.ts'
import { bucketMs, daysOf, stepSpans } from '../step-spans.ts'
import type { SensorStats, StatQuery, StepStats, Store, StoredNames } from '../store.ts'
import { addRow, collectRows, type Rows, requestsAtOnce, selectValues } from './collect-rows.ts'
import { inParallel } from './in-parallel.ts'
import { type InfluxCell, type InfluxQuery, timeParam } from './query.ts'

/** Whose values of `sensor_id` and `area` there are; in an instance of ours, each is in a row. */
export async function influxNames(query: InfluxQuery): Promise<StoredNames> {
  const statement = 'SHOW TAG VALUES FROM reading WITH KEY IN ("sensor_id", "area")'
  const [series = []] = await query(statement, {})
  const pairs = series.flatMap(({ values }) => values)
  const named = (key: string): string[] =>
    pairs.flatMap(([name, value]) => (name === key && typeof value === 'string' ? [value] : []))
  return {
    // only canonical ids are ever written
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    sensors: named('sensor_id') as SensorId[],
    areas: named('area'),
  }
}

/** Rows of hours in one request: about `rowsARequest` of a sensor that sends every ten seconds. */
const hoursARequest = 48
const mostStatements = 16

export const influxSensors =
  (query: InfluxQuery): Store['computeSensors'] =>
  async (sensors, fromMs, toMs, size) => {
    const rows: SensorStats[] = []
    for (const span of daysOf({ fromMs, toMs })) {
      const hours = Math.max(1, (span.toMs - span.fromMs) / hourMs)
      const each = Math.min(mostStatements, Math.max(1, Math.floor(hoursARequest / hours)))
      const groups = Array.from({ length: Math.ceil(sensors.length / each) }, (_, at) =>
        sensors.slice(at * each, (at + 1) * each),
      )
      const made = await inParallel(requestsAtOnce, groups, async (group) => {
        const params: Record<string, string> = {
          from: timeParam(span.fromMs),
          to: timeParam(span.toMs),
        }
        const statements = group.map((sensor, at) => {
          params[`s${at}`] = sensor
          return `${selectValues(usualRows())} AND sensor_id = $s${at}`
        })
        const results = await query(statements.join(';'), params)
        return group.flatMap((sensor, at) => {
          const collector = statCollector()
          const startOf = (timeMs: number): number => floorTo(timeMs, bucketMs[size])
          for (const row of (results[at] ?? []).flatMap(({ values }) => values))
            addRow({ collector, rows: usualRows(), bucketOf: startOf }, row)
          return collector
            .summaries()
            .map(({ fields, leftOut, ...head }) =>
              sensorStats(
                sensor,
                { ...head, failed: leftOut },
                (field) => fields[statFields.indexOf(field)] ?? noValues,
              ),
            )
        })
      })
      rows.push(...made.flat())
    }
    return rows
  }

/** @param queries of readings, and of roll-ups */
export const influxStatistics =
  (queries: { readonly readings: InfluxQuery; readonly rollups: InfluxQuery }) =>
  async (statQuery: StatQuery): Promise<StepStats[]> => {
    const { of, fields, from } = statQuery
    const { written, raw, stepAt, partAt, isWhole } = stepSpans(statQuery)
    const rows = rawRows(statQuery, (sensor) => sensor)
    const steps = stepCollector(rows.columns, isWhole)
    const sources: readonly Rows[] = 'area' in of ? [of] : of.sensors.map((sensor) => ({ sensor }))
    for (const span of raw) {
      for (const part of from === 'readings' ? [span] : daysOf(span)) {
        // one for all sources: a part's quantiles are those of all its readings
        const collector = statCollector(rows.columns)
        for (const source of sources)
          await collectRows(queries.readings, source, part, { rows, collector, bucketOf: partAt })
        addSummaries(steps, collector.summaries(), stepAt)
      }
    }
    if (from === 'readings') return steps.finish()
    const columns = fields.flatMap((field) => statNames.map((name) => `${field}_${name}`))
    const suffix = from === 'hour' ? '1h' : '1d'
    const tasks = sources.flatMap((source) => written.map((span) => ({ source, span })))
    await inParallel(requestsAtOnce, tasks, async ({ source, span }) => {
      const [table, filter, name] =
        'area' in source
          ? ['reading', 'area = $name', source.area]
          : ['sensor', 'sensor_id = $name', source.sensor]
      const [series = []] = await queries.rollups(
        `SELECT readings, failed, ${columns.join(', ')} FROM ${table}_${suffix}
    WHERE ${filter} AND time >= $from AND time < $to`,
        { name: name ?? '', from: timeParam(span.fromMs), to: timeParam(span.toMs) },
      )
      for (const row of series.flatMap(({ values }) => values)) {
        const [timeMs, readings, failed] = row
        if (typeof timeMs !== 'number') continue
        const step = stepAt(timeMs)
        steps.addReadings(step, numberIn(readings) ?? 0, numberIn(failed) ?? Number.NaN)
        for (let at = 0; at < fields.length; at++) {
          const first = 3 + at * statNames.length
          if (!((numberIn(row[first]) ?? 0) > 0)) continue
          steps.addField(
            step,
            at,
            statsOf((place) => numberIn(row[first + place])),
          )
        }
      }
    })
    return steps.finish()
  }

const numberIn = (cell: InfluxCell | undefined): number | null =>
  typeof cell === 'number' ? cell : null
