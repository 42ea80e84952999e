/** The files of a backup: written with their hashes, and held against them before anything is restored. */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { MustAct } from '../../runtime/exit.ts'
import type { ChunkSink } from '../../runtime/nats/streams/stream-copy.ts'
import { writePrivateFile } from '../../runtime/private-file.ts'
import { type BackupFile, type Manifest, manifestFile, unfinishedFile } from './manifest.ts'

export type BackupFolder = {
  /** A file that is written piece by piece. @param path with slashes, relative to the folder */
  readonly put: (path: string, write: (sink: ChunkSink) => Promise<void>) => Promise<void>
  /** Where another program writes the file; `take` lists it afterwards. */
  readonly placeOf: (path: string) => string
  readonly take: (path: string) => Promise<void>
  /** Gives the room back. The folder stays marked as one of a backup that is not finished. */
  readonly discard: () => void
  /** Ends the backup. */
  readonly finish: (manifest: Omit<Manifest, 'files'>) => Manifest
}

/**
 * @param onBytes receives how many more bytes are written
 * @throws MustAct something else is in the folder, or a finished backup
 */
export function openBackupFolder(
  folder: string,
  note: (line: string) => void,
  onBytes: (bytes: number) => void,
): BackupFolder {
  makeEmpty(folder, note)
  const files = new Map<string, BackupFile>()
  const placeOf = (path: string): string => {
    const place = join(folder, path)
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
    return place
  }
  const put: BackupFolder['put'] = async (path, write) => {
    await using file = await open(placeOf(path), 'w', 0o600)
    // copied before, and again now
    onBytes(-(files.get(path)?.bytes ?? 0))
    let [bytes, hash] = [0, createHash('sha256')]
    await write({
      reset: async () => {
        await file.truncate(0)
        onBytes(-bytes)
        ;[bytes, hash] = [0, createHash('sha256')]
      },
      write: async (chunk) => {
        await file.write(chunk, 0, chunk.length, bytes)
        hash.update(chunk)
        bytes += chunk.length
        onBytes(chunk.length)
      },
    })
    await file.sync()
    files.set(path, { path, bytes, sha256: hash.digest('hex') })
  }
  return {
    put,
    placeOf,
    take: async (path) => {
      const { bytes, sha256 } = await hashOf(join(folder, path))
      onBytes(bytes)
      files.set(path, { path, bytes, sha256 })
    },
    discard: () => removeParts(folder),
    finish: (manifest) => {
      const whole: Manifest = { ...manifest, files: [...files.values()] }
      writePrivateFile(join(folder, manifestFile), `${JSON.stringify(whole, null, 1)}\n`)
      rmSync(join(folder, unfinishedFile))
      return whole
    },
  }
}

/** One within the other would be copied into the next backup, or be lost with an old one. @throws MustAct */
export function refuseNested(backup: string, dataFolder: string): void {
  const [a, b] = [resolve(backup) + sep, resolve(dataFolder) + sep]
  if (a.startsWith(b) || b.startsWith(a))
    throw new MustAct(
      `${backup} and the data folder ${dataFolder} are one within the other: name a folder outside, on another disk if you can`,
    )
}

/** A backup that was interrupted is removed: its parts are of another moment. */
function makeEmpty(folder: string, note: (line: string) => void): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const names = readdirSync(folder)
  if (names.includes(manifestFile))
    throw new MustAct(`${folder} holds a finished backup already: name another folder`)
  if (names.length > 0 && !names.includes(unfinishedFile))
    throw new MustAct(`${folder} is not empty: name another folder, or one that does not exist yet`)
  if (names.length > 0) {
    note(`the backup in ${folder} was interrupted: it is removed, and begins again`)
    removeParts(folder)
  }
  writePrivateFile(join(folder, unfinishedFile), '')
}

/** The mark stays: killed here, the rest is still known as ours. */
function removeParts(folder: string): void {
  for (const name of readdirSync(folder))
    if (name !== unfinishedFile) rmSync(join(folder, name), { recursive: true })
}

async function hashOf(file: string): Promise<Pick<BackupFile, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: 2 ** 20 })) hash.update(chunk)
  return { bytes: (await stat(file)).size, sha256: hash.digest('hex') }
}

/** @throws MustAct a file is missing, or is not the one that was written */
export async function checkFiles(
  folder: string,
  { files }: Pick<Manifest, 'files'>,
  onBytes: (bytes: number) => void,
): Promise<void> {
  for (const { path, bytes, sha256 } of files) {
    const file = join(folder, path)
    const fault = existsSync(file)
      ? (await hashOf(file)).sha256 === sha256
        ? undefined
        : 'was changed or damaged'
      : 'is missing'
    if (fault !== undefined)
      throw new MustAct(
        `${path} of the backup in ${folder} ${fault}: nothing was restored. Restore another backup`,
      )
    onBytes(bytes)
  }
}
