import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, MustAct } from '../../runtime/exit.ts'

const archiveName = /\.(csv|ndjson|jsonl)(\.gz)?$/i

/**
 * The files named, and the archives in the folders named, by the ending of their names.
 * @throws MustAct where there is none
 */
export async function findFiles(paths: readonly string[]): Promise<readonly string[]> {
  const lists = await Promise.all(paths.map(filesAt))
  const files = [...new Set(lists.flat())]
  if (files.length === 0)
    throw new MustAct(
      `no file that ends in .csv, .ndjson or .jsonl (or .gz) in ${paths.join(', ')}`,
    )
  return files
}

async function filesAt(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const names = await readdir(path, { recursive: true })
    return names
      .filter((name) => archiveName.test(name))
      .toSorted()
      .map((name) => join(path, name))
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') throw new MustAct(`there is no ${path}`, { cause })
    throw cause
  }
}
