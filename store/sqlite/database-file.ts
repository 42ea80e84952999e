import { existsSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { applicationId } from './schema.ts'

/** More pages than any database has: all of them in one step. */
const allPages = 2 ** 31 - 1

/**
 * Copies a database that other processes write at the same time: as it was at one moment, in one read
 * transaction. In steps SQLite would begin again after each write of another process. Writers do not
 * wait; the write-ahead log grows meanwhile, and is folded into the file afterwards.
 */
export async function copySqliteFile(from: string, to: string): Promise<void> {
  const db = new DatabaseSync(from, { readOnly: true, timeout: 10_000 })
  try {
    await backup(db, to, { rate: allPages })
  } finally {
    db.close()
  }
}

/** Whether a file of ours is there and holds readings. */
export function sqliteHasRows(file: string): boolean {
  if (!existsSync(file)) return false
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  const { application_id: id } = db.prepare('pragma application_id').get() ?? {}
  return id === applicationId && db.prepare('select 1 from reading limit 1').get() !== undefined
}
