/** Some rows of a parquet file of ours, and some columns, without the rest of their groups. */
import { type AsyncBuffer, type DecodedArray, type FileMetaData, parquetRead } from 'hyparquet'
import { refuse } from '../exports/check-run.ts'
import {
  type Cell,
  type Column,
  howToRead,
  metadataOf,
  parsed,
  type RowSpan,
  type Table,
} from './parquet-table.ts'

/** Of a slice: the cell of a row, which is counted from the slice's first one. */
export type Slice = {
  readonly cell: (column: number, row: number) => Cell
  /** About what it takes of memory. */
  readonly bytes: number
}

export type TableSlices = {
  readonly groups: readonly RowSpan[]
  /**
   * @param places of the columns, in the table's list; cells of others are null
   * @param span within one group
   * @throws Refusal
   */
  readonly read: (buffer: AsyncBuffer, places: readonly number[], span: RowSpan) => Promise<Slice>
}

/** @throws Refusal if it is not a file of these columns */
export async function tableSlices(buffer: AsyncBuffer, table: Table): Promise<TableSlices> {
  const { metadata, groups } = await metadataOf(buffer, table)
  const { columns, name } = table
  const isEmpty = emptyColumns(metadata)
  return {
    groups,
    read: async (from, places, { start, end }) => {
      const group = groups.findIndex((one) => one.start <= start && end <= one.end)
      const wanted = places.filter((place) => isEmpty[group]?.[place] !== true)
      const cells = new Map(wanted.map((place) => [place, cellsFor(columns[place], end - start)]))
      const byName = new Map(wanted.map((place) => [columns[place]?.name ?? '', place]))
      if (wanted.length > 0)
        await parsed(name, () =>
          parquetRead({
            file: from,
            metadata,
            columns: [...byName.keys()],
            rowStart: start,
            rowEnd: end,
            useOffsetIndex: true,
            ...howToRead,
            onChunk: ({ columnName, columnData, rowStart }) =>
              cells.get(byName.get(columnName) ?? -1)?.put(columnData, rowStart - start),
          }),
        )
      let bytes = 0
      for (const column of cells.values()) {
        if (column.filled() !== end - start)
          refuse(`${name} cannot be read as a parquet file: its columns have different lengths`)
        bytes += column.bytes()
      }
      return { cell: (place, row) => cells.get(place)?.at(row) ?? null, bytes }
    },
  }
}

/** By group and column: whether no row has a value, which most columns of most files do. */
const emptyColumns = ({ row_groups: groups }: FileMetaData): readonly (readonly boolean[])[] =>
  groups.map(({ columns, num_rows: rows }) =>
    columns.map(({ meta_data: about }) => {
      const nulls = about?.statistics?.null_count
      return nulls !== undefined && nulls === rows
    }),
  )

type Cells = {
  /** @param from the place of the first one; what is outside is left out */
  readonly put: (data: DecodedArray, from: number) => void
  readonly filled: () => number
  readonly at: (row: number) => Cell
  readonly bytes: () => number
}

function cellsFor(column: Column<never> | undefined, rows: number): Cells {
  return column?.kind === 'text' ? textCells(rows) : numberCells(rows)
}

/** NaN is null, which no number of ours is. */
function numberCells(rows: number): Cells {
  const values = new Float64Array(rows).fill(Number.NaN)
  let filled = 0
  return {
    put: (data, from) => {
      for (let i = Math.max(0, -from); i < data.length && from + i < rows; i++, filled++) {
        const value: unknown = data[i]
        values[from + i] =
          typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN
      }
    },
    filled: () => filled,
    at: (row) => {
      const value = values[row]
      return value === undefined || Number.isNaN(value) ? null : value
    },
    bytes: () => values.byteLength,
  }
}

function textCells(rows: number): Cells {
  const values: (string | null)[] = Array.from({ length: rows }, () => null)
  let [filled, bytes] = [0, 8 * rows]
  let former: unknown
  return {
    put: (data, from) => {
      for (let i = Math.max(0, -from); i < data.length && from + i < rows; i++, filled++) {
        const value: unknown = data[i]
        if (typeof value !== 'string') continue
        values[from + i] = value
        // runs of one text are one text in memory
        if (value !== former) bytes += 16 + value.length
        former = value
      }
    },
    filled: () => filled,
    at: (row) => values[row] ?? null,
    bytes: () => bytes,
  }
}
