import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { TryAgain } from '../runtime/exit.ts'

/**
 * One writer of the folder at a time: the lease alone would not hold back a process that was suspended.
 * The operating system holds the lock, and frees it when the process dies.
 * @throws TryAgain another one is at work
 */
export async function withFolderLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  mkdirSync(folder, { recursive: true })
  const lock = new DatabaseSync(join(folder, '.lock'), { timeout: 0 })
  try {
    try {
      lock.exec('BEGIN EXCLUSIVE')
    } catch (cause) {
      throw new TryAgain(`another process writes to the archive in ${folder}`, { cause })
    }
    return await work()
  } finally {
    lock.close()
  }
}
