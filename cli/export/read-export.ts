import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ExportManifest } from './export-manifest.ts'
import { type ExportedRow, rowParser } from './row-line.ts'

export type ReadExport = {
  /** undefined: a line that is no row. */
  readonly rows: AsyncIterable<ExportedRow | undefined>
  /** Of the file's bytes, hex; once all rows were read. */
  readonly sha256: () => string
}

/** The rows beside a manifest. @throws where the file cannot be read */
export async function readExport(
  manifestFile: string,
  manifest: ExportManifest,
): Promise<ReadExport> {
  const { file, format } = manifest.rows
  const stream = createReadStream(join(dirname(manifestFile), file))
  await once(stream, 'open')
  const digest = createHash('sha256')
  return {
    rows: (async function* () {
      // no sooner: what flows before somebody reads the lines is lost to them
      stream.on('data', (chunk) => void digest.update(chunk))
      let parse = format === 'ndjson' ? rowParser(format, '') : undefined
      for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
        if (parse === undefined) parse = rowParser(format, line)
        else yield parse(line)
      }
    })(),
    sha256: () => digest.digest('hex'),
  }
}
