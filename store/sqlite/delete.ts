import type { SqliteCalls } from './calls.ts'
import type { SqliteFile } from './file.ts'
import { numberOf } from './pack.ts'

/**
 * Each call is one transaction. The pages that it frees stay in the file and are used for the next
 * readings: returning them to the disk would move as many others, under the lock of the writer.
 */
export function sqliteDeletes(db: SqliteFile): Pick<SqliteCalls, 'deleteReadings' | 'unusedBytes'> {
  return {
    deleteReadings: (of, fromMs, toMs) =>
      db.transaction('write', () => {
        for (const { sensor, lastSeq } of of) {
          const [row] = db.all('select n from sensor where id = ?', sensor)
          if (row === undefined) continue
          const s = numberOf(row[0])
          db.run(deleteSignatures, s, fromMs, toMs, lastSeq)
          db.run(deleteRows, s, fromMs, toMs, lastSeq)
        }
      }),
    unusedBytes: () => {
      const [row] = db.all(
        'select freelist_count * page_size from pragma_freelist_count, pragma_page_size',
      )
      return numberOf(row?.[0])
    },
  }
}

const deleteRows = 'delete from reading where s = ? and t >= ? and t < ? and seq <= ?'
const deleteSignatures = `delete from signature where s = ?1 and t >= ?2 and t < ?3
  and exists (select 1 from reading r where r.s = ?1 and r.t = signature.t and r.seq <= ?4)`
