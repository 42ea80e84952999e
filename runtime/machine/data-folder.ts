import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { codeOf, MustAct } from '../exit.ts'
import { writePrivateFile } from '../private-file.ts'

const mebibyte = 2 ** 20

/** With less space the engines would stop half-way. */
export const leastRoomBytes = 256 * mebibyte

export const mebibytes = (bytes: number): number => Math.floor(bytes / mebibyte)

/** The free space of its file system, for a user other than root. */
export function roomBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/**
 * Locks a data folder for this process, until it is disposed or the process dies: the operating
 * system holds the lock, through an SQLite file, so there is never a stale one.
 * @throws MustAct if another process has it, it cannot be used, or the disk is full
 */
export function openDataFolder(folder: string, { needsBytes = leastRoomBytes } = {}): Disposable {
  try {
    const isOurs = makeFolder(folder)
    chmodSync(folder, 0o700)
    refuseTooLittleRoom(folder, needsBytes)
    const lock = takeLock(folder)
    try {
      writePrivateFile(join(folder, 'up.pid'), `${process.pid}\n`)
    } catch (error) {
      lock.close()
      throw error
    }
    return {
      [Symbol.dispose]: () => {
        rmSync(join(folder, 'up.pid'), { force: true })
        lock.close()
        if (isOurs) removeUnused(folder)
      },
    }
  } catch (cause) {
    if (cause instanceof MustAct) throw cause
    throw new MustAct(`${faultInWords(folder, cause)}, or choose another folder with --data`, {
      cause,
    })
  }
}

/** A failed start removes the folder that it made, unless anything else is in it. */
function removeUnused(folder: string): void {
  if (readdirSync(folder).some((name) => !name.startsWith('up.lock'))) return
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Makes one folder at a time: with `recursive`, Node never returns if the file system accepts no
 * folder and reports a missing parent, as /proc does.
 * @returns whether it made the folder
 */
function makeFolder(folder: string): boolean {
  const existing = statOf(folder)
  if (existing?.isDirectory()) return false
  if (existing)
    throw new MustAct(`${folder} is a file: move it away, or choose another folder with --data`)
  const parent = dirname(folder)
  if (parent !== folder) makeFolder(parent)
  mkdirSync(folder, { mode: 0o700 })
  return true
}

/** Undefined if nothing is there; its parent is checked next. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

function takeLock(folder: string): DatabaseSync {
  const lock = new DatabaseSync(join(folder, 'up.lock'))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return lock
  } catch (cause) {
    lock.close()
    if (!isBusy(cause)) throw cause
    const holder = readHolder(join(folder, 'up.pid'))
    throw new MustAct(
      `another airproof${holder} is up on ${folder}: stop it, or choose another folder with --data`,
      { cause },
    )
  }
}

/** SQLITE_BUSY, the low byte of the code: another process has the lock. */
const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  'errcode' in error &&
  typeof error.errcode === 'number' &&
  error.errcode % 256 === 5

function faultInWords(folder: string, error: unknown): string {
  const cause = error instanceof Error ? error.message : String(error)
  switch (codeOf(error)) {
    case 'EPERM':
    case 'EACCES':
    case 'EROFS':
    case 'ERR_SQLITE_ERROR':
      return `not allowed to write into ${folder} (${cause}): make sure that it belongs to you and is neither read-only nor immutable`
    case 'ENOENT':
      return `no folder can be made at ${folder}, as its file system does not accept one (${cause}): make one elsewhere`
    case 'EEXIST':
      return `${folder} is a link to a missing target: remove it`
    default:
      return `${folder} cannot be used (${cause}): check what is there`
  }
}

function refuseTooLittleRoom(folder: string, needsBytes: number): void {
  const roomBytes = roomBytesOf(folder)
  if (roomBytes < needsBytes)
    throw new MustAct(
      `${folder} has too little room (${mebibytes(roomBytes)} MiB left, needs ${mebibytes(needsBytes)}): make room, or choose another folder with --data`,
    )
}

function readHolder(pidFile: string): string {
  try {
    return ` (process ${readFileSync(pidFile, 'utf8').trim()})`
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    throw error
  }
}
