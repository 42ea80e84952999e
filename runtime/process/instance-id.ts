import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { codeOf } from '../exit.ts'
import { writePrivateFile } from '../private-file.ts'

export type Instance = {
  /** The same after every restart on this data folder: `[a-z]+-[0-9a-f]{12}`. */
  readonly id: string
  /** `id` and a number that no earlier start had. */
  readonly worker: string
}

/**
 * The identity of this process: after a restart it takes its own leases back, but can still
 * distinguish its writes from those of its previous run.
 * @param role distinguishes the processes of one data folder, for example `pipeline`
 */
export function openInstance(dataFolder: string, role: string): Instance {
  const folder = join(dataFolder, 'instances')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, role)
  return underLock(join(folder, 'lock'), () => {
    const [id = `${role}-${randomBytes(6).toString('hex')}`, starts = '0'] = readParts(file)
    const start = Number(starts) + 1
    writePrivateFile(file, `${id} ${start}\n`)
    return { id, worker: `${id}-${start}` }
  })
}

/** Another start takes milliseconds. */
const lockWaitMs = 10_000

/** One process at a time; the operating system holds the lock and frees it when the process dies. */
function underLock<T>(file: string, work: () => T): T {
  const lock = new DatabaseSync(file, { timeout: lockWaitMs })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return work()
  } finally {
    lock.close()
  }
}

/** Empty if the file is missing or not one of ours: the caller makes a new id. */
function readParts(file: string): string[] {
  try {
    return /^([a-z0-9-]+-[0-9a-f]{12}) (\d+)\n$/.exec(readFileSync(file, 'utf8'))?.slice(1) ?? []
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}
