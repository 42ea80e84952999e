/**
 * Which of our processes run on a data folder: one file each in `processes/`, written when its admin
 * port is open and removed when it exits. A killed process leaves its file; the next process of that
 * name removes it.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../exit.ts'
import type { Logger } from '../log.ts'
import { writePrivateFile } from '../private-file.ts'

export type ListedProcess = {
  readonly name: string
  readonly pid: number
  /** The URL of its admin port. */
  readonly admin: string
}

const folderIn = (dataFolder: string): string => join(dataFolder, 'processes')

/** If the folder cannot be written, the process works all the same, but is not listed. */
export function enterProcess(dataFolder: string, entry: ListedProcess, log: Logger): Disposable {
  const file = join(folderIn(dataFolder), `${entry.name}-${entry.pid}.json`)
  try {
    mkdirSync(folderIn(dataFolder), { recursive: true, mode: 0o700 })
    for (const { name, pid } of listProcesses(dataFolder))
      if (name === entry.name && !isRunning(pid))
        rmSync(join(folderIn(dataFolder), `${name}-${pid}.json`), { force: true })
    writePrivateFile(file, `${JSON.stringify(entry)}\n`)
    return { [Symbol.dispose]: () => rmSync(file, { force: true }) }
  } catch (error) {
    log.debug({ err: error }, 'this process is not listed in its data folder')
    return { [Symbol.dispose]: () => undefined }
  }
}

export function listProcesses(dataFolder: string): readonly ListedProcess[] {
  return namesIn(folderIn(dataFolder)).flatMap((name) => {
    const entry = readEntry(join(folderIn(dataFolder), name))
    return entry === undefined ? [] : [entry]
  })
}

/** Whether a process has this pid now; it may be another than the one that was listed. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return []
    throw error
  }
}

/** Undefined if it is already gone, or is not one of ours. */
function readEntry(file: string): ListedProcess | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isEntry(value) ? value : undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

const isEntry = (value: unknown): value is ListedProcess =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'pid' in value &&
  typeof value.pid === 'number' &&
  'admin' in value &&
  typeof value.admin === 'string'
