/**
 * How every file of the archive comes into being: written aside, synced, then renamed into place. A
 * process that dies before the rename leaves a file in `aside/`, which the next one removes; after it,
 * a whole file that no catalogue lists, which the next one writes again with the same bytes.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runOfPath } from './archive-layout.ts'
import type { ListedFile } from './catalogue.ts'

const aside = '.aside'

/** @returns what `write` returns, once the file is there for good */
export async function putFile<T>(
  folder: string,
  path: string,
  write: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const target = join(folder, path)
  const temporary = join(folder, aside, path.replaceAll('/', '_'))
  await mkdir(dirname(temporary), { recursive: true })
  await mkdir(dirname(target), { recursive: true })
  let written: T
  try {
    await using file = await open(temporary, 'w', 0o644)
    written = await write(file)
    await file.sync()
  } catch (error) {
    // a full disk must not keep what did not fit
    await rm(temporary, { force: true })
    throw error
  }
  await rename(temporary, target)
  await syncFolder(dirname(target))
  return written
}

export async function putText(
  folder: string,
  path: string,
  text: string,
): Promise<Omit<ListedFile, 'rows'>> {
  const bytes = Buffer.from(text)
  await putFile(folder, path, (file) => file.writeFile(bytes))
  return { path, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder)
  await handle.sync()
}

/** Removes what a run that did not end has left: no catalogue lists it. @param run the last that is listed */
export async function removeLeftovers(folder: string, run: number): Promise<void> {
  await rm(join(folder, aside), { recursive: true, force: true })
  for (const tree of ['readings', 'hashes'])
    for (const name of await namesIn(join(folder, tree))) {
      const path = `${tree}/${name.replaceAll('\\', '/')}`
      if ((runOfPath(path) ?? 0) > run) await rm(join(folder, path), { force: true })
    }
}

const namesIn = async (folder: string): Promise<readonly string[]> =>
  await readdir(folder, { recursive: true }).catch(() => [])
