import type { AuditedRow } from '../../anchor/audit/leaves.ts'
import { readRun } from '../../operate/archive/check-archive.ts'
import { rowsOf } from '../../operate/archive/check-archive-run.ts'
import { readCatalogue } from '../../operate/archive/read-catalogue.ts'
import { Refusal } from '../../operate/exports/check-run.ts'
import { MustAct } from '../../runtime/exit.ts'

const pageRows = 5_000

/** The rows of an archive, or of a mirror of one, as the audit takes them. @throws MustAct */
export async function* archivedRows(folder: string): AsyncGenerator<readonly AuditedRow[]> {
  const catalogue = await readCatalogue(folder)
  if (catalogue === undefined)
    throw new MustAct(`${folder} is not an archive: \`airproof mirror\` makes a copy of one`)
  let page: AuditedRow[] = []
  try {
    for (const listed of catalogue.runs) {
      const { files } = await readRun(folder, listed)
      for (const file of files) {
        for await (const { reading } of rowsOf(folder, file)) {
          page.push(reading)
          if (page.length < pageRows) continue
          yield page
          page = []
        }
      }
    }
  } catch (error) {
    if (error instanceof Refusal) throw new MustAct(error.message)
    throw error
  }
  yield page
}
