import type { ComponentChildren } from 'preact'

export type Column<Row> = {
  readonly name: string
  readonly isNumber?: boolean
  readonly cell: (row: Row) => ComponentChildren
}

type TableProps<Row> = {
  /** For screen readers; shown where `isCaptionShown`. */
  readonly caption: string
  readonly isCaptionShown?: boolean
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}

/** A table that scrolls sideways by itself where the screen is narrow. */
export const Table = <Row,>(props: TableProps<Row>) => {
  const { caption, isCaptionShown = false, columns, rows, keyOf } = props
  return (
    // scrollable by keyboard too, so it takes the focus; not a landmark, which its section is
    <div class="table" role="group" aria-label={caption} tabIndex={0}>
      <table>
        <caption class={isCaptionShown ? '' : 'visually-hidden'}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" class={isNumber === true ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, isNumber, cell }) => (
                <td key={name} class={isNumber === true ? 'number' : ''}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
