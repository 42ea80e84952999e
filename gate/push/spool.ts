/**
 * Readings of firmware that stores nothing itself, on our own disk while NATS does not take them.
 *
 * A folder of segments, each named after the millisecond it was begun in; a segment is appended to,
 * then read from its start, then deleted. Killed
 * - in the middle of an append: the torn last line was never acknowledged, and is skipped;
 * - between NATS's acknowledgement and the deletion: the segment is sent again, and since each line
 *   holds its reading's time, what came before is a duplicate that changes nothing.
 */
import { closeSync, mkdirSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { type FileHandle, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseSpoolLine, spoolLine, type Waiting } from './spool-line.ts'

export type Spool = AsyncDisposable & {
  /** Durable when it resolves with true; false: there is no room. @throws what the disk says */
  readonly append: (waiting: Waiting) => Promise<boolean>
  /** The oldest segment, undefined: nothing waits. It takes no more lines from now on. */
  readonly oldest: () => Promise<Segment | undefined>
  /** All of it is stored elsewhere. */
  readonly remove: (segment: Segment) => Promise<void>
  readonly bytes: () => number
  /** When the oldest segment was begun, ms since the epoch; undefined: nothing waits. */
  readonly sinceMs: () => number | undefined
  /** Called whenever something was appended. */
  readonly onAppend: (listener: () => void) => void
}

export type Segment = {
  readonly name: string
  readonly waiting: readonly Waiting[]
  /** Lines that a crash or the disk has damaged. */
  readonly damaged: number
}

type Options = {
  /** Created if absent; locked by one process at a time. */
  readonly folder: string
  readonly maxBytes: number
  readonly nowMs?: () => number
  /** A segment of this size is followed by another. */
  readonly segmentBytes?: number
}

type Append = PromiseWithResolvers<boolean> & { readonly line: string }
type Active = { readonly name: string; readonly file: FileHandle; bytes: number }

/** @returns undefined where another process has the folder @throws NewerFormat */
export async function openSpool({
  folder,
  maxBytes,
  nowMs = Date.now,
  segmentBytes = 1024 * 1024,
}: Options): Promise<Spool | undefined> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock = takeLock(folder)
  if (lock === undefined) return undefined
  const sizes = new Map<string, number>(
    readdirSync(folder)
      .filter((name) => segmentName.test(name))
      .toSorted()
      .map((name) => [name, statSync(join(folder, name)).size]),
  )
  for (const name of sizes.keys()) assertKnownSegment(join(folder, name))
  const listeners: (() => void)[] = []
  let appends: Append[] = []
  let appendingBytes = 0
  let active: Active | undefined
  // writes and seals take turns, so that no line ends up in a segment that is being read
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work)
    turn = done.catch(() => undefined)
    return done
  }
  const bytes = (): number => sizes.values().reduce((sum, size) => sum + size, 0)

  const begin = async (): Promise<Active> => {
    const last = [...sizes.keys()].at(-1)
    const number = Math.max(nowMs(), last === undefined ? 0 : Number.parseInt(last, 10) + 1)
    const name = `${String(number).padStart(15, '0')}.log`
    const file = await open(join(folder, name), 'ax', 0o600)
    sizes.set(name, 0)
    active = { name, file, bytes: 0 }
    await syncFolder(folder)
    return active
  }
  const seal = async (): Promise<void> => {
    const sealed = active
    active = undefined
    await sealed?.file.close()
  }
  /**
   * After a failed write: what it wrote is cut off, and the segment takes no more. A segment
   * that holds nothing else is deleted, or a full disk would be left with a file for each push.
   */
  const leave = async ({ name, file, bytes: sound }: Active): Promise<void> => {
    try {
      await file.truncate(sound)
    } finally {
      await seal()
    }
    if (sound === 0) await removeSegment(name)
  }
  const removeSegment = async (name: string): Promise<void> => {
    await unlink(join(folder, name))
    sizes.delete(name)
  }
  /** All lines that wait to be written share one write and one sync. */
  const write = async (): Promise<void> => {
    const group = appends
    if (group.length === 0) return
    appends = []
    appendingBytes = 0
    try {
      const segment = active ?? (await begin())
      const lines = Buffer.from(group.map(({ line }) => line).join(''))
      await segment.file.writeFile(lines)
      await segment.file.datasync()
      segment.bytes += lines.length
      sizes.set(segment.name, segment.bytes)
      if (segment.bytes >= segmentBytes) await seal()
    } catch (error) {
      if (active !== undefined) await leave(active).catch(() => undefined)
      for (const append of group) append.reject(error)
      return
    }
    for (const append of group) append.resolve(true)
    for (const listener of listeners) listener()
  }

  return {
    bytes,
    sinceMs: () => {
      const [first] = sizes.keys()
      return first === undefined ? undefined : Number.parseInt(first, 10)
    },
    onAppend: (listener) => void listeners.push(listener),
    append(waiting) {
      const line = spoolLine(waiting)
      const length = Buffer.byteLength(line)
      if (bytes() + appendingBytes + length > maxBytes) return Promise.resolve(false)
      const append = { line, ...Promise.withResolvers<boolean>() }
      appends.push(append)
      appendingBytes += length
      void inTurn(write)
      return append.promise
    },
    oldest: () =>
      inTurn(async () => {
        const [name] = sizes.keys()
        if (name === undefined) return undefined
        if (name === active?.name) await seal()
        return readSegment(folder, name)
      }),
    remove: ({ name }) => removeSegment(name),
    [Symbol.asyncDispose]: async () => {
      await inTurn(write)
      await inTurn(seal)
      lock.close()
    },
  }
}

const segmentName = /^\d{15}\.log$/

async function readSegment(folder: string, name: string): Promise<Segment> {
  const lines = (await readFile(join(folder, name), 'utf8')).split('\n').filter(Boolean)
  const waiting = lines.flatMap((line) => parseSpoolLine(line) ?? [])
  return { name, waiting, damaged: lines.length - waiting.length }
}

/** By its first line. @throws NewerFormat before anything is written */
function assertKnownSegment(file: string): void {
  const descriptor = openSync(file, 'r')
  try {
    const head = Buffer.alloc(16)
    parseSpoolLine(head.toString('utf8', 0, readSync(descriptor, head)))
  } finally {
    closeSync(descriptor)
  }
}

/** A new file is there after a power failure only when its folder was synced too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * A lock of the operating system, through an SQLite file: a process that dies releases it.
 * @returns undefined where another process has it
 */
function takeLock(folder: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(join(folder, 'lock'))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

/** SQLITE_BUSY, the low byte of the code. */
const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  'errcode' in error &&
  typeof error.errcode === 'number' &&
  error.errcode % 256 === 5
