import { backup, DatabaseSync } from 'node:sqlite'

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
