import type { Reading } from '../../core/air/reading.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { type PackedReadings, packReadings, unpackReadings } from '../packed-readings.ts'
import { sortOutFaulty } from '../row-fault.ts'
import {
  type BucketSize,
  type SensorStats,
  type Store,
  type StoreReads,
  StoreUnavailable,
} from '../store.ts'
import { openSqliteLane, type SqliteLane } from './lane.ts'
import { packKeys } from './pack.ts'
import { packSensorStats, unpackSensorStats } from './pack-sensor-stats.ts'
import { packStats, unpackStats } from './pack-stats.ts'
import type { SensorTable } from './schema.ts'

export type SqliteStoreOptions = {
  /** Made if it is not there; its folder must be. */
  readonly file: string
  /** A reader of what another process writes. Until that has made the file, calls are unavailable. */
  readonly readOnly?: boolean
  /** Receives a line for each step when a file of an earlier version is brought up to ours. */
  readonly onNotice?: ((line: string) => void) | undefined
}

/**
 * The store in one SQLite file. Other processes may read it, and write it, at the same time.
 * Three threads: writes, short reads and statistics do not wait for one another, and none of
 * them blocks the caller's.
 * @throws StoreMisconfigured where the file is not a store or cannot be opened
 * @throws StoreUnavailable
 */
export async function openSqliteStore({
  file,
  readOnly = false,
  onNotice,
}: SqliteStoreOptions): Promise<Store> {
  await using opening = new AsyncDisposableStack()
  // closed in the reverse order: the writer last, it folds the write-ahead log into the file
  const writer = opening.use(openSqliteLane({ file, readOnly }, onNotice))
  const reader = readOnly ? writer : opening.use(openSqliteLane({ file, readOnly: true }))
  const statistics = opening.use(openSqliteLane({ file, readOnly: true }))

  try {
    await writer.call('ping', [])
  } catch (error) {
    if (!(readOnly && error instanceof StoreUnavailable)) throw error
  }
  const lanes = opening.move()

  const writeSensors = async (table: SensorTable, rows: readonly SensorStats[]): Promise<void> => {
    const packed = packSensorStats(rows)
    await writer.call('writeSensors', [table, packed], { transfer: [packed.cells.buffer] })
  }

  return {
    writeBatch: async (rows) => {
      const { fit, refused } = sortOutFaulty(rows)
      if (fit.length > 0) {
        const packed = packReadings(fit)
        await writer.call('writeBatch', [[packed]], { transfer: [packed.cells.buffer] })
      }
      return refused
    },
    // copied to the thread: others read them too
    writePacked: async (batches) => {
      await writer.call('writeBatch', [batches])
      return []
    },
    writing: { batchRows: 5_000, lanes: 1 },
    existing: async (keys) => unpackReadings(await reader.call('existing', [packKeys(keys)])),
    seedLatest: async () => present(await statistics.call('seedLatest', [])),
    ...readsOver(reader, statistics),
    within: (signal) => readsOver(reader, statistics, signal),
    writeAreaHours: async (rows) => writer.call('writeRollups', ['area_hour', packStats(rows)]),
    writeAreaDays: async (rows) => writer.call('writeRollups', ['area_day', packStats(rows)]),
    keepHourValues: async (area, startMs) => {
      const values = await statistics.call('computeHourValues', [area, startMs])
      if (values) await writer.call('writeHourValues', [area, startMs, values])
    },
    names: async () => reader.call('names', []),
    computeSensors: async (sensors, fromMs, toMs, size) =>
      unpackSensorStats(await statistics.call('computeSensors', [sensors, fromMs, toMs, size])),
    writeSensorHours: async (rows) => writeSensors('sensor_hour', rows),
    writeSensorDays: async (rows) => writeSensors('sensor_day', rows),
    listedSensors: async () => new Map(await reader.call('listedSensors', [])),
    writeListings: async (listings, former) => writer.call('writeListings', [listings, former]),
    keptFromMs: async () => undefined,
    deleteReadings: async (of, fromMs, toMs) => writer.call('deleteReadings', [of, fromMs, toMs]),
    deletesByTime: false,
    unusedBytes: async () => reader.call('unusedBytes', []),
    // not queued after the writes: a long batch does not mean trouble
    ping: async () => reader.call('ping', []),
    [Symbol.asyncDispose]: async () => lanes.disposeAsync(),
  }
}

function readsOver(reader: SqliteLane, statistics: SqliteLane, signal?: AbortSignal): StoreReads {
  const how = { signal }
  return {
    latest: async (sensor, limit) =>
      present(await reader.call('range', [sensor, 0, Number.MAX_SAFE_INTEGER, limit, 'desc'], how)),
    range: async (sensor, fromMs, toMs, limit, order = 'desc') =>
      present(await reader.call('range', [sensor, fromMs, toMs, limit, order], how)),
    rangeAll: async (fromMs, toMs, limit, cursor, order = 'desc') =>
      present(await reader.call('rangeAll', [fromMs, toMs, limit, cursor, order], how)),
    at: async (sensor, timeMs) =>
      present(await reader.call('range', [sensor, timeMs, timeMs + 1, 1, 'desc'], how))[0],
    signature: async (sensor, timeMs) => reader.call('signature', [sensor, timeMs], how),
    computeBuckets: async (area, fromMs, toMs, size, quality) => {
      const asked = [area, fromMs, toMs, sizeMs[size], quality] as const
      return unpackStats(await statistics.call('computeBuckets', [...asked], how))
    },
    computeOverall: async (area, fromMs, toMs, unwritten) => {
      const asked = [area, fromMs, toMs, unwritten] as const
      return unpackStats(await statistics.call('computeOverall', [...asked], how))[0]
    },
    areaHours: async (area, fromMs, toMs) =>
      unpackStats(await reader.call('rollups', ['area_hour', area, fromMs, toMs], how)),
    areaDays: async (area, fromMs, toMs) =>
      unpackStats(await reader.call('rollups', ['area_day', area, fromMs, toMs], how)),
    statistics: async (query) => statistics.call('statistics', [query], how),
  }
}

const sizeMs: Readonly<Record<BucketSize, number>> = { hour: hourMs, day: dayMs }

const present = (packed: PackedReadings): Reading[] =>
  unpackReadings(packed).filter((row) => row !== undefined)
