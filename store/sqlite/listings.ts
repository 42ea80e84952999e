/**
 * Tables `sensors` and `sites`, for people. They are not part of the schema that has a version: no query
 * of ours reads them, and a file in which they have other columns gets new ones.
 */
import type { SensorId } from '../../core/air/sensor-id.ts'
import {
  type ListingCell,
  type SensorListing,
  sensorColumns,
  siteColumns,
} from '../sensor-listing.ts'
import { type Param, type SqliteFile, textOf } from './file.ts'

export type SqliteListings = {
  readonly listedSensors: () => readonly (readonly [SensorId, string])[]
  readonly writeListings: (listings: readonly SensorListing[], former: readonly SensorId[]) => void
}

const tables = {
  sensors: { columns: sensorColumns, key: 'sensor_id' },
  sites: { columns: siteColumns, key: 'sensor_id, site' },
} as const
type Table = keyof typeof tables
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the names of the tables
const tableNames = Object.keys(tables) as Table[]

const columnsOf = (table: Table): readonly string[] => [
  'sensor_id',
  ...Object.keys(tables[table].columns),
]

function createSql(table: Table): string {
  const { columns, key } = tables[table]
  const declared = Object.entries(columns).map(
    ([name, type]) => `${name} ${type === 'flag' ? 'integer' : type}`,
  )
  return `create table ${table}(sensor_id text not null, ${declared.join(', ')}, primary key(${key}))
  without rowid, strict`
}

export function sqliteListings(db: SqliteFile): SqliteListings {
  const areOurs = (): boolean =>
    tableNames.every((table) => {
      const there = db.all('select name from pragma_table_info(?)', table).flat()
      return columnsOf(table).join() === there.join()
    })
  const ensureTables = (): void => {
    if (areOurs()) return
    for (const table of tableNames) {
      db.run(`drop table if exists ${table}`)
      db.run(createSql(table))
    }
  }
  const insert = (table: Table, sensor: SensorId, cells: Readonly<Record<string, ListingCell>>) => {
    const names = columnsOf(table)
    const places = names.map(() => '?').join(', ')
    const params = names.slice(1).map((name) => paramOf(cells[name] ?? null))
    db.run(`insert into ${table}(${names.join(', ')}) values (${places})`, sensor, ...params)
  }
  return {
    listedSensors: () => {
      if (!areOurs()) return []
      const rows = db.all('select sensor_id, revision from sensors')
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as it was written
      return rows.map(([id, revision]) => [textOf(id) as SensorId, textOf(revision)] as const)
    },
    writeListings: (listings, former) => {
      db.transaction('write', () => {
        ensureTables()
        for (const sensor of new Set([...former, ...listings.map((one) => one.sensor)]))
          for (const table of tableNames) db.run(`delete from ${table} where sensor_id = ?`, sensor)
        for (const { sensor, about, sites } of listings) {
          insert('sensors', sensor, about)
          for (const site of sites) insert('sites', sensor, site)
        }
      })
    },
  }
}

const paramOf = (cell: ListingCell): Param => (typeof cell === 'boolean' ? Number(cell) : cell)
