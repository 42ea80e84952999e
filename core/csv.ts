/** Comma-separated text (RFC 4180): quoted fields may hold commas, line breaks and doubled quotes. */
export const parseCsv = (text: string): readonly (readonly string[])[] =>
  parseCsvLines(text).map(({ cells }) => cells)

/** The number of the line, from 1, at which the row begins: rows may be empty or span lines. */
export type CsvRow = { readonly line: number; readonly cells: readonly string[] }

export function parseCsvLines(text: string): readonly CsvRow[] {
  const rows: CsvRow[] = []
  let row: string[] = []
  let field = ''
  let isQuoted = false
  let [line, rowLine] = [1, 1]
  const endRow = (): void => {
    row.push(field)
    field = ''
    if (row.some((cell) => cell.trim() !== '')) rows.push({ line: rowLine, cells: row })
    row = []
    rowLine = line
  }
  const source = text.replace(/^\uFEFF/, '')
  for (let i = 0; i < source.length; i++) {
    const letter = source.charAt(i)
    if (letter === '\n') line++
    if (isQuoted) {
      if (letter !== '"') field += letter
      else if (source.charAt(i + 1) === '"') field += source.charAt(++i)
      else isQuoted = false
    } else if (letter === '"' && field === '') isQuoted = true
    else if (letter === ',') {
      row.push(field)
      field = ''
    } else if (letter === '\n') endRow()
    else if (letter !== '\r') field += letter
  }
  if (field !== '' || row.length > 0) endRow()
  return rows
}
