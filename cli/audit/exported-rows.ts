import { readFileSync } from 'node:fs'
import type { AuditedRow } from '../../anchor/audit/leaves.ts'
import { type ExportManifest, parseManifest } from '../../operate/exports/export-manifest.ts'
import { MustAct } from '../../runtime/exit.ts'
import { readExport } from '../export/read-export.ts'

/** @throws MustAct where the file is not the manifest of an export */
export function needManifest(file: string): ExportManifest {
  const manifest = parseManifest(readFileSync(file, 'utf8'))
  if (manifest !== undefined) return manifest
  throw new MustAct(`${file} is not the manifest of an export: \`airproof export\` makes one`)
}

const pageRows = 5_000

/** The rows of an export as the audit takes them. @throws MustAct */
export async function* exportedRows(file: string): AsyncGenerator<readonly AuditedRow[]> {
  const { rows } = await readExport(file, needManifest(file))
  let page: AuditedRow[] = []
  let count = 0
  for await (const row of rows) {
    count++
    if (typeof row === 'string')
      throw new MustAct(`row ${count} of the export ${file} cannot be read: ${row}`)
    page.push(row.reading)
    if (page.length < pageRows) continue
    yield page
    page = []
  }
  yield page
}
