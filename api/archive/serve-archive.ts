/** The archive over HTTP, as any file server has it: ranges, tags, pages of other origins. */
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { catalogueFile, descriptionFiles } from '../../operate/archive/archive-layout.ts'
import { byteRange } from '../../runtime/http/byte-range.ts'
import type { ArchiveSettings } from '../config.ts'
import { type Answer, jsonType, type Route } from '../http/answer.ts'
import { ApiError } from '../http/api-error.ts'
import { type ArchiveFiles, openArchiveFiles, type ServedFile } from './archive-files.ts'

const parquetType = 'application/vnd.apache.parquet'
export const archivePrefix = '/archive/'

type Options = {
  readonly settings: ArchiveSettings
  /** How often a network may ask, where no key is needed. @throws ApiError 429 */
  readonly bound: (network: string) => void
}

export function serveArchive({ settings, bound }: Options): Route {
  const { folder, isOpen } = settings
  const files = openArchiveFiles(folder)
  return {
    path: `${archivePrefix}*path`,
    params: [],
    types: [parquetType, jsonType],
    isOpen,
    // not of the interface that the document describes: docs/archive.md does
    isPart: true,
    answer: async ({ names: { path = '' }, header, network }) => {
      if (isOpen) bound(network())
      if (path === catalogueFile || descriptionFiles.some((name) => name === path))
        return await smallFile(folder, path)
      const found = await files.find(path)
      if (found === undefined) throw noFile()
      return await largeFile(found, files, { header, isOpen })
    },
  }
}

const noFile = (): ApiError =>
  new ApiError(404, 'not_found', 'the archive has no such file: /archive/catalogue.json lists all')

/** The archive is not of the interface, so neither are these two. */
const refusal = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>>,
): Answer => ({
  type: jsonType,
  status,
  body: Buffer.from(JSON.stringify({ status: 'error', error: { code: 'archive', message } })),
  headers,
})

/** Its tag is made from its bytes, and it is compressed, as other answers. */
async function smallFile(folder: string, path: string): Promise<Answer> {
  const body = await readFile(join(folder, path)).catch(() => {
    throw new ApiError(404, 'not_found', 'there is no archive here yet')
  })
  return { type: jsonType, body }
}

type Asked = {
  readonly header: (name: string) => string | undefined
  readonly isOpen: boolean
}

async function largeFile(
  { file, bytes, sha256, isFixed }: ServedFile,
  { sizeOf }: ArchiveFiles,
  { header, isOpen }: Asked,
): Promise<Answer> {
  // another size than listed: it is being replaced, or damaged
  if ((await sizeOf(file)) !== bytes)
    return refusal(503, 'the file is being replaced: read the catalogue again', {
      'retry-after': '1',
    })
  const tag = `"${sha256}"`
  const ifRange = header('if-range')
  const isSame = ifRange === undefined || ifRange.trim() === tag
  const range = byteRange(isSame ? header('range') : undefined, bytes)
  if (range === 'outside')
    return refusal(416, `the file has ${bytes} bytes`, { 'content-range': `bytes */${bytes}` })
  const keeps = isOpen ? 'public' : 'private'
  const headers = {
    'accept-ranges': 'bytes',
    'cache-control': isFixed ? `${keeps}, max-age=31536000, immutable` : `${keeps}, no-cache`,
  }
  const { start, end } = range === 'whole' ? { start: 0, end: bytes - 1 } : range
  return {
    type: file.endsWith('.json') ? jsonType : parquetType,
    body: Buffer.alloc(0),
    tag,
    ...(range !== 'whole' && { status: 206 }),
    headers: {
      ...headers,
      'content-length': String(end - start + 1),
      ...(range !== 'whole' && { 'content-range': `bytes ${start}-${end}/${bytes}` }),
    },
    follow: (out) => sendBytes(file, { start, end }, out),
  }
}

/** A file that fails half-way ends the connection: the client has the length, and asks for the rest. */
function sendBytes(file: string, range: { start: number; end: number }, out: ServerResponse): void {
  if (range.end < range.start) {
    out.end()
    return
  }
  const stream = createReadStream(file, range)
  stream.on('error', () => out.destroy())
  out.on('close', () => stream.destroy())
  stream.pipe(out)
}
