/** The two engines as `growth.ts` needs them: what they use, and how they start again. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore } from '../store/sqlite/sqlite.ts'
import type { Store } from '../store/store.ts'
import { testInflux } from '../test/support/influx.ts'
import { temporaryFolder } from '../test/support/temporary-folder.ts'

export type GrowthEngine = AsyncDisposable & {
  readonly open: () => Promise<Store>
  /** While no store is open. */
  readonly restart: () => Promise<void>
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
  return {
    open: async () => openSqliteStore({ file: join(folder.path, 'readings.sqlite') }),
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
