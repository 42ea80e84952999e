/** What an archive has, as the rest of a store (`store/with-expired.ts`). */

import { judgeValues } from '../../core/air/quality.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { Retention } from '../../schemas/retention.ts'
import type { ExpiredRows } from '../../store/with-expired.ts'
import { refuse } from '../exports/check-run.ts'
import type { ArchiveFiles } from './archive-files.ts'
import { sensorsFile } from './archive-layout.ts'
import { readable } from './archive-unreadable.ts'
import { openArchivedReadings } from './archived-readings.ts'
import type { ArchivedRow } from './reading-columns.ts'
import { sensorColumns } from './sensor-columns.ts'
import { type SensorSites, sitesOf } from './sensor-sites.ts'
import { weightedCache } from './weighted-cache.ts'

/** @param retention the record as it is now */
export function expiredRows(files: ArchiveFiles, retention: () => Retention): ExpiredRows {
  const { range, rangeAll } = openArchivedReadings(files)
  const sites = weightedCache<SensorSites>(1, () => 1)

  /** Leaf 1 proves no area and no flags, so they are not archived: the registry and the rules give them. */
  const toReading = async ({ reading }: ArchivedRow): Promise<Reading> => {
    if (reading.leafVersion === 2) return reading
    const { catalogue } = await files.now()
    const table = catalogue.tables.find(({ path }) => path === sensorsFile)
    const areaOf =
      table === undefined
        ? undefined
        : await sites.get(table.sha256, () => files.use(table, sensorColumns, sitesOf))
    const { sensor, timeMs, seq, values, aqi } = reading
    const { flags } = judgeValues(values, { timeAssigned: false })
    return { sensor, area: areaOf?.(sensor, timeMs) ?? '', timeMs, values, aqi, flags, seq }
  }
  const toReadings = async (rows: readonly ArchivedRow[]): Promise<readonly Reading[]> => {
    const readings: Reading[] = []
    for (const row of rows) readings.push(await toReading(row))
    return readings
  }
  /** An archive that was put back to an older state would give answers with holes. */
  const mustReach = async (): Promise<void> => {
    const { runs } = (await files.now()).catalogue
    const { run = 0 } = retention()
    if (runs.length < run)
      refuse(`it ends with run ${runs.length}, and readings that are in run ${run} were let go`)
  }
  return {
    beforeMs: () => retention().rawBeforeMs ?? undefined,
    range: (...query) =>
      readable(async () => {
        await mustReach()
        return await toReadings(await range(...query))
      }),
    rangeAll: (...query) =>
      readable(async () => {
        await mustReach()
        return await toReadings(await rangeAll(...query))
      }),
    signature: (sensor, timeMs, signal) =>
      readable(async () => {
        await mustReach()
        const [row] = await range(sensor, timeMs, timeMs + 1, 1, 'asc', signal)
        return row?.signature
      }),
  }
}
