import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, MustAct } from '../../runtime/exit.ts'
import { catalogueFile } from './archive-layout.ts'
import { type Catalogue, parseCatalogue } from './catalogue.ts'

/** undefined: there is no archive in the folder yet. @throws MustAct if its catalogue cannot be read */
export async function readCatalogue(folder: string): Promise<Catalogue | undefined> {
  let text: string
  try {
    text = await readFile(join(folder, catalogueFile), 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  const catalogue = parseCatalogue(text)
  if (catalogue !== undefined) return catalogue
  throw new MustAct(
    `${join(folder, catalogueFile)} is not the catalogue of an archive: restore it, or move the folder away and a new archive is begun`,
  )
}
