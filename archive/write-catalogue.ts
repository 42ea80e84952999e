/** The catalogue and what describes the same files to other programs; the catalogue last. */
import { catalogueFile } from '../operate/archive/archive-layout.ts'
import { type Catalogue, catalogueText } from '../operate/archive/catalogue.ts'
import { putText } from '../operate/archive/put-file.ts'
import { croissantText, dataPackageText, schemaTexts } from './descriptions.ts'

/** What the operator says of the data. */
export type About = Pick<Catalogue, 'title' | 'publisher' | 'licence'>

export async function writeCatalogue(folder: string, catalogue: Catalogue): Promise<void> {
  for (const [path, text] of schemaTexts) await putText(folder, path, text)
  await putText(folder, 'datapackage.json', dataPackageText(catalogue))
  await putText(folder, 'croissant.json', croissantText(catalogue))
  await putText(folder, catalogueFile, catalogueText(catalogue))
}
