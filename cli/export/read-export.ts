import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ExportManifest } from '../../operate/exports/export-manifest.ts'
import { columnOf } from './corrected-columns.ts'
import { rowParser } from './parse-row.ts'
import type { ExportedRow } from './row-line.ts'

export type ReadExport = {
  /** For each line its row, or as a sentence why there is none. */
  readonly rows: AsyncIterable<ExportedRow | string>
  /** Of the file's bytes, hex; once all rows were read. */
  readonly sha256: () => string
}

/** The rows beside a manifest. @throws where the file cannot be read */
export async function readExport(
  manifestFile: string,
  manifest: ExportManifest,
): Promise<ReadExport> {
  const { file, format, corrections = [] } = manifest.rows
  const corrected = corrections.map(columnOf)
  const stream = createReadStream(join(dirname(manifestFile), file))
  await once(stream, 'open')
  const digest = createHash('sha256')
  const bytes = async function* () {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      digest.update(chunk)
      yield chunk
    }
  }
  return {
    rows: (async function* () {
      let parse = format === 'ndjson' ? rowParser(format, '', corrected) : undefined
      for await (const line of linesOf(bytes())) {
        if (parse === undefined) parse = rowParser(format, line, corrected)
        else yield parse(line)
      }
    })(),
    sha256: () => digest.digest('hex'),
  }
}

/** Node's own reader of lines ends one at U+2028 too, which the name of an area may hold. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield line.replace(/\r$/, '')
  }
  if (rest !== '') yield rest
}
