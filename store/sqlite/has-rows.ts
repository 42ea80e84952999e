import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { applicationId } from './schema.ts'

/** Whether a file of ours is there and holds readings. */
export function sqliteHasRows(file: string): boolean {
  if (!existsSync(file)) return false
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  const { application_id: id } = db.prepare('pragma application_id').get() ?? {}
  return id === applicationId && db.prepare('select 1 from reading limit 1').get() !== undefined
}
