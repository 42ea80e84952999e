import { createReadStream } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'
import { MustAct } from '../../runtime/exit.ts'
import {
  type ArchiveFormat,
  type ArchiveParser,
  type ArchiveReading,
  NotThisFormat,
  type RowCounts,
} from './archive-format.ts'

/** A line longer than this is not a row of any archive. */
const longestLine = 1024 * 1024

type ReadOptions = {
  readonly format: ArchiveFormat
  readonly counts: RowCounts
  /** Called for each line that cannot be sent. @param where the file and the line's number */
  readonly onUnsendable?: (where: string, why: string) => void
}

/**
 * The readings of one file, in chunks, in the order they were complete; counts grow as it is read.
 * Memory is bounded by a chunk and what the format holds open.
 * @throws MustAct that names the file where it is not of the format
 */
export async function* readArchive(
  file: string,
  { format, counts, onUnsendable }: ReadOptions,
): AsyncGenerator<readonly ArchiveReading[], void, undefined> {
  let ready: ArchiveReading[] = []
  let parser: ArchiveParser | undefined
  let lineNumber = 0
  const emit = (reading: ArchiveReading): void => void ready.push(reading)
  const unsendable = (why: string): void => onUnsendable?.(`${file}:${lineNumber}`, why)
  try {
    for await (const lines of readLines(file, format.encoding)) {
      for (const line of lines) {
        lineNumber += 1
        if (line === '') continue
        if (parser === undefined) parser = format.open(line, { counts, emit, unsendable })
        else parser.line(line)
      }
      if (ready.length > 0) yield ready
      ready = []
    }
  } catch (cause) {
    if (!(cause instanceof NotThisFormat)) throw cause
    throw new MustAct(`${file} is not of the format you named: ${cause.message}`, { cause })
  }
  parser?.end()
  if (ready.length > 0) yield ready
}

/** Lines without their ends (LF or CRLF) and without a byte order mark. */
async function* readLines(
  file: string,
  encoding: ArchiveFormat['encoding'],
): AsyncGenerator<readonly string[], void, undefined> {
  const bytes = createReadStream(file)
  const source = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  bytes.on('error', (error) => source.destroy(error))
  let rest = ''
  let isStart = true
  // Not TextDecoder: its latin1 is windows-1252, which does not keep every byte.
  const decoder = new StringDecoder(encoding)
  // Without an encoding a file stream gives bytes.
  for await (const chunk of source as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.write(chunk)).split('\n')
    if (isStart && lines.length > 1) {
      isStart = false
      lines[0] = withoutMark(lines[0] ?? '')
    }
    rest = lines.pop() ?? ''
    if (rest.length > longestLine)
      throw new NotThisFormat('it has a line of over a million letters')
    yield lines.map(withoutReturn)
  }
  const last = rest + decoder.end()
  yield [withoutReturn(isStart ? withoutMark(last) : last)]
}

/** The mark in either encoding. */
const withoutMark = (line: string): string => line.replace(/^(?:\uFEFF|\u00EF\u00BB\u00BF)/, '')

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)
