import { wholeNetwork } from '../../core/air/area.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { RawRows } from '../raw-rows.ts'
import type { StatCollector } from '../stat-collector.ts'
import { stepsPerUnit } from '../stat-fields.ts'
import type { Span } from '../step-spans.ts'
import type { StatField } from '../store.ts'
import { inParallel } from './in-parallel.ts'
import { type InfluxCell, type InfluxQuery, type QueryParams, timeParam } from './query.ts'

/** Whose rows: of an area, of the whole network, or of one sensor. */
export type Rows = { readonly area: string } | { readonly sensor: SensorId }

/** What takes the values of the fields. */
export type Into = {
  readonly collector: StatCollector
  readonly rows: RawRows<SensorId>
  readonly bucketOf: (timeMs: number) => number
}

/** Collects the values of raw rows in requests that are all of about one size. */
export async function collectRows(
  query: InfluxQuery,
  of: Rows,
  { fromMs, toMs }: Span,
  into: Into,
): Promise<void> {
  const { filter, params } = filterOf(of)
  const within = (span: Span): QueryParams => ({
    from: timeParam(span.fromMs),
    to: timeParam(span.toMs),
    ...params,
  })
  const counted = await query(`${countRows} ${filter}`, within({ fromMs, toMs }))
  const rows = Number(counted[0]?.[0]?.values[0]?.[1] ?? 0)
  const spans = rows === 0 ? [] : sliced(fromMs, toMs, Math.ceil(rows / rowsARequest))
  await inParallel(requestsAtOnce, spans, async (span) => {
    const [series = []] = await query(`${selectValues(into.rows)} ${filter}`, within(span))
    for (const row of series.flatMap((one) => one.values)) addRow(into, row)
  })
}

/** @param row time, seq, flags, the sensor if it is needed, then what is selected */
export function addRow({ collector, rows, bucketOf }: Into, row: readonly InfluxCell[]): void {
  const [timeMs, seq, flags] = row
  if (typeof timeMs !== 'number' || typeof seq !== 'number') return
  const { selected, needsSensor, add } = rows
  const first = needsSensor ? 4 : 3
  const valueAt = (at: number): unknown => inSteps(selected[at]!, row[first + at])
  // only canonical ids are ever written
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const sensor = needsSensor ? (row[3] as SensorId) : undefined
  add(collector, bucketOf(timeMs), typeof flags === 'number' ? flags : 0, valueAt, sensor)
}

const filterOf = (of: Rows): { readonly filter: string; readonly params: QueryParams } => {
  if ('sensor' in of) return { filter: 'AND sensor_id = $sensor', params: { sensor: of.sensor } }
  return of.area === wholeNetwork
    ? { filter: '', params: {} }
    : { filter: 'AND area = $area', params: { area: of.area } }
}

/** About a megabyte of JSON, parsed in 5 ms: other work of this thread does not wait longer. */
const rowsARequest = 20_000
export const requestsAtOnce = 3

// seq is the one field that every row has: a row of which nothing selected is set is left out
const countRows = 'SELECT count(seq) FROM reading WHERE time >= $from AND time < $to'
export const selectValues = ({ selected, needsSensor }: RawRows<SensorId>): string =>
  `SELECT seq, flags, ${[...(needsSensor ? ['sensor_id'] : []), ...selected].join(', ')} FROM reading
  WHERE time >= $from AND time < $to`

/** The span in equal parts: readings come at a steady pace. */
function sliced(fromMs: number, toMs: number, parts: number): Span[] {
  const stepMs = Math.ceil((toMs - fromMs) / parts)
  const spans: Span[] = []
  for (let from = fromMs; from < toMs; from += stepMs) {
    spans.push({ fromMs: from, toMs: Math.min(toMs, from + stepMs) })
  }
  return spans
}

const inSteps = (field: StatField, value: InfluxCell | undefined): number | null =>
  typeof value === 'number' ? Math.round(value * stepsPerUnit(field)) : null
