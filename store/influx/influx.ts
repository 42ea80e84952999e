import type { Reading } from '../../core/air/reading.ts'
import { sameValues } from '../../core/air/values.ts'
import { packReadings, unpackReadings } from '../packed-readings.ts'
import { sortOutFaulty } from '../row-fault.ts'
import {
  type RefusedRow,
  type Store,
  StoreMisconfigured,
  type StoreReads,
  type StoreRow,
} from '../store.ts'
import { influxClient } from './client.ts'
import { influxDelete } from './delete.ts'
import { hourValuesLines } from './hour-values.ts'
import { rollupLine, sensorLine } from './line-protocol.ts'
import { influxListings } from './listings.ts'
import { type InfluxQuery, influxQuery } from './query.ts'
import { influxReads } from './read.ts'
import { readingLines } from './reading-lines.ts'
import { influxRetention } from './retention.ts'
import { influxRollups, influxStats } from './stats.ts'
import { influxNames, influxSensors, influxStatistics } from './step-stats.ts'
import { writeLines } from './write.ts'

export type InfluxStoreOptions = {
  readonly url: string
  readonly token: string
  /** For each request; by default the same as `token`. */
  readonly tokenNow?: () => string
  readonly org: string
  /** Of the readings; roll-ups lie in `rollupBucketOf(bucket)`. Both must exist. */
  readonly bucket: string
  /** ms since the epoch; only saves time, see `influx-read.ts`. */
  readonly now?: () => number
  readonly writeTimeoutMs?: number
  readonly queryTimeoutMs?: number
}

export const rollupBucketOf = (bucket: string): string => `${bucket}_1h`

/**
 * The store in InfluxDB 2. Opening it asks nothing of the server: while that is away the rest of
 * the service goes on, and calls throw StoreUnavailable. `ping` tells.
 * @throws StoreMisconfigured where the URL is none
 */
// oxlint-disable-next-line require-await -- one signature for both engines
export async function openInfluxStore({
  bucket,
  now = Date.now,
  ...options
}: InfluxStoreOptions): Promise<Store> {
  const client = influxClient(options)
  const { place, queries } = client
  const rollupBucket = rollupBucketOf(bucket)
  const readingApi = client.writeApi(bucket)
  const rollupApi = client.writeApi(rollupBucket)
  const query = influxQuery(queries, bucket, place)
  const rollupQuery = influxQuery(queries, rollupBucket, place)
  const linesOf = readingLines()
  const reads = influxReads(query, now)
  const readsUnder = (signal?: AbortSignal): StoreReads => {
    const bounded: InfluxQuery = (statements, params) => query(statements, params, signal)
    const ofRollups: InfluxQuery = (statements, params) => rollupQuery(statements, params, signal)
    const { computeBuckets, computeOverall } = influxStats({
      readings: bounded,
      rollups: ofRollups,
    })
    return {
      ...influxReads(bounded, now),
      computeBuckets,
      computeOverall,
      areaHours: async (area, fromMs, toMs) =>
        influxRollups(ofRollups, 'reading_1h', area, fromMs, toMs),
      areaDays: async (area, fromMs, toMs) =>
        influxRollups(ofRollups, 'reading_1d', area, fromMs, toMs),
      statistics: influxStatistics({ readings: bounded, rollups: ofRollups }),
    }
  }

  const { computeHourValues } = influxStats({ readings: query, rollups: rollupQuery })
  const writeRollups = async (lines: readonly string[]): Promise<void> => {
    const { bad, dropped } = await writeLines(
      rollupApi,
      lines.join('\n'),
      `${place}, bucket ${rollupBucket}`,
    )
    const why = dropped ?? bad[0]?.why
    if (why !== undefined) throw new StoreMisconfigured(`${place} refuses roll-ups: ${why}`)
  }

  const writePacked: Store['writePacked'] = async (batches) => {
    const written = await writeLines(readingApi, linesOf(batches), `${place}, bucket ${bucket}`)
    if (written.bad.length === 0 && written.dropped === undefined) return []
    const rows = batches.flatMap(unpackReadings).filter((row) => row !== undefined)
    const bad = written.bad.map(({ index, why }) => ({ row: rows[index]!, why }))
    if (written.dropped === undefined) return bad
    const cut = new Set(bad.map(({ row }) => row))
    const sent = rows.filter((row) => !cut.has(row))
    return [...bad, ...(await missing(reads.existing, sent, written.dropped))]
  }

  return {
    ...reads,
    ...readsUnder(),
    within: readsUnder,
    writing: { batchRows: 2_000, lanes: 2 },
    writeBatch: async (rows) => {
      const { fit, refused } = sortOutFaulty(rows)
      return [...refused, ...(await writePacked([packReadings(fit)]))]
    },
    writePacked,
    writeAreaHours: async (rows) => writeRollups(rows.map((row) => rollupLine('reading_1h', row))),
    writeAreaDays: async (rows) => writeRollups(rows.map((row) => rollupLine('reading_1d', row))),
    keepHourValues: async (area, startMs) => {
      const values = await computeHourValues(area, startMs)
      if (values) await writeRollups(hourValuesLines(area, startMs, values))
    },
    names: async () => influxNames(query),
    computeSensors: influxSensors(query),
    writeSensorHours: async (rows) => writeRollups(rows.map((row) => sensorLine('sensor_1h', row))),
    writeSensorDays: async (rows) => writeRollups(rows.map((row) => sensorLine('sensor_1d', row))),
    ...influxListings({
      in: { transport: queries, org: options.org, bucket: rollupBucket, place },
      writeApi: rollupApi,
      query: rollupQuery,
    }),
    keptFromMs: async () => {
      const retentionMs = await influxRetention({ transport: queries, bucket, place })
      return retentionMs === undefined ? undefined : now() - retentionMs
    },
    deleteReadings: async (of, fromMs, toMs) =>
      influxDelete({ transport: queries, org: options.org, bucket, place }, of, fromMs, toMs),
    deletesByTime: true,
    unusedBytes: async () => undefined,
    ping: async () => {
      await Promise.all([query, rollupQuery].map(probe))
    },
    [Symbol.asyncDispose]: async () => {
      client[Symbol.dispose]()
    },
  }
}

/** Touches the bucket with the token, and reads nothing. */
const probe = async (query: InfluxQuery): Promise<unknown> =>
  query('SELECT seq FROM reading WHERE time >= $at AND time < $at', {
    at: '1970-01-01T00:00:00.000Z',
  })

/** The server drops without saying which: those that are not there as sent. */
async function missing(
  existing: Store['existing'],
  sent: readonly StoreRow[],
  why: string,
): Promise<RefusedRow[]> {
  const stored = await existing(sent)
  return sent.flatMap((row, i) => (isSame(row, stored[i]) ? [] : [{ row, why }]))
}

export const isSame = (row: Reading, stored: Reading | undefined): boolean =>
  stored !== undefined &&
  row.area === stored.area &&
  row.seq === stored.seq &&
  row.flags === stored.flags &&
  row.aqi === stored.aqi &&
  row.leafVersion === stored.leafVersion &&
  row.device === stored.device &&
  sameValues(row.values, stored.values)
