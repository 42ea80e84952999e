/** The lines of an export, of both versions, and back. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { rowParser } from '../../cli/export/parse-row.ts'
import { readExport } from '../../cli/export/read-export.ts'
import { type ExportedRow, headOf, rowLine } from '../../cli/export/row-line.ts'
import { parseCsv } from '../../core/csv.ts'
import { rowFormats } from '../../operate/exports/manifest-schema.ts'
import { exportOfBundles } from '../support/export-of-bundles.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const rowOf = (name: string): ExportedRow => exportOfBundles(name).rows[0]!
const samples = ['alone', 'v2-alone', 'v2-in-a-city', 'v2-ed25519', 'v2-p256'].map(
  (name) => [name, rowOf(name)] as const,
)

const columns01 =
  'sensor_id,timestamp,seq,pm25,pm10,co2,temperature,humidity,aqi,hash,batch,pm1,pm4,pressure,no2,o3,co,so2,voc_index,nox_index,tvoc,noise'

test('no column of an older export moves: those of version 2 come last', () => {
  expect(headOf('csv', 1)).toBe(`${columns01}\r\n`)
  expect(headOf('csv', 2)).toBe(
    `${columns01},leaf_version,area,flags,device,algorithm,public_key,signature,signed_text\r\n`,
  )
  expect([headOf('ndjson', 1), headOf('ndjson', 2)]).toEqual(['', ''])
})

test('rows that 0.1 exported are written again byte for byte', () => {
  const lines = readFileSync('test/fixtures/export-0.1/all.ndjson', 'utf8').trimEnd().split('\n')
  const parse = rowParser('ndjson', '')
  expect(lines.length).toBeGreaterThan(50)
  for (const line of lines)
    expect(rowLine(parse(line) as ExportedRow, 'ndjson', 1)).toBe(`${line}\n`)
  // in an export that also holds rows of version 2 they are the same
  for (const line of lines)
    expect(rowLine(parse(line) as ExportedRow, 'ndjson', 2)).toBe(`${line}\n`)
})

test.each([
  ['ndjson', 'all.ndjson'],
  ['csv', 'all.csv'],
  ['csv', 'part.csv'],
] as const)(
  'rows that were exported over the border are written again as %s: %s',
  (format, name) => {
    const text = readFileSync(`test/fixtures/export-2/${name}`, 'utf8')
    const [head = '', ...rest] = text.split(/(?<=\n)/)
    const lines = format === 'csv' ? rest : [head, ...rest]
    const parse = rowParser(format, head.trimEnd())
    const made = lines.map((line) => rowLine(parse(line.trimEnd()) as ExportedRow, format, 2))
    expect(headOf(format, 2) + made.join('')).toBe(text)
  },
)

describe.each(rowFormats)('as %s', (format) => {
  test.each(samples)('the row of %s is one line, and comes back', (_, row) => {
    const [head, line] = [headOf(format, 2), rowLine(row, format, 2)]
    expect(line.trimEnd()).not.toMatch(/[\r\n]/)
    expect(rowParser(format, head.trimEnd())(line.trimEnd())).toEqual(row)
  })

  test('an area may be any printable text', async () => {
    const row = rowOf('v2-alone')
    const areas = [
      'a,b',
      '"',
      '""',
      '",',
      "=1+1,'",
      ' x ',
      'Ìkẹjà "GRA"',
      'a\u2028b\u2029c',
      '1',
      '',
    ]
    const rows = areas.map((area) => ({ ...row, reading: { ...row.reading, area } }))
    using folder = temporaryFolder()
    const { manifest } = exportOfBundles('v2-alone')
    const file = { ...manifest, rows: { ...manifest.rows, file: 'rows', format } }
    const lines = rows.map((one) => rowLine(one as ExportedRow, format, 2))
    writeFileSync(join(folder.path, 'rows'), `${headOf(format, 2)}${lines.join('')}`)
    const read = await readExport(join(folder.path, 'manifest'), file)
    expect(await Array.fromAsync(read.rows)).toEqual(rows)
  })
})

/** A line of the sample with cells that are changed; undefined: the column is left out. */
function changed(
  name: string,
  cells: Readonly<Record<string, string | number | null | undefined>>,
): readonly string[] {
  const row = rowOf(name)
  const value = { ...JSON.parse(rowLine(row, 'ndjson', 2)), ...cells }
  const [names = [], given = []] = parseCsv(headOf('csv', 2) + rowLine(row, 'csv', 2))
  const byName = new Map(names.map((column, at) => [column, given[at] ?? '']))
  for (const [column, cell] of Object.entries(cells))
    if (cell === undefined) byName.delete(column)
    else byName.set(column, String(cell ?? ''))
  const quoted = (cell: string) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  const line = [...byName.values()].map(quoted).join(',')
  return [
    rowParser('ndjson', '')(JSON.stringify(value)),
    rowParser('csv', [...byName.keys()].join(','))(line),
  ].map((printed) => (typeof printed === 'string' ? printed : 'a row'))
}

