/**
 * The store: keeps readings and answers queries. Two adapters (`sqlite.ts`, `influx.ts`) pass one
 * contract suite (`test/contract/store-contract.ts`). Times are ms since the epoch, UTC; `from` is
 * inclusive and `to` exclusive everywhere; measured values are hundredths (`core/air/reading.ts`),
 * statistics are in the unit of the measurement.
 */
import type { DeviceSignature } from '../core/air/device-signature.ts'
import type { QuantityName } from '../core/air/quantities.ts'
import type { Reading, ReadingKey } from '../core/air/reading.ts'
import type { SensorId } from '../core/air/sensor-id.ts'

export type StatField = QuantityName | 'aqi'

/** `n` counts the values; the rest is null where n is 0. Percentiles by nearest rank. */
export type FieldStats = {
  readonly n: number
  readonly mean: number | null
  readonly min: number | null
  readonly max: number | null
  /** Median: the middle value, or the mean of the two middle ones. */
  readonly p50: number | null
  readonly p98: number | null
  /** Standard deviation of a sample (n − 1): null below two values. */
  readonly sd: number | null
  /** Like `sd` null in statistics of an area that an earlier version wrote. */
  readonly q02: number | null
  readonly q25: number | null
  readonly q75: number | null
}

/** Statistics of the readings of one hour or UTC day (or of one span). */
type BucketStats = {
  readonly startMs: number
  /** Rows in the bucket, whatever they measured. */
  readonly readings: number
  readonly fields: { readonly [Field in StatField]: FieldStats }
}
export type AreaStats = BucketStats & { readonly area: string }
/** Wherever the sensor was. */
export type SensorStats = BucketStats & { readonly sensor: SensorId }

/** What `statistics` are of: the readings of an area, or of sensors wherever they were. */
export type StatSource = { readonly area: string } | { readonly sensors: readonly SensorId[] }

export type StatQuery = {
  readonly of: StatSource
  /** Ends of spans that follow one another, ascending: one more than there are spans. */
  readonly edges: readonly number[]
  /** For each span the step that it belongs to, from 0; a step may have several (all Mondays). */
  readonly steps: readonly number[]
  readonly fields: readonly StatField[]
  /**
   * From every reading, or from written hours or days, as far as a span holds them whole; what
   * remains of a span, and what is not written, is computed from readings, an hour (a day) at a time.
   */
  readonly from: 'readings' | BucketSize
  /** The hours or days that must not be read: they are not written, or are older than their readings. */
  readonly unwritten: ReadonlySet<number> | 'all'
  /** Nothing before is written. */
  readonly writtenFromMs: number
}

/**
 * n, mean, sd, min and max are exact. Quantiles are those of the readings if `from` is 'readings' or
 * the step is one written hour or day; otherwise those of the means of its hours or days.
 */
export type StepStats = {
  readonly step: number
  readonly readings: number
  /** Those asked for that have values. */
  readonly fields: { readonly [Field in StatField]?: FieldStats }
}

/** By time: newest first, or oldest first. Within one ms always by sensor. */
export type Order = 'desc' | 'asc'

/** Where a page of `rangeAll` ended: the next page starts after it, in the same order. */
export type Cursor = { readonly timeMs: number; readonly sensor: SensorId }

/** A reading as it is written: with its signature, where its device signed it. */
export type StoreRow = Reading & { readonly signed?: DeviceSignature }

/** A row the engine will never take, with its reason; the other rows of the call are written. */
export type RefusedRow = { readonly row: StoreRow; readonly why: string }

/** The engine is away or overloaded: the same call may succeed later, nothing is known of it. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** Bad token, missing bucket, unusable file: a person must act; retrying as it is cannot help. */
export class StoreMisconfigured extends Error {
  override readonly name = 'StoreMisconfigured'
}

export type BucketSize = 'hour' | 'day'

export type StoredNames = {
  readonly sensors: readonly SensorId[]
  readonly areas: readonly string[]
}

/** What a caller who goes away no longer needs. */
export type StoreReads = Pick<
  Store,
  | 'latest'
  | 'range'
  | 'rangeAll'
  | 'at'
  | 'signature'
  | 'computeBuckets'
  | 'computeOverall'
  | 'areaHours'
  | 'areaDays'
  | 'statistics'
>

export const givenUp = (): StoreUnavailable =>
  new StoreUnavailable('the caller no longer waits for the answer')

