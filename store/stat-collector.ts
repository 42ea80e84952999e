import { type CountedValues, countValues, noneCounted } from './counted-values.ts'
import type { HourValues } from './hour-values.ts'
import { type StatColumn, statFields, stepsPerUnit } from './stat-fields.ts'
import type { FieldStats } from './store.ts'
import { summarise } from './summarise.ts'

/**
 * Takes rows one by one, in any order, and keeps their values in flat arrays: 24 bytes a row,
 * which is why what feeds it looks at a day at most.
 */
export type StatCollector = {
  /** @param valueOf the row's value at an index of the columns, anything but a number where none */
  readonly add: (startMs: number, valueOf: (column: number) => unknown) => void
  /** A row that is only counted. */
  readonly leaveOut: (startMs: number) => void
  /** All rows of an hour, counted before; of the same columns. */
  readonly addHour: (startMs: number, hour: HourValues) => void
  /** Each bucket once, oldest first, its fields in the order of the columns. */
  readonly summaries: () => readonly BucketSummary[]
  /** The same buckets, as what they hold. */
  readonly hours: () => readonly (HourValues & { readonly startMs: number })[]
}

export type BucketSummary = {
  readonly startMs: number
  readonly readings: number
  readonly leftOut: number
  readonly fields: readonly FieldStats[]
}

type Bucket = {
  readonly startMs: number
  readings: number
  leftOut: number
  readonly columns: readonly Column[]
}
/** The values of one field, in an array that doubles. */
type Column = { values: Int32Array; n: number; readonly counted: CountedValues[] }

export function statCollector(columns: readonly StatColumn[] = statFields): StatCollector {
  const buckets = new Map<number, Bucket>()
  let last: Bucket | undefined
  const bucketAt = (startMs: number): Bucket => {
    const bucket = buckets.get(startMs) ?? newBucket(startMs, columns.length)
    buckets.set(startMs, bucket)
    last = bucket
    return bucket
  }
  // rows of one bucket come in runs
  const current = (startMs: number): Bucket =>
    last?.startMs === startMs ? last : bucketAt(startMs)
  return {
    add: (startMs, valueOf) => {
      const bucket = current(startMs)
      bucket.readings++
      for (let i = 0; i < bucket.columns.length; i++) {
        const value = valueOf(i)
        if (typeof value === 'number') push(bucket.columns[i]!, value)
      }
    },
    leaveOut: (startMs) => {
      current(startMs).leftOut++
    },
    addHour: (startMs, { readings, failed, fields }) => {
      const bucket = current(startMs)
      bucket.readings += readings
      bucket.leftOut += failed
      // what an earlier version wrote has fewer columns
      for (const [i, counted] of fields.entries()) bucket.columns[i]?.counted.push(counted)
    },
    summaries: () =>
      inOrder(buckets).map(({ startMs, readings, leftOut, columns: filled }) => ({
        startMs,
        readings,
        leftOut,
        fields: filled.map((column, i) => summarise(countsOf(column), stepsPerUnit(columns[i]!))),
      })),
    hours: () =>
      inOrder(buckets).map(({ startMs, readings, leftOut, columns: filled }) => ({
        startMs,
        readings,
        failed: leftOut,
        fields: filled.map(countsOf),
      })),
  }
}

const inOrder = (buckets: ReadonlyMap<number, Bucket>): readonly Bucket[] =>
  [...buckets.values()].sort((a, b) => a.startMs - b.startMs)

const countsOf = ({ values, n, counted }: Column): CountedValues =>
  n === 0 && counted.length === 0 ? noneCounted : countValues(values.subarray(0, n), counted)

const newBucket = (startMs: number, columns: number): Bucket => ({
  startMs,
  readings: 0,
  leftOut: 0,
  columns: Array.from({ length: columns }, () => ({ values: noRows, n: 0, counted: [] })),
})

const noRows = new Int32Array(0)

function push(column: Column, value: number): void {
  if (column.n === column.values.length) {
    const grown = new Int32Array(Math.max(16, 2 * column.n))
    grown.set(column.values)
    column.values = grown
  }
  column.values[column.n++] = value
}
