import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../exit.ts'

const waitMs = 500

/**
 * Runs `work` in one process of the machine at a time; the others wait for it. A lock whose
 * holder was killed is taken over; two processes that take it over at the same instant may both get
 * it, so it saves work but does not guarantee exclusion.
 * @param file holds the pid of the process at work
 */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  while (!(await take(file))) {
    if (await isAbandoned(file)) await rm(file, { force: true })
    else await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
  try {
    return await work()
  } finally {
    await rm(file, { force: true })
  }
}

async function take(file: string): Promise<boolean> {
  // linked into place with the pid in it: no process sees a lock without a holder
  const aside = `${file}.${randomBytes(4).toString('hex')}`
  await writeFile(aside, String(process.pid), { mode: 0o600 })
  try {
    await link(aside, file)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(aside, { force: true })
  }
}

async function isAbandoned(file: string): Promise<boolean> {
  try {
    process.kill(Number(await readFile(file, 'utf8')), 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}
