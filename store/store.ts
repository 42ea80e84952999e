/**
 * The store: keeps readings and answers queries. Two adapters (`sqlite.ts`, `influx.ts`) pass one
 * contract suite (`test/contract/store-contract.ts`). Times are ms since the epoch, UTC; `from` is
 * inclusive and `to` exclusive everywhere; measured values are hundredths (`core/air/reading.ts`),
 * statistics are in the unit of the measurement.
 */
import type { CorrectionModel } from '../core/air/correction-model.ts'
import type { DeviceSignature } from '../core/air/device-signature.ts'
import type { QualityFilter } from '../core/air/quality-level.ts'
import type { QuantityName } from '../core/air/quantities.ts'
import type { Reading, ReadingKey } from '../core/air/reading.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import type { PackedReadings } from './packed-readings.ts'
import type { ListedSensors, SensorListing } from './sensor-listing.ts'
import type { RefusedRow, StoreRow } from './store-row.ts'

export type { RefusedRow, StoreRow } from './store-row.ts'

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
  /** Those that the statistics are of, whatever they measured. */
  readonly readings: number
  /**
   * Those that failed (`quality-level.ts`), which are in no other number; null: an earlier version
   * wrote the row, and they are in all of them.
   */
  readonly failed: number | null
  readonly fields: { readonly [Field in StatField]: FieldStats }
}
export type AreaStats = BucketStats & { readonly area: string }
/** Wherever the sensor was. */
export type SensorStats = BucketStats & { readonly sensor: SensorId }

/** What `statistics` are of: the readings of an area, or of sensors wherever they were. */
export type StatSource = { readonly area: string } | { readonly sensors: readonly SensorId[] }

/** A corrected value of each reading; there is none of the sensors that the model was not fitted to. */
export type StatCorrection = {
  readonly model: CorrectionModel
  readonly without: readonly SensorId[]
}

/** `epa_2021_ext:pm25`: what a model gives. */
export type CorrectedColumn = `${string}:${QuantityName}`
export const correctedColumn = ({ name, of }: CorrectionModel): CorrectedColumn => `${name}:${of}`

/** Hours or days that must not be read: they are not written, or are older than their readings. */
export type Unwritten = ReadonlySet<number> | 'all'

export type StatQuery = {
  readonly of: StatSource
  /** Ends of spans that follow one another, ascending: one more than there are spans. */
  readonly edges: readonly number[]
  /** For each span the step that it belongs to, from 0; a step may have several (all Mondays). */
  readonly steps: readonly number[]
  readonly fields: readonly StatField[]
  /**
   * The others are left out, and counted; absent: the usual. What is written is of the usual ones, and
   * read for them only.
   */
  readonly quality?: QualityFilter
  /** With these nothing that is written is read. */
  readonly corrections?: readonly StatCorrection[]
  /**
   * From every reading, or from written hours or days, as far as a span holds them whole; what
   * remains of a span, and what is not written, is computed from readings, an hour (a day) at a time.
   */
  readonly from: 'readings' | BucketSize
  readonly unwritten: Unwritten
  /** Nothing before is written. */
  readonly writtenFromMs: number
}

/**
 * n, mean, sd, min and max are exact. Quantiles are those of the readings if `from` is 'readings' or
 * the step is one written hour or day; otherwise those of the means of its hours or days.
 */
export type StepStats = {
  readonly step: number
  /** Those that the statistics are of. */
  readonly readings: number
  /** By the quality that was asked for; null: some hours or days are of an earlier version, see `failed`. */
  readonly leftOut: number | null
  /** Those asked for that have values, and corrected ones. */
  readonly fields: { readonly [Field in StatField]?: FieldStats } & {
    readonly [column: CorrectedColumn]: FieldStats
  }
}

/** By time: newest first, or oldest first. Within one ms always by sensor. */
export type Order = 'desc' | 'asc'

/** Where a page of `rangeAll` ended: the next page starts after it, in the same order. */
export type Cursor = { readonly timeMs: number; readonly sensor: SensorId }

/** The engine is away or overloaded: the same call may succeed later, nothing is known of it. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** Bad token, missing bucket, unusable file: a person must act; retrying as it is cannot help. */
export class StoreMisconfigured extends Error {
  override readonly name = 'StoreMisconfigured'
}

export type BucketSize = 'hour' | 'day'

/** Readings of a sensor up to a number. */
export type UpTo = { readonly sensor: SensorId; readonly lastSeq: number }

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

  /** The same, of rows that have no fault (`row-fault.ts`): packed once, they are not copied again. */
  readonly writePacked: (batches: readonly PackedReadings[]) => Promise<readonly RefusedRow[]>

  /** What suits the engine: rows of one write, and how many of them side by side. */
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
   * memory a row of one UTC day. Failed readings are left out and counted, unless `quality` says otherwise.
   */
  readonly computeBuckets: (
    area: string,
    fromMs: number,
    toMs: number,
    size: BucketSize,
    quality?: QualityFilter,
  ) => Promise<readonly AreaStats[]>

  /**
   * Computed over the whole span, median and p98 included; undefined: no rows. Whole hours whose values
   * are kept are not read again. Takes 24 bytes of memory a row that is read, so not more than a day of a
   * city at once.
   * @param unwritten absent: all hours are read from readings
   */
  readonly computeOverall: (
    area: string,
    fromMs: number,
    toMs: number,
    unwritten?: Unwritten,
  ) => Promise<AreaStats | undefined>
  /**
   * Keeps how often each value is there in the hour, for `computeOverall`; they count only with the hour's
   * statistics that are of as many readings, so those are written first.
   */
  readonly keepHourValues: (area: string, startMs: number) => Promise<void>

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

  /** The sensors that the store lists, for those who query it. */
  readonly listedSensors: () => Promise<ListedSensors>
  /**
   * Lists sensors and their sites; each sensor's are replaced as a whole.
   * @param former sensors whose listing is removed; also those of `listings` that are listed already
   */
  readonly writeListings: (
    listings: readonly SensorListing[],
    former: readonly SensorId[],
  ) => Promise<void>

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

  /**
   * Deletes the readings of these sensors in [from, to), with their signatures; statistics stay. A call holds
   * the store's writers up for as long as it takes, so it names few rows: some ten thousand at most.
   * Those with a later number stay; only where `deletesByTime` is true, none may be there.
   */
  readonly deleteReadings: (of: readonly UpTo[], fromMs: number, toMs: number) => Promise<void>
  /**
   * The engine cannot ask for a number when it deletes: a reading that is written at the same time, with
   * a time in between, may go too, and its caller writes it again.
   */
  readonly deletesByTime: boolean
  /** Bytes of the store's file that hold nothing and are used again; undefined: the engine returns them. */
  readonly unusedBytes: () => Promise<number | undefined>

  /** Resolves when the engine answers; throws as the others do. For /ready and `status`. */
  readonly ping: () => Promise<void>
}
