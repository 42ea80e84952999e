/** A parquet file as a list of columns: what the archive writes, and reads again, strictly. */
import { type FileHandle, open } from 'node:fs/promises'
import { constants, zstdDecompressSync } from 'node:zlib'
import {
  type AsyncBuffer,
  type DecodedArray,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  type SchemaElement,
} from 'hyparquet'
import { refuse } from '../exports/check-run.ts'

export type Cell = string | number | boolean | Uint8Array | null

export type Column<Row> = {
  readonly name: string
  /** `time`: ms since the epoch, UTC; `count`: up to 2^53; `int`: 31 bits; `hash`: 32 bytes. */
  readonly kind: 'text' | 'time' | 'count' | 'int' | 'number' | 'flag' | 'hash'
  /** It is in every row. */
  readonly isNeeded?: true
  readonly of: (row: Row) => Cell
}

const elements: Readonly<Record<Column<unknown>['kind'], Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  count: { type: 'INT64' },
  int: { type: 'INT32' },
  number: { type: 'DOUBLE' },
  flag: { type: 'BOOLEAN' },
  hash: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 32 },
}

export const schemaOf = (columns: readonly Column<never>[]): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.map(
    ({ name, kind, isNeeded = false }): SchemaElement => ({
      name,
      repetition_type: isNeeded ? 'REQUIRED' : 'OPTIONAL',
      ...elements[kind],
    }),
  ),
]

/** Rows of a group, so what a reader holds at once: a hundred sensors' day at a minute. */
export const groupRows = 131_072
/** Of one page once it is unpacked: ours have a million bytes. */
const largestPage = 2 ** 27

/**
 * The rows of a file, whose bytes the caller has compared with their hash.
 * @param rows how many there must be
 * @throws Refusal where it is not a file of these columns
 */
export async function* readTable(
  file: string,
  { columns, rows, name }: Table,
): AsyncGenerator<{
  readonly count: number
  readonly cell: (column: number, row: number) => Cell
}> {
  await using handle = await open(file)
  const buffer = await bufferOf(handle)
  const { metadata, groups } = await metadataOf(buffer, { columns, rows, name })
  for (const { start, end } of groups) {
    const found = await parsed(name, () => readGroup(buffer, metadata, [start, end]))
    const arrays = columns.map(({ name: column }) => found.get(column) ?? [])
    if (arrays.some(({ length }) => length !== end - start))
      refuse(`${name} cannot be read as a parquet file: its columns have different lengths`)
    yield { count: end - start, cell: (column, row) => cellOf(arrays[column]?.[row]) }
  }
}

export async function bufferOf(handle: FileHandle): Promise<AsyncBuffer> {
  const { size } = await handle.stat()
  return {
    byteLength: size,
    slice: async (start, end = size) => {
      const bytes = new Uint8Array(Math.max(0, end - start))
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, start)
      return bytes.buffer.slice(0, bytesRead)
    },
  }
}

export type Table = {
  readonly columns: readonly Column<never>[]
  readonly rows: number
  readonly name: string
}
/** A group's rows. */
export type RowSpan = { readonly start: number; readonly end: number }

/** What a file says of itself, as ours do. @throws Refusal */
export async function metadataOf(buffer: AsyncBuffer, { columns, rows, name }: Table) {
  const metadata = await parsed(name, () => parquetMetadataAsync(buffer))
  checkSchema(metadata, columns, name)
  if (Number(metadata.num_rows) !== rows)
    refuse(`${name} has ${metadata.num_rows} rows, and the manifest counts ${rows}`)
  const groups: RowSpan[] = []
  let start = 0
  for (const group of metadata.row_groups) {
    const end = start + Number(group.num_rows)
    if (!(end > start) || end - start > groupRows || end > rows)
      refuse(`${name} has a group of ${group.num_rows} rows, which is not one of ours`)
    groups.push({ start, end })
    start = end
  }
  if (start !== rows) refuse(`${name} has groups of ${start} rows, and ${rows} in all`)
  return { metadata, groups }
}

async function readGroup(
  file: AsyncBuffer,
  metadata: FileMetaData,
  [rowStart, rowEnd]: readonly [number, number],
): Promise<ReadonlyMap<string, unknown[]>> {
  const found = new Map<string, unknown[]>()
  await parquetRead({
    file,
    metadata,
    rowStart,
    rowEnd,
    ...howToRead,
    onChunk: ({ columnName, columnData, rowStart: from }) => {
      const column = found.get(columnName) ?? []
      found.set(columnName, column)
      const data: DecodedArray = columnData
      for (let i = 0; i < data.length; i++) column[from - rowStart + i] = data[i]
    },
  })
  return found
}

/** For every read of a file of ours. */
export const howToRead = {
  compressors: { ZSTD: (bytes: Uint8Array, length: number) => unpack(bytes, length) },
  parsers: { timestampFromMilliseconds: Number },
}

const unpack = (bytes: Uint8Array, length: number): Uint8Array => {
  if (length > largestPage) throw new RangeError(`a page of ${length} bytes`)
  return zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, length) })
}

/** Level 3: level 9 takes twice the time for 4 % less. */
export const packing = { params: { [constants.ZSTD_c_compressionLevel]: 3 } } as const

function checkSchema(
  { schema }: FileMetaData,
  columns: readonly Column<never>[],
  name: string,
): void {
  const wanted = schemaOf(columns)
  const isSame =
    schema.length === wanted.length &&
    schema.every((element, at) => {
      const { name: called, type, repetition_type, type_length } = wanted[at] ?? { name: '' }
      const isRoot = at === 0
      return (
        isRoot ||
        (element.name === called &&
          element.type === type &&
          element.repetition_type === repetition_type &&
          element.type_length === type_length &&
          element.num_children === undefined)
      )
    })
  if (!isSame) refuse(`${name} does not have the columns that this airproof knows`)
}

function cellOf(value: unknown): Cell {
  if (typeof value === 'bigint') return Number(value)
  if (['string', 'number', 'boolean'].includes(typeof value) || value instanceof Uint8Array)
    // just looked at
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return value as Cell
  return null
}

/** Whatever a hostile file makes the parser do, it ends in a sentence. */
export async function parsed<T>(name: string, parse: () => Promise<T>): Promise<T> {
  try {
    return await parse()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return refuse(`${name} cannot be read as a parquet file: ${why.slice(0, 200)}`)
  }
}
