/** Comma-separated text (RFC 4180): quoted fields may hold commas, line breaks and doubled quotes. */
export function parseCsv(text: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  let field = ''
  let isQuoted = false
  const endRow = (): void => {
    row.push(field)
    field = ''
    if (row.some((cell) => cell.trim() !== '')) rows.push(row)
    row = []
  }
  const source = text.replace(/^\uFEFF/, '')
  for (let i = 0; i < source.length; i++) {
    const letter = source.charAt(i)
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
