import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { zstdCompressSync } from 'node:zlib'
import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer'
import {
  type Cell,
  type Column,
  groupRows,
  packing,
  schemaOf,
} from '../operate/archive/parquet-table.ts'

export type WrittenTable = {
  readonly sha256: string
  readonly bytes: number
  readonly rows: number
}

/** Runs of numbers that rise are kept as their differences. */
const encodings: Partial<Record<Column<never>['kind'], ColumnSource['encoding']>> = {
  time: 'DELTA_BINARY_PACKED',
  count: 'DELTA_BINARY_PACKED',
}

/** Of the values of a page, so that one reading is found without the rest of its group. */
const pageSize = 65_536

/**
 * Writes a parquet file row by row, one group of rows in memory at a time. The same rows give the same
 * bytes: nothing of the time or the machine is in it.
 */
export function tableWriter<Row>(file: FileHandle, columns: readonly Column<Row>[]) {
  const digest = createHash('sha256')
  let [bytes, rows] = [0, 0]
  const writer = new ByteWriter(2 ** 20)
  const parquet = new ParquetWriter({
    writer,
    schema: schemaOf(columns),
    codec: 'ZSTD',
    compressors: { ZSTD: (page) => zstdCompressSync(page, packing) },
    createdBy: 'airproof',
  })
  let cells: (Cell | bigint)[][] = columns.map(() => [])

  const flush = async (): Promise<void> => {
    const made = writer.getBytes()
    digest.update(made)
    bytes += made.length
    for (let at = 0; at < made.length; )
      at += (await file.write(made, at, made.length - at)).bytesWritten
    writer.index = 0
  }
  const endGroup = async (): Promise<void> => {
    const columnData = columns.map(({ name, kind }, at): ColumnSource => {
      const encoding = encodings[kind]
      const data = cells[at] ?? []
      return { name, data, offsetIndex: true, ...(encoding !== undefined && { encoding }) }
    })
    cells = columns.map(() => [])
    await parquet.write({ columnData, rowGroupSize: groupRows, pageSize })
    await flush()
  }
  return {
    add: async (row: Row): Promise<void> => {
      for (let at = 0; at < columns.length; at++) {
        const { kind, of } = columns[at]!
        const value = of(row)
        const isLong = kind === 'time' || kind === 'count'
        cells[at]!.push(isLong && typeof value === 'number' ? BigInt(value) : value)
      }
      if (++rows % groupRows === 0) await endGroup()
    },
    end: async (): Promise<WrittenTable> => {
      if ((cells[0]?.length ?? 0) > 0) await endGroup()
      await parquet.finish()
      await flush()
      return { sha256: digest.digest('hex'), bytes, rows }
    },
  }
}
