/**
 * A file of an earlier airproof, or of a shorter table of quantities, is brought up to ours by its
 * writer, in one transaction: killed inside, nothing of it is there and the next start does it again.
 */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { StoreMisconfigured } from '../store.ts'
import { addedTablesSql, grownColumns, schemaVersion, viewsSql } from './schema.ts'

type Table = keyof typeof grownColumns
export type Missing = readonly { readonly table: Table; readonly columns: readonly string[] }[]

/** Columns are added in place: what is written is the schema. */
const neededBytes = 64 * 1024 * 1024

/** What the file lacks; none of it: it is as ours. */
export function missingColumns(db: DatabaseSync): Missing {
  const inFile = db.prepare('select name from pragma_table_info(?)')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the names of the tables
  return (Object.keys(grownColumns) as Table[])
    .map((table) => {
      const there = new Set(inFile.all(table).map(({ name }) => name))
      const columns = grownColumns[table].filter((column) => !there.has(column.split(' ')[0] ?? ''))
      // a table that is not there yet is made as ours
      return { table, columns: there.size === 0 ? [] : columns }
    })
    .filter(({ columns }) => columns.length > 0)
}

type Migration = {
  readonly file: string
  readonly from: number
  readonly missing: Missing
  readonly freeBytes?: number
}

/**
 * Call it under the write lock. For each column SQLite reads the table once, because the table is
 * strict: 1 s of CPU time for 5 million readings was measured, so 100 million readings of 0.1, which
 * lack 13 columns, should take 4 to 5 minutes.
 * @param say receives a line for each step
 * @throws StoreMisconfigured there is not enough room
 */
export function migrate(
  db: DatabaseSync,
  { file, from, missing, freeBytes = freeBytesBeside(file) }: Migration,
  say: (line: string) => void,
): void {
  if (freeBytes < neededBytes) {
    throw new StoreMisconfigured(
      `${file} is of schema version ${from} and is to be brought up to ${schemaVersion}: make room first, 64 MiB are needed beside it`,
    )
  }
  for (const { table, columns } of missing) {
    say(
      `${file}: table ${table} gets ${columns.length} columns (schema ${from} to ${schemaVersion})`,
    )
    for (const column of columns) db.exec(`alter table ${table} add column ${column}`)
  }
  db.exec(addedTablesSql)
  db.exec(viewsSql)
  db.exec(`pragma user_version = ${schemaVersion}`)
  say(`${file} is of schema version ${schemaVersion} now`)
}

function freeBytesBeside(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file))
  return bavail * bsize
}
