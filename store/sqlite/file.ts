/**
 * The only file that knows `node:sqlite`: a database opened as the store needs it, with prepared
 * statements kept by their text. Everything here blocks, so it belongs into a worker thread.
 */
import { existsSync } from 'node:fs'
import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { StoreMisconfigured, StoreUnavailable } from '../store.ts'
import { isBusy } from './fault.ts'
import { migrate, missingColumns } from './migrate.ts'
import { applicationId, schemaSql, schemaVersion } from './schema.ts'

export type Cell = SQLOutputValue
export type Row = readonly Cell[]
export type Param = number | string | Uint8Array | null

export type SqliteFile = Disposable & {
  readonly run: (sql: string, ...params: readonly Param[]) => void
  readonly all: (sql: string, ...params: readonly Param[]) => readonly Row[]
  /** Whole or not at all: rolled back when `work` throws. `begin` takes the write lock at once. */
  readonly transaction: <T>(kind: 'read' | 'write', work: () => T) => T
  /** Makes an SQL aggregate whose result is a blob. An error of a step ends the statement. */
  readonly aggregate: <State>(
    name: string,
    start: () => State,
    step: (state: State, cells: Row) => void,
    result: (state: State) => Uint8Array,
  ) => void
}

export const textOf = (cell: Cell | undefined): string => (typeof cell === 'string' ? cell : '')
export const bytesOf = (cell: Cell | undefined): Uint8Array | undefined =>
  cell instanceof Uint8Array ? cell : undefined

/** How long a writer waits for another process's transaction. */
const busyMs = 10_000

/**
 * How far the write-ahead log grows (64 MB) before it is folded into the file. A batch touches
 * each of its sensors' pages, so folding seldom writes each page once for many batches: rows are
 * written up to twice as fast as with SQLite's own 1,000.
 */
const checkpointPages = 16_000

/**
 * @param say receives a line for each step when a file of an earlier version is brought up
 * @throws StoreUnavailable where `readOnly` finds nothing yet (its writer makes the file, or brings it up)
 * @throws StoreMisconfigured where the file is another program's, or of a later version
 */
export function openSqliteFile(
  file: string,
  readOnly: boolean,
  say: (line: string) => void = () => undefined,
): SqliteFile {
  if (readOnly && !existsSync(file)) throw new StoreUnavailable(`${file} does not exist yet`)
  const db = new DatabaseSync(file, { readOnly, timeout: busyMs })
  try {
    if (readOnly) checkReadable(db, file)
    else prepareForWriting(db, file, say)
    db.exec('pragma temp_store = memory; pragma cache_size = -65536')
  } catch (error) {
    db.close()
    throw error
  }
  return wrap(db)
}

function checkReadable(db: DatabaseSync, file: string): void {
  const version = versionOf(db, file)
  if (version === 0) throw new StoreUnavailable(`${file} is still being made`)
  if (version < schemaVersion || missingColumns(db).length > 0) {
    throw new StoreUnavailable(
      `${file} is of schema version ${version}, this airproof needs ${schemaVersion}: its pipeline brings it up when it starts`,
    )
  }
}

function prepareForWriting(db: DatabaseSync, file: string, say: (line: string) => void): void {
  // looked at before anything is changed: the file may be another program's
  versionOf(db, file)
  enterWal(db)
  db.exec(`
    pragma synchronous = full;
    pragma wal_autocheckpoint = ${checkpointPages};
    pragma journal_size_limit = ${2 * checkpointPages * 4096};`)
  // under the write lock: two processes may start on a new file at once
  db.exec('begin immediate')
  try {
    const from = versionOf(db, file)
    const missing = from === 0 ? [] : missingColumns(db)
    if (from === 0) db.exec(schemaSql)
    else if (from < schemaVersion || missing.length > 0) migrate(db, { file, from, missing }, say)
    db.exec('commit')
  } catch (error) {
    rollBack(db)
    throw error
  }
}

/** Of two processes that create a file together, the second gets "busy" at once, whatever its timeout. */
function enterWal(db: DatabaseSync): void {
  const deadlineMs = performance.now() + busyMs
  for (;;) {
    try {
      db.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error
      // a thread of the store's own, which has nothing else to do
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  }
}

/**
 * @returns the version of its schema, 0 where that is yet to be made
 * @throws StoreMisconfigured where it is another program's, or of a later airproof
 */
function versionOf(db: DatabaseSync, file: string): number {
  // in one statement: another process may be making it at this moment
  const row = db
    .prepare(
      `select (select application_id from pragma_application_id) id,
              (select user_version from pragma_user_version) version,
              (select count(*) from sqlite_schema) tables`,
    )
    .get()
  const [id, version = 0, tables] = [row?.['id'], row?.['version'], row?.['tables']].map(Number)
  if (id === 0 && version === 0 && tables === 0) return 0
  if (id !== applicationId || version === 0)
    throw new StoreMisconfigured(`${file} belongs to another program: name another file`)
  if (version <= schemaVersion) return version
  throw new StoreMisconfigured(
    `${file} has schema version ${version}, and this airproof reads it up to ${schemaVersion}: use the airproof that wrote it, or a later one (docs/upgrading.md)`,
  )
}

function wrap(db: DatabaseSync): SqliteFile {
  const kept = new Map<string, StatementSync>()
  const prepared = (sql: string): StatementSync => {
    const known = kept.get(sql)
    if (known !== undefined) return known
    const statement = db.prepare(sql)
    statement.setReturnArrays(true)
    kept.set(sql, statement)
    return statement
  }
  /** By a step of an aggregate: node:sqlite ends the statement, but loses the error. */
  let thrown: { readonly error: unknown } | undefined
  return {
    run: (sql, ...params) => {
      prepared(sql).run(...params)
    },
    all: (sql, ...params) => {
      // the types of all() do not know setReturnArrays
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const rows = prepared(sql).all(...params) as unknown as Row[]
      if (thrown === undefined) return rows
      const { error } = thrown
      thrown = undefined
      throw error
    },
    transaction: (kind, work) => {
      db.exec(kind === 'write' ? 'begin immediate' : 'begin')
      try {
        const result = work()
        db.exec('commit')
        return result
      } catch (error) {
        rollBack(db)
        throw error
      }
    },
    aggregate: <State>(
      name: string,
      start: () => State,
      step: (state: State, cells: Row) => void,
      result: (state: State) => Uint8Array,
    ) => {
      // node:sqlite passes the state through untouched; its types allow only SQL values
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      db.aggregate(name, {
        varargs: true,
        start,
        step: (state: State, ...cells: Cell[]) => {
          try {
            step(state, cells)
          } catch (error) {
            thrown = { error }
            throw error
          }
          return state
        },
        result,
      } as never)
    },
    [Symbol.dispose]: () => {
      kept.clear()
      // finalises the statements too
      db.close()
    },
  }
}

/** SQLite itself has already rolled back after some errors (a full disk, for one). */
function rollBack(db: DatabaseSync): void {
  if (db.isTransaction) db.exec('rollback')
}