export type Store = AsyncDisposable & {
  /**
   * Durable when resolved; idempotent by (sensor, timeMs): written again, the same row is one row.
   * A key is only ever written with the same row: InfluxDB would merge the values of two, and keep
   * both where the area differs. Calls may run side by side; how many is the caller's bound.
   * @returns the rows the engine refuses for good; everything else is written
   * @throws StoreUnavailable try the whole batch again  @throws StoreMisconfigured
   */
  readonly writeBatch: (rows: readonly StoreRow[]) => Promise<readonly RefusedRow[]>

  /** What suits the engine: rows of one `writeBatch`, and how many of them side by side. */
  readonly writing: { readonly batchRows: number; readonly lanes: number }

  /** What is stored under each key, in the order of the keys; undefined where nothing is. */
  readonly existing: (keys: readonly ReadingKey[]) => Promise<readonly (Reading | undefined)[]>

  /** The newest readings of a sensor, newest first. */
  readonly latest: (sensor: SensorId, limit: number) => Promise<readonly Reading[]>

  /**
   * A sensor's readings in [from, to), newest first unless `order` is given; the next page asks with
   * `to` = last timeMs (oldest first: `from` = last timeMs + 1).
   */
  readonly range: (
    sensor: SensorId,
    fromMs: number,
    toMs: number,
    limit: number,
    order?: Order,
  ) => Promise<readonly Reading[]>

  /**
   * The readings of all sensors in [from, to), by (time desc, sensor asc) unless `order` is given,
   * after the cursor if given.
   */
  readonly rangeAll: (
    fromMs: number,
    toMs: number,
    limit: number,
    cursor?: Cursor,
    order?: Order,
  ) => Promise<readonly Reading[]>

  readonly at: (sensor: SensorId, timeMs: number) => Promise<Reading | undefined>

  /** What the device signed of a reading; undefined: it did not sign, or there is no such reading. */
  readonly signature: (sensor: SensorId, timeMs: number) => Promise<DeviceSignature | undefined>

  /** The newest reading of every sensor, in no order. Slow on a big store: seconds. */
  readonly seedLatest: () => Promise<readonly Reading[]>

  /**
   * Computed from raw rows: one entry per bucket of `size` that holds rows, oldest first; buckets
   * are UTC-aligned and the bounds should be too. `area` may be `wholeNetwork`. Takes 24 bytes of
   * memory a row of one UTC day.
   */
  readonly computeBuckets: (
    area: string,
    fromMs: number,
    toMs: number,
    size: BucketSize,
  ) => Promise<readonly AreaStats[]>

  /**
   * Computed from raw rows over the whole span, median and p98 included; undefined: no rows.
   * Takes 24 bytes of memory a row, so not more than a day of a city at once.
   */
  readonly computeOverall: (
    area: string,
    fromMs: number,
    toMs: number,
  ) => Promise<AreaStats | undefined>

  /** Roll-ups as written, oldest first. A bucket written again replaces the former one whole. */
  readonly areaHours: (area: string, fromMs: number, toMs: number) => Promise<readonly AreaStats[]>
  readonly areaDays: (area: string, fromMs: number, toMs: number) => Promise<readonly AreaStats[]>
  readonly writeAreaHours: (rows: readonly AreaStats[]) => Promise<void>
  readonly writeAreaDays: (rows: readonly AreaStats[]) => Promise<void>

  /** Every sensor and area that has readings, in no order. */
  readonly names: () => Promise<StoredNames>

  /**
   * Computed from raw rows: one entry per sensor and bucket of `size` that holds rows, in no order.
   * Bounds as for `computeBuckets`; takes 24 bytes of memory a row of one sensor's span.
   */
  readonly computeSensors: (
    sensors: readonly SensorId[],
    fromMs: number,
    toMs: number,
    size: BucketSize,
  ) => Promise<readonly SensorStats[]>
  /** A bucket written again replaces the former one. Only fields that have values take space. */
  readonly writeSensorHours: (rows: readonly SensorStats[]) => Promise<void>
  readonly writeSensorDays: (rows: readonly SensorStats[]) => Promise<void>

  /**
   * One entry per step that has readings, in the order of steps. With `from: 'readings'` it takes
   * 24 bytes of memory a row of the query.
   */
  readonly statistics: (query: StatQuery) => Promise<readonly StepStats[]>

  /**
   * The same reads, given up when the signal is aborted: they then throw StoreUnavailable. What has
   * not begun is not begun; InfluxDB's request is closed; SQLite leaves statistics between rows, and
   * ends what else it has begun, which `limit` bounds.
   */
  readonly within: (signal: AbortSignal) => StoreReads

  /**
   * Since when the engine keeps what it has, because it drops rows that are older; undefined: it keeps
   * everything, as ours do unless an operator says otherwise.
   */
  readonly keptFromMs: () => Promise<number | undefined>

  /** Resolves when the engine answers; throws as the others do. For /ready and `status`. */
  readonly ping: () => Promise<void>
}
