/**
 * What areas' hours hold (`../hour-values.ts`), in the bucket of roll-ups: measurement `values_1h`, as base64
 * in as many points as it takes, because a field holds 64 KB. Written again in part, or beside a reader, they
 * do not pass the checksum, and the readings are read.
 */
import { hourMs } from '../../core/time.ts'
import { decodeHourValues, hoursIn, isOfHour } from '../hour-values.ts'
import type { StatCollector } from '../stat-collector.ts'
import type { Span } from '../step-spans.ts'
import type { Unwritten } from '../store.ts'
import { inParallel } from './in-parallel.ts'
import { escapeTag } from './line-protocol.ts'
import { type InfluxQuery, type Series, timeParam } from './query.ts'

/** 60 KB of base64. */
const bytesAPart = 45_000
/** Some hundred KB, decoded in a few ms: other work of this thread does not wait longer. */
const hoursARequest = 4
const requestsAtOnce = 3

export function hourValuesLines(area: string, startMs: number, values: Uint8Array): string[] {
  const parts = Math.ceil(values.length / bytesAPart)
  return Array.from({ length: parts }, (_, part) => {
    const some = values.subarray(part * bytesAPart, (part + 1) * bytesAPart)
    const tags = `area=${escapeTag(area)},part=${part}`
    return `values_1h,${tags} counted="${Buffer.from(some).toString('base64')}" ${startMs}`
  })
}

/** Adds the hours whose values are written to one bucket. @returns their starts */
export async function addHours(
  query: InfluxQuery,
  area: string,
  span: Span,
  unwritten: Unwritten,
  into: StatCollector,
): Promise<readonly number[]> {
  if (unwritten === 'all') return []
  const added: number[] = []
  await inParallel(requestsAtOnce, [...sliced(hoursIn(span))], async ({ fromMs, toMs }) => {
    const params = { area, from: timeParam(fromMs), to: timeParam(toMs) }
    const [parts = [], [rows] = []] = await query(`${selectParts};${selectCounts}`, params)
    const written = joined(parts)
    for (const [startMs, readings, failed] of rows?.values ?? []) {
      if (typeof startMs !== 'number' || unwritten.has(startMs)) continue
      const hour = decodeHourValues(written.get(startMs))
      if (!isOfHour(hour, readings, failed)) continue
      into.addHour(span.fromMs, hour)
      added.push(startMs)
    }
  })
  return added
}

const whereArea = 'WHERE area = $area AND time >= $from AND time < $to'
const selectParts = `SELECT counted FROM values_1h ${whereArea} GROUP BY part`
const selectCounts = `SELECT readings, failed FROM reading_1h ${whereArea}`

function* sliced({ fromMs, toMs }: Span): Generator<Span> {
  for (let from = fromMs; from < toMs; from += hoursARequest * hourMs)
    yield { fromMs: from, toMs: Math.min(toMs, from + hoursARequest * hourMs) }
}

/** By the start of the hour. */
function joined(series: readonly Series[]): ReadonlyMap<number, Uint8Array> {
  const texts = new Map<number, Uint8Array[]>()
  const inOrder = series.toSorted((a, b) => Number(a.tags?.['part']) - Number(b.tags?.['part']))
  for (const { values } of inOrder)
    for (const [startMs, text] of values) {
      if (typeof startMs !== 'number' || typeof text !== 'string') continue
      texts.set(startMs, [...(texts.get(startMs) ?? []), Buffer.from(text, 'base64')])
    }
  return new Map([...texts].map(([startMs, parts]) => [startMs, Buffer.concat(parts)]))
}
