/** What an API may serve of an archive: the files that its catalogue lists, and nothing else of the folder. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { catalogueFile } from '../../operate/archive/archive-layout.ts'
import { filesOf, parseCatalogue } from '../../operate/archive/catalogue.ts'
import { codeOf } from '../../runtime/exit.ts'

export type ServedFile = {
  readonly file: string
  readonly bytes: number
  readonly sha256: string
  /** It never changes under its name. */
  readonly isFixed: boolean
}

export type ArchiveFiles = {
  /** undefined: the archive has no such file. */
  readonly find: (path: string) => Promise<ServedFile | undefined>
  /** Of a file, undefined: it is not there. */
  readonly sizeOf: (file: string) => Promise<number | undefined>
}

export function openArchiveFiles(folder: string): ArchiveFiles {
  let known = ''
  let files: ReadonlyMap<string, ServedFile> = new Map()

  /** The catalogue is replaced by a rename, so that its inode or its time is another one. */
  const current = async (): Promise<typeof files> => {
    const file = join(folder, catalogueFile)
    const found = await statOf(file)
    const version = found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`
    if (version === known) return files
    files = found === undefined ? new Map() : listed(folder, await readFile(file, 'utf8'))
    known = version
    return files
  }
  return {
    find: async (path) => (await current()).get(path),
    sizeOf: async (file) => (await statOf(file))?.size,
  }
}

function listed(folder: string, text: string): ReadonlyMap<string, ServedFile> {
  const catalogue = parseCatalogue(text)
  if (catalogue === undefined) return new Map()
  const changing = new Set(catalogue.tables.map(({ path }) => path))
  return new Map(
    filesOf(catalogue).map(({ path, bytes, sha256 }) => [
      path,
      { file: join(folder, path), bytes, sha256, isFixed: !changing.has(path) },
    ]),
  )
}

async function statOf(file: string) {
  try {
    const found = await stat(file)
    return found.isFile() ? found : undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}
