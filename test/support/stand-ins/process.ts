/**
 * A tiny process for the supervisor's tests: it responds on its admin port, writes `start` and
 * `stop` with its name into a given file, and exits with a given code, if any.
 * Usage: process.ts NAME JOURNAL [EXIT_CODE]
 */
import { appendFileSync } from 'node:fs'
import { openMetrics } from '../../../runtime/metrics.ts'
import { openAdmin } from '../../../runtime/process/admin.ts'
import { environment, readSharedConfig } from '../../../runtime/process/config.ts'
import { stopped, stopSignal } from '../../../runtime/process/stop-signal.ts'

const [name = '', journal = '', exitCode] = process.argv.slice(2)
const { admin } = readSharedConfig({ env: environment(), flags: {} })
const stop = stopSignal()
appendFileSync(journal, `start ${name} ${process.pid}\n`)
if (exitCode !== undefined) {
  console.error(`${name} has no reason to live`)
  process.exit(Number(exitCode))
}
await using _admin = await openAdmin({ ...admin, ready: [], metrics: openMetrics(name) })
// the admin server keeps the process alive
await stopped(stop)
appendFileSync(journal, `stop ${name} ${String(stop.reason)}\n`)
