/**
 * A thread that owns one connection to the file and answers one call after the other. It opens
 * the file at the first call, and again at the next one if that failed: a disk that was full or
 * a file that did not exist yet needs no restart.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { givenUp } from '../store.ts'
import {
  type Answer,
  isGivenUp,
  type Notice,
  type Request,
  type SqliteCalls,
  type WorkerData,
} from './calls.ts'
import { sqliteDeletes } from './delete.ts'
import { faultOf } from './fault.ts'
import { feedRows } from './feed-rows.ts'
import { openSqliteFile, type SqliteFile } from './file.ts'
import { sqliteListings } from './listings.ts'
import { sqliteReads } from './read.ts'
import { sqliteStats } from './stats.ts'
import { sqliteSteps } from './step-stats.ts'
import { sqliteWrites } from './write.ts'

const port = parentPort
if (port === null) throw new Error('store/sqlite/worker.ts must be run as a worker thread')
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- lane.ts sets it
const { file, readOnly, givenUp: dropped } = workerData as WorkerData

let current = 0
/** @throws StoreUnavailable if the caller of the call under way has given up */
function mustBeWanted(): void {
  if (isGivenUp(dropped, current)) throw givenUp()
}

let opened: { readonly db: SqliteFile; readonly calls: SqliteCalls } | undefined

function open(): SqliteCalls {
  if (opened !== undefined) return opened.calls
  const db = openSqliteFile(file, readOnly, (notice) =>
    port?.postMessage({ notice } satisfies Notice),
  )
  const ping = (): void => {
    db.all('select count(*) from sqlite_schema')
  }
  const rows = feedRows(db, mustBeWanted)
  const calls = {
    ...sqliteReads(db),
    ...sqliteStats(db, rows),
    ...sqliteSteps(db, rows),
    ...sqliteWrites(db),
    ...sqliteDeletes(db),
    ...sqliteListings(db),
    ping,
  }
  opened = { db, calls }
  return calls
}

function answer(request: Request): Answer {
  const { id } = request
  current = id
  try {
    mustBeWanted()
    return { id, ok: true, value: perform(open(), request) }
  } catch (error) {
    return { id, ok: false, fault: faultOf(error, file) }
  }
}

function perform(calls: SqliteCalls, request: Request): ReturnType<SqliteCalls[Request['name']]> {
  switch (request.name) {
    case 'writeBatch':
      return calls.writeBatch(...request.args)
    case 'existing':
      return calls.existing(...request.args)
    case 'range':
      return calls.range(...request.args)
    case 'rangeAll':
      return calls.rangeAll(...request.args)
    case 'seedLatest':
      return calls.seedLatest()
    case 'signature':
      return calls.signature(...request.args)
    case 'computeBuckets':
      return calls.computeBuckets(...request.args)
    case 'computeOverall':
      return calls.computeOverall(...request.args)
    case 'computeHourValues':
      return calls.computeHourValues(...request.args)
    case 'writeHourValues':
      return calls.writeHourValues(...request.args)
    case 'rollups':
      return calls.rollups(...request.args)
    case 'writeRollups':
      return calls.writeRollups(...request.args)
    case 'names':
      return calls.names()
    case 'computeSensors':
      return calls.computeSensors(...request.args)
    case 'writeSensors':
      return calls.writeSensors(...request.args)
    case 'statistics':
      return calls.statistics(...request.args)
    case 'deleteReadings':
      return calls.deleteReadings(...request.args)
    case 'unusedBytes':
      return calls.unusedBytes()
    case 'listedSensors':
      return calls.listedSensors()
    case 'writeListings':
      return calls.writeListings(...request.args)
    case 'ping':
      return calls.ping()
  }
}

port.on('message', (request: Request | 'close') => {
  if (request === 'close') {
    opened?.db[Symbol.dispose]()
    port.close()
    return
  }
  const reply = answer(request)
  const value = reply.ok ? reply.value : undefined
  port.postMessage(reply, typeof value === 'object' && 'cells' in value ? [value.cells.buffer] : [])
})
