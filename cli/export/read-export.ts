import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ExportManifest } from './export-manifest.ts'
import { type ExportedRow, headOf, parseRowLine } from './row-line.ts'

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
  let head = headOf(format).trimEnd()
  return {
    rows: (async function* () {
      // no sooner: what flows before somebody reads the lines is lost to them
      stream.on('data', (chunk) => void digest.update(chunk))
      for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
        if (head === '') yield parseRowLine(line, format)
        else if (line !== head) yield undefined
        head = ''
      }
    })(),
    sha256: () => digest.digest('hex'),
  }
}
