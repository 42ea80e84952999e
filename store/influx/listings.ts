/**
 * Measurements `sensor` and `site` in the bucket of roll-ups, for people. A field cannot be taken back
 * by writing, so the points of a sensor that changed are deleted first. Killed between the two, the
 * sensor is not listed, and the next holder of the task lists it.
 */
import type { WriteApi } from '@influxdata/influxdb-client'
import type { SensorId } from '../../core/air/sensor-id.ts'
import {
  type ListedSensors,
  type ListingCell,
  type SensorListing,
  sensorColumns,
  siteColumns,
} from '../sensor-listing.ts'
import { StoreMisconfigured } from '../store.ts'
import { deletePoints, type Place } from './delete.ts'
import { escapeTag, quoted } from './line-protocol.ts'
import { endOfTimeMs, type InfluxQuery, timeParam } from './query.ts'
import { writeLines } from './write.ts'

type Options = {
  /** The bucket of roll-ups. */
  readonly in: Place
  readonly writeApi: WriteApi
  readonly query: InfluxQuery
}

const measurements = ['sensor', 'site'] as const

export function influxListings({ in: bucket, writeApi, query }: Options) {
  const where = `${bucket.place}, bucket ${bucket.bucket}`
  return {
    listedSensors: async (): Promise<ListedSensors> => {
      const [series = []] = await query(
        'SELECT last(revision) FROM sensor WHERE time >= $from AND time < $to GROUP BY sensor_id',
        { from: timeParam(0), to: timeParam(endOfTimeMs) },
      )
      return new Map(
        series.map(({ tags, values }) => [
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as it was written
          (tags?.['sensor_id'] ?? '') as SensorId,
          String(values[0]?.[1] ?? ''),
        ]),
      )
    },
    /** What is older than the bucket keeps is dropped by the server, without a fault. */
    writeListings: async (
      listings: readonly SensorListing[],
      former: readonly SensorId[],
    ): Promise<void> => {
      for (const measurement of measurements)
        await deletePoints(bucket, { measurement, sensors: former, fromMs: 0, toMs: endOfTimeMs })
      const { bad } = await writeLines(writeApi, listings.flatMap(linesOf).join('\n'), where)
      const [first] = bad
      if (first) throw new StoreMisconfigured(`${where} refuses the list of sensors: ${first.why}`)
    },
  }
}

/** The sensor comes last: if its line is there, so are its sites. */
function linesOf({ sensor, about, sites }: SensorListing): readonly string[] {
  const [first] = sites
  const line = (
    name: (typeof measurements)[number],
    cells: Readonly<Record<string, ListingCell>>,
    columns: Readonly<Record<string, string>>,
    timeMs: ListingCell | undefined,
  ): string => {
    const fields = Object.entries(cells).flatMap(([field, cell]) =>
      cell === null ? [] : [`${field}=${fieldOf(cell, columns[field])}`],
    )
    return `${name},sensor_id=${escapeTag(sensor)} ${fields.join(',')} ${timeMs ?? 0}`
  }
  return [
    ...sites.map((site) => line('site', site, siteColumns, site.site_from_ms)),
    line('sensor', about, sensorColumns, first?.site_from_ms),
  ]
}

const fieldOf = (cell: string | number | boolean, type: string | undefined): string =>
  typeof cell === 'string' ? quoted(cell) : `${cell}${type === 'integer' ? 'i' : ''}`
