import type { Mutant, RowMutants } from '../mutant.ts'

const columns = 'operate/archive/reading-columns.ts'
const run = 'operate/archive/check-archive-run.ts'
const rows = ['archive-rows']
const whole = ['stack/archive']

/** Each condition with which a line refuses, in a file: it never holds. */
const refusals = (file: string, least: number, tests: readonly string[]): RowMutants => ({
  name: `what is wrong passes ${file}`,
  file,
  rows: /(?<=^ *if \()[^\n]+(?=\)\s+(?:return )?refuse(?:Row)?\()/gm,
  becomes: (condition) => `Date.now() < 0 && (${condition})`,
  least,
  tests,
})

/** Each column of the archive, each field of its manifests, and each of its checks. */
export const archiveMutants: readonly (Mutant | RowMutants)[] = [
  {
    name: 'a column is not in the archive',
    file: columns,
    rows: /^ {2}\{ name: '(\w+)', kind: .*\n/gm,
    becomes: () => '',
    least: 13,
    tests: rows,
  },
  {
    name: 'a column is empty',
    file: columns,
    rows: /(?<=^ {2}\{ name: '(\w+)', kind: .* of: ).*(?= \},\n)/gm,
    becomes: () => '() => null',
    least: 13,
    tests: rows,
  },
  ...[
    { file: 'operate/archive/sensor-columns.ts', least: 15 },
    { file: 'archive/statistics-table.ts', least: 3 },
    { file: 'archive/sensor-statistics-table.ts', least: 5 },
  ].flatMap(({ file, least }): readonly RowMutants[] => [
    {
      name: `a column is not in a table of ${file}`,
      file,
      rows: /^ {2}\{ name: '(\w+)', kind: .*\n/gm,
      becomes: () => '',
      least,
      tests: ['archive-columns'],
    },
    {
      name: `a column is empty in a table of ${file}`,
      file,
      rows: /(?<=^ {2}\{ name: '(\w+)', kind: .* of: ).*(?= \},\n)/gm,
      becomes: () => '() => null',
      least,
      tests: ['archive-columns'],
    },
  ]),
  {
    name: 'the address where a sensor was is in the archive',
    file: 'operate/archive/sensor-columns.ts',
    text: 'isPresent ? site.address : null',
    becomes: 'isPresent ? site.address : site.address',
    tests: ['archive-columns'],
  },
  {
    name: 'a column is proven by a leaf that does not hold it',
    file: columns,
    rows: /^ {4}'(\w+)',\n/gm,
    becomes: () => '',
    least: 8,
    tests: rows,
  },
  {
    name: 'a cell may be anything',
    file: columns,
    rows: /(?<= if \().*(typeof value === '\w+').*(?=\) return value)/g,
    becomes: () => 'Date.now() > 0',
    least: 2,
    tests: rows,
  },
  {
    name: 'a quality is not compared with its flags',
    file: columns,
    text: 'cell(qualityAt) !== qualityOf(flags)',
    becomes: "cell(qualityAt) === 'none' && qualityOf(flags) === 'fail'",
    tests: rows,
  },
  {
    name: 'a value may have three decimals',
    file: columns,
    text: ' || fromHundredths(hundredths) !== value',
    becomes: '',
    tests: rows,
  },
  {
    name: 'a device need not be a hash',
    file: columns,
    text: ' || !isHash(device)',
    becomes: ' || !(isHash(device) || true)',
    tests: rows,
  },
  {
    name: 'a field is not in a run’s manifest',
    file: 'operate/archive/run-manifest.ts',
    rows: /^ {2,4}(?!properties)(\w+)(?:: (?:whole|\{|endSchema).*)?,\n/gm,
    becomes: () => '',
    least: 13,
    tests: rows,
  },
  {
    name: 'a manifest may hold more',
    file: 'operate/archive/run-manifest.ts',
    text: 'additionalProperties: false',
    becomes: 'additionalProperties: true',
    tests: rows,
  },
  {
    name: 'a version of the archive that is not known is passed over',
    file: 'operate/archive/run-manifest.ts',
    text: 'format === known) return',
    becomes: 'format !== known) return',
    tests: rows,
  },
  {
    name: 'a catalogue may list any path',
    file: 'operate/archive/catalogue.ts',
    text: 'paths.every(isArchivePath) && ',
    becomes: '',
    tests: rows,
  },
  {
    name: 'a catalogue may list a path twice',
    file: 'operate/archive/catalogue.ts',
    text: ' && new Set(paths).size === paths.length',
    becomes: '',
    tests: rows,
  },
  {
    name: 'a path of the archive leads elsewhere',
    file: 'operate/archive/archive-layout.ts',
    rows: /(?<=^const (others|dayTree) =(?: new RegExp\(\n {2}`|\n {2}\/))\^/gm,
    becomes: () => '',
    least: 2,
    tests: rows,
  },
  {
    name: 'a file of the archive is not one',
    file: 'operate/archive/archive-layout.ts',
    rows: /^ {4}'(\w[\w/]+).*',\n/gm,
    becomes: () => '',
    least: 5,
    tests: rows,
  },
  refusals('operate/archive/check-archive.ts', 6, ['archive-rows', 'stack/archive']),
  refusals(run, 12, whole),
  {
    name: 'a run may end elsewhere than it says',
    file: run,
    text: 'JSON.stringify(end) !==\n',
    becomes: 'JSON.stringify(end) ===\n    "" +\n',
    tests: whole,
  },
]