const notAsWritten = 'it is not written as an export writes its values'
const twice = (words: string): string[] => [words, words]

test.each([
  ['v2-in-a-city', { area: undefined }, twice('it has no area')],
  ['v2-in-a-city', { flags: undefined }, twice('it has no flags')],
  ['v2-in-a-city', { flags: null }, twice('it has no flags')],
  ['v2-in-a-city', { flags: -1 }, twice('its value of flags is not a whole number')],
  ['v2-in-a-city', { area: null }, ['its value of area is not a text', 'a row']],
  ['v2-in-a-city', { pm25: undefined }, twice('it has no pm25')],
  ['v2-in-a-city', { pm25: 'x' }, twice('its value of pm25 is not a number')],
  ['v2-in-a-city', { seq: undefined }, twice('it has no seq')],
  ['v2-in-a-city', { hash: '0x12' }, twice('its hash is not one')],
  ['v2-in-a-city', { timestamp: 'x' }, twice('its timestamp is not a time')],
  ['v2-in-a-city', { batch: 1.5 }, twice('its value of batch is not a whole number')],
  [
    'v2-in-a-city',
    { leaf_version: 3 },
    twice('its leaf_version is 3, and this airproof knows 1 and 2'),
  ],
  [
    'v2-in-a-city',
    { leaf_version: undefined },
    twice('its leaf is of version 1, which does not hold its area'),
  ],
  ['alone', { area: 'Ikeja' }, twice('its leaf is of version 1, which does not hold its area')],
  [
    'v2-in-a-city',
    { radon: 7 },
    twice(
      'it has a value radon, which this airproof does not know: check it with the airproof that wrote it, or a later one',
    ),
  ],
  ['alone', { radon: 7 }, twice(notAsWritten)],
  // a CSV file of a later version has more columns
  ['alone', { radon: null }, [notAsWritten, 'a row']],
  ['alone', { no2: 40 }, twice('its leaf is of version 1, which does not hold its no2')],
  ['alone', { pm25: 10.004 }, twice(notAsWritten)],
  ['alone', { timestamp: '2026-01-01T00:00:01.0009Z' }, twice(notAsWritten)],
  ['alone', { timestamp: '2026-01-01T01:00:01+01:00' }, twice(notAsWritten)],
  ['alone', { pm25: '0xa' }, ['its value of pm25 is not a number', notAsWritten]],
  ['alone', { pm25: ' ' }, ['its value of pm25 is not a number', notAsWritten]],
  ['v2-in-a-city', { flags: ' ' }, ['its value of flags is not a whole number', notAsWritten]],
  ['v2-ed25519', { signed_text: undefined }, twice('it has no signed_text')],
  ['v2-ed25519', { public_key: undefined }, twice('it has no public_key')],
  ['v2-ed25519', { algorithm: 'rsa' }, twice('its algorithm is not a known one')],
  ['v2-ed25519', { device: '0x1' }, twice('its device is not a hash')],
  [
    'v2-ed25519',
    { device: undefined },
    twice('its algorithm is there without its device, which is a hash over it'),
  ],
] as const)('%s with %j is not a row, in words', (name, cells, words) => {
  expect(changed(name, cells)).toEqual(words)
})

test('a line that two readers read as two rows is not one', () => {
  const [line, csv] = [rowLine(rowOf('alone'), 'ndjson', 1), rowLine(rowOf('alone'), 'csv', 1)]
  const json = (change: (text: string) => string) => rowParser('ndjson', '')(change(line).trimEnd())
  const cells = (change: (text: string) => string, head = headOf('csv', 1)) =>
    rowParser('csv', head.trimEnd())(change(csv).trimEnd())
  expect([json((text) => text), cells((text) => text)]).toEqual([rowOf('alone'), rowOf('alone')])
  expect(json((text) => text.replace('"pm25":', '"pm25":999,"pm25":'))).toBe(notAsWritten)
  expect(json((text) => text.replace('"pm25":', '"pm25": '))).toBe(notAsWritten)
  expect(cells((text) => text.replace('NGR', 'NG\rR'))).toBe(notAsWritten)
  expect(cells((text) => text.replace(/^[^,]*/, '"$&"'))).toBe(notAsWritten)
  const head = 'the first line is not one of names of columns'
  expect(cells((text) => text, headOf('csv', 1).replace('pm25', '"pm25"'))).toBe(head)
})

test('a line that is not a row, and a first line with a column twice, are named', () => {
  expect(rowParser('ndjson', '')('[')).toBe('it is not an object of JSON')
  expect(rowParser('csv', 'a,b')('1')).toBe('it has 1 values, and the first line names 2 columns')
  expect(rowParser('csv', 'a,b,a')('1,2,3')).toBe('the first line names the column a twice')
})
