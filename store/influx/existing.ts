import type { Reading, ReadingKey } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { inParallel } from './in-parallel.ts'
import { type InfluxQuery, timeParam } from './query.ts'
import { readingFields, readingOf } from './row.ts'

/**
 * InfluxQL cannot ask for several instants at once, so a sensor's keys become spans and what
 * lies in a span is fetched whole. A query costs as much as a few hundred rows: a longer gap
 * begins a new span, and none is so long that its rows would not fit in memory.
 */
const gapMs = 6 * hourMs
const longestMs = 7 * dayMs
/** Statements in one request: fewer requests, yet each is short. */
const spansARequest = 16
const requestsAtOnce = 8

type Span = { readonly sensor: SensorId; readonly fromMs: number; lastMs: number }

export async function existingIn(
  query: InfluxQuery,
  keys: readonly ReadingKey[],
): Promise<(Reading | undefined)[]> {
  const bySensor = new Map<SensorId, Map<number, Reading>>()
  await inParallel(requestsAtOnce, chunks(spansOf(keys), spansARequest), async (spans) => {
    const params: Record<string, string> = {}
    const statements = spans.map(({ sensor, fromMs, lastMs }, i) => {
      params[`s${i}`] = sensor
      params[`a${i}`] = timeParam(fromMs)
      params[`b${i}`] = timeParam(lastMs)
      return `SELECT ${readingFields} FROM reading
        WHERE sensor_id = $s${i} AND time >= $a${i} AND time <= $b${i}`
    })
    const results = await query(statements.join(';'), params)
    for (const [i, series] of results.entries()) {
      const { sensor } = spans[i]!
      for (const cells of series.flatMap(({ values }) => values)) {
        for (const row of readingOf(cells, sensor)) {
          const rows = bySensor.get(sensor) ?? new Map<number, Reading>()
          bySensor.set(sensor, rows.set(row.timeMs, row))
        }
      }
    }
  })
  return keys.map(({ sensor, timeMs }) => bySensor.get(sensor)?.get(timeMs))
}

function spansOf(keys: readonly ReadingKey[]): Span[] {
  const spans: Span[] = []
  for (const [sensor, of] of Map.groupBy(keys, (key) => key.sensor)) {
    let span: Span | undefined
    for (const timeMs of of.map((key) => key.timeMs).sort((a, b) => a - b)) {
      if (span && timeMs - span.lastMs <= gapMs && timeMs - span.fromMs <= longestMs) {
        span.lastMs = timeMs
      } else {
        span = { sensor, fromMs: timeMs, lastMs: timeMs }
        spans.push(span)
      }
    }
  }
  return spans
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  )
}
