import type { DeviceSignature } from '../../core/air/device-signature.ts'
import type { QualityFilter } from '../../core/air/quality-level.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { PackedReadings } from '../packed-readings.ts'
import type {
  BucketSize,
  Cursor,
  Order,
  StatQuery,
  StepStats,
  StoredNames,
  Unwritten,
  UpTo,
} from '../store.ts'
import type { Fault } from './fault.ts'
import type { SqliteListings } from './listings.ts'
import type { PackedKeys } from './pack.ts'
import type { PackedSensorStats } from './pack-sensor-stats.ts'
import type { PackedStats } from './pack-stats.ts'
import type { RollupTable, SensorTable } from './schema.ts'

/** What a worker is asked to do, in what crosses a thread cheaply. */
export type SqliteCalls = {
  readonly writeBatch: (batches: readonly PackedReadings[]) => void
  readonly existing: (keys: PackedKeys) => PackedReadings
  readonly range: (
    sensor: string,
    fromMs: number,
    toMs: number,
    limit: number,
    order: Order,
  ) => PackedReadings
  readonly rangeAll: (
    fromMs: number,
    toMs: number,
    limit: number,
    cursor: Cursor | undefined,
    order: Order,
  ) => PackedReadings
  readonly seedLatest: () => PackedReadings
  readonly signature: (sensor: string, timeMs: number) => DeviceSignature | undefined
  readonly computeBuckets: (
    area: string,
    fromMs: number,
    toMs: number,
    sizeMs: number,
    quality?: QualityFilter,
  ) => PackedStats
  readonly computeOverall: (
    area: string,
    fromMs: number,
    toMs: number,
    unwritten?: Unwritten,
  ) => PackedStats
  /** undefined: the hour has no readings. */
  readonly computeHourValues: (area: string, startMs: number) => Uint8Array | undefined
  readonly writeHourValues: (area: string, startMs: number, values: Uint8Array) => void
  readonly rollups: (table: RollupTable, area: string, fromMs: number, toMs: number) => PackedStats
  readonly writeRollups: (table: RollupTable, rows: PackedStats) => void
  readonly names: () => StoredNames
  readonly computeSensors: (
    sensors: readonly SensorId[],
    fromMs: number,
    toMs: number,
    size: BucketSize,
  ) => PackedSensorStats
  readonly writeSensors: (table: SensorTable, rows: PackedSensorStats) => void
  readonly statistics: (query: StatQuery) => readonly StepStats[]
  readonly deleteReadings: (of: readonly UpTo[], fromMs: number, toMs: number) => void
  readonly unusedBytes: () => number
  readonly ping: () => void
} & SqliteListings

export type CallName = keyof SqliteCalls
export type Call = {
  [Name in CallName]: { name: Name; args: Parameters<SqliteCalls[Name]> }
}[CallName]

export type Request = Call & { readonly id: number }
export type Answer =
  | { readonly id: number; readonly ok: true; readonly value: ReturnType<SqliteCalls[CallName]> }
  | { readonly id: number; readonly ok: false; readonly fault: Fault }

/** A line for a person, as well as the answers. */
export type Notice = { readonly notice: string }

export type WorkerOptions = { readonly file: string; readonly readOnly: boolean }

export type WorkerData = WorkerOptions & { readonly givenUp: GivenUp }

/**
 * Memory that both threads see: the ids of calls whose caller has given up. A call has the cell
 * of its id; two that share one by their distance lose no more than time.
 */
export type GivenUp = Int32Array<SharedArrayBuffer>

const cells = 4_096

export const noneGivenUp = (): GivenUp =>
  new Int32Array(new SharedArrayBuffer(cells * Int32Array.BYTES_PER_ELEMENT))
export const giveUp = (calls: GivenUp, id: number): void =>
  void Atomics.store(calls, id % cells, id)
export const isGivenUp = (calls: GivenUp, id: number): boolean =>
  Atomics.load(calls, id % cells) === (id | 0)
