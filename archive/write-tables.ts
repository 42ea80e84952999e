/** What the archive holds beside readings: the registry and statistics, made again with each run. */
import type { NatsConnection } from '@nats-io/transport-node'
import { sensorsFile } from '../operate/archive/archive-layout.ts'
import type { Catalogue, CatalogueRun, ListedFile } from '../operate/archive/catalogue.ts'
import type { Store } from '../store/store.ts'
import { putFile } from './put-file.ts'
import { sensorColumns, sensorRows } from './sensor-table.ts'
import { tableWriter } from './write-table.ts'

type Options = {
  readonly nc: NatsConnection
  readonly store: Store
  readonly folder: string
  readonly former: Catalogue
  readonly made: CatalogueRun
}

/** @returns all tables of the archive, those of former runs included */
export async function writeTables({ nc, folder, former }: Options): Promise<readonly ListedFile[]> {
  const tables = new Map(former.tables.map((table) => [table.path, table]))
  const sensors = await putFile(folder, sensorsFile, async (file) => {
    const rows = tableWriter(file, sensorColumns)
    for (const row of await sensorRows(nc)) await rows.add(row)
    return await rows.end()
  })
  tables.set(sensorsFile, { path: sensorsFile, ...sensors })
  return [...tables.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
