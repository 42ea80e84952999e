/** The two engines as `growth.ts` needs them: what they use, and how they start again. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '../store/sqlite/sqlite.ts'
import type { Store } from '../store/store.ts'
import { testInflux } from '../test/support/influx.ts'
import { temporaryFolder } from '../test/support/temporary-folder.ts'

export type GrowthEngine = AsyncDisposable & {
  readonly open: () => Promise<Store>
  /** While no store is open. */
  readonly restart: () => Promise<void>
  /**
   * Copies the readings in [from, to) to a later time, in the order of their time, as the pipeline would write
   * them; absent: the engine cannot.
   */
  readonly copy?: (fromMs: number, toMs: number, laterMs: number, laterSeq: number) => void
  readonly serverCpuMs: () => number
  readonly bytes: () => number
  readonly logBytes: () => number
}

/** Of the files below a folder whose path has `part` in it. */
function bytesIn(folder: string, part = ''): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    // the server deletes files meanwhile
    if (entry.isFile() && path.includes(part))
      bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0
  }
  return bytes
}

// oxlint-disable-next-line require-await -- one signature for both engines
export async function openSqliteEngine(): Promise<GrowthEngine> {
  const folder = temporaryFolder()
  const file = join(folder.path, 'readings.sqlite')
  return {
    open: async () => openSqliteStore({ file }),
    copy: (fromMs, toMs, laterMs, laterSeq) => {
      using db = new DatabaseSync(file, { timeout: 60_000 })
      // a lost copy is no loss
      db.exec('pragma synchronous = off; pragma cache_size = -262144')
      const columns = db.prepare('select name from pragma_table_info(?)').all('reading')
      const names = columns.map(({ name }) => String(name))
      const later = names.map((name) =>
        name === 't' ? 't + ?' : name === 'seq' ? 'seq + ?' : name,
      )
      const inOrder = names.flatMap((name) =>
        name === 't' ? [laterMs] : name === 'seq' ? [laterSeq] : [],
      )
      db.prepare(
        `insert or ignore into reading(${names.join(', ')}) select ${later.join(', ')}
        from reading indexed by reading_t where t >= ? and t < ? order by t`,
      ).run(...inOrder, fromMs, toMs)
    },
    restart: async () => undefined,
    serverCpuMs: () => 0,
    bytes: () => bytesIn(folder.path),
    logBytes: () => bytesIn(folder.path, '-wal'),
    [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
  }
}

export async function openInfluxEngine(): Promise<GrowthEngine> {
  const influx = await testInflux()
  const { open } = await influx.newBucket()
  let cpuBefore = 0
  const cpuMs = (): number => {
    const fields =
      readFileSync(`/proc/${influx.pid()}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    // user and system, in hundredths of a second
    return (Number(fields[11]) + Number(fields[12])) * 10
  }
  return {
    open: async () => open(),
    restart: async () => {
      cpuBefore += cpuMs()
      await influx.kill()
      await influx.restart()
    },
    serverCpuMs: () => cpuBefore + cpuMs(),
    bytes: () => bytesIn(join(influx.folder, 'engine')),
    logBytes: () => bytesIn(join(influx.folder, 'engine', 'wal')),
    [Symbol.asyncDispose]: async () => influx[Symbol.asyncDispose](),
  }
}
