/** What the archive holds beside readings: the registry and statistics, made again with each run. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorId } from '../core/air/sensor-id.ts'
import { dayMs, floorTo } from '../core/time.ts'
import { dayStart, sensorsFile } from '../operate/archive/archive-layout.ts'
import type { Catalogue, CatalogueRun, ListedFile } from '../operate/archive/catalogue.ts'
import type { Column } from '../operate/archive/parquet-table.ts'
import { putFile } from '../operate/archive/put-file.ts'
import { sensorColumns } from '../operate/archive/sensor-columns.ts'
import type { Store } from '../store/store.ts'
import {
  sensorPeriodsOf,
  sensorStatisticsColumns,
  sensorStatisticsOf,
  writtenStatistics,
} from './sensor-statistics-table.ts'
import { sensorRows } from './sensor-table.ts'
import { periodsOf, statisticsColumns, statisticsOf } from './statistics-table.ts'
import { tableWriter } from './write-table.ts'

type Options = {
  readonly nc: NatsConnection
  readonly store: Store
  readonly folder: string
  readonly former: Catalogue
  readonly made: CatalogueRun
  readonly nowMs: number
  readonly stop: AbortSignal
}

/** @returns all tables of the archive, those of former runs included */
export async function writeTables({
  nc,
  store,
  folder,
  former,
  made,
  nowMs,
  stop,
}: Options): Promise<readonly ListedFile[]> {
  const tables = new Map(former.tables.map((table) => [table.path, table]))
  const put = async <Row>(
    path: string,
    columns: readonly Column<Row>[],
    rows: Iterable<Row> | AsyncIterable<Row>,
  ): Promise<void> => {
    const written = await putFile(folder, path, async (file) => {
      const table = tableWriter(file, columns)
      for await (const row of rows) await table.add(row)
      return await table.end()
    })
    tables.set(path, { path, ...written })
  }
  const sensors = await sensorRows(nc)
  await put(sensorsFile, sensorColumns, sensors)
  const areas = [...new Set(sensors.map(({ site }) => site.area))].toSorted()
  const untilMs = floorTo(nowMs, dayMs)
  const days = made.files.map(({ day }) => dayStart(day))
  for (const period of periodsOf(days))
    await put(period.path, statisticsColumns, statisticsOf(period, store, { areas, untilMs }))
  const source = {
    store,
    sensors: await sensorsOf(sensors, store),
    written: await writtenStatistics(nc, made.after.position),
    stop,
  }
  for (const period of sensorPeriodsOf(days, untilMs))
    await put(period.path, sensorStatisticsColumns, sensorStatisticsOf(period, source))
  return [...tables.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Also those whose readings the store no longer has, and those that the registry never had. */
async function sensorsOf(
  rows: Awaited<ReturnType<typeof sensorRows>>,
  store: Store,
): Promise<readonly SensorId[]> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the registry has canonical ids only
  const registered = rows.map(({ sensor }) => sensor.id as SensorId)
  return [...new Set([...registered, ...(await store.names()).sensors])].toSorted()
}
