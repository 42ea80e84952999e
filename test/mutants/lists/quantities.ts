import type { Mutant, RowMutants } from '../mutant.ts'

const nothing = (): string => ''
const table = 'core/air/quantities.ts'
const rowTests = ['quantities', 'quality']
const stores = ['store-rows']
const rowPattern = / {2}\{\n {4}name: '(\w+)',\n(?: {4}.*\n)+? {2}\},\n/.source

const row = (name: string, rows: RegExp, becomes: RowMutants['becomes']): RowMutants => ({
  name: `a quantity ${name}`,
  file: table,
  rows,
  becomes,
  least: 15,
  tests: rowTests,
})

/** Each use of the table by one who lists its quantities, as if the list ended after the basic five. */
const derived = (file: string, tests: readonly string[], least = 1): RowMutants => ({
  name: `${file} lists the basic five`,
  file,
  rows: /(?<!^import .*|^ {2}|\b(?:type|let|const) )\b(?:quantityNames\b(?!\[)|quantities(?=\s*\.(?!ts)\w)(?!.*usual)|statFields\b(?=\.)|mostValues\b)|mapQuantities(?=\()/gm,
  becomes: (list) => {
    if (list === 'mostValues') return '5'
    if (list !== 'mapQuantities') return `${list}.slice(0, 5)`
    return '((make) => Object.fromEntries(Object.entries(mapQuantities(make)).slice(0, 5)) as never)'
  },
  least,
  tests,
})

export const quantityMutants: readonly (Mutant | RowMutants)[] = [
  row('is out', new RegExp(`^${rowPattern}`, 'gm'), nothing),
  row('has another name', /(?<=^ {4}name: )'(\w+)'/gm, (_row, [name]) => `'${name}x'`),
  row('has the bit of another', /(?<=^ {4}droppedFlag: )\d+/gm, (bit) => (bit === '0' ? '1' : '0')),
  {
    ...row(
      'takes what none can measure',
      /(?<=^ {4}hard: .* high: )[\d_]+/gm,
      (high) => `${high}1`,
    ),
    tests: ['every-quantity'],
  },
  {
    ...row(
      'has the id of the next one',
      new RegExp(`^(${rowPattern})(${rowPattern})`, 'gm'),
      (_row, [first = '', , next = '']) => `${next}${first}`,
    ),
    least: 8,
  },
  {
    name: 'a usual range is wider',
    file: table,
    rows: /(?<=^ {4}usual: \{ low: )[\d_]+/gm,
    becomes: (low) => `${Number(low.replaceAll('_', '')) - 100}`,
    least: 2,
    tests: rowTests,
  },
  {
    name: 'readings that differ after the basic five are the same',
    file: 'core/air/values.ts',
    text: 'for (let id = 0; id < a.length; id++) if',
    becomes: 'for (let id = 0; id < 5; id++) if',
    tests: rowTests,
  },
  {
    name: 'lists of another length are the same',
    file: 'core/air/values.ts',
    text: '  if (a.length !== b.length) return false\n',
    becomes: '',
    tests: ['every-quantity'],
  },
  {
    name: 'a reading that lost a value is not partial',
    file: 'core/air/quality.ts',
    text: 'droppedMask = droppedMasks.reduce',
    becomes: 'droppedMask = droppedMasks.slice(0, 5).reduce',
    tests: ['every-quantity'],
  },
  {
    name: 'the nested raw form is not looked at',
    file: 'schemas/log/raw-reading.ts',
    text: "measurements: { type: 'object', properties: values as unknown as Values },",
    becomes:
      "measurements: { type: 'object', properties: { pm25: values.pm25 } as unknown as Values },",
    tests: ['raw-reading', 'judge', 'schemas-examples'],
  },
  {
    name: 'the nested raw form has no values',
    file: 'pipeline/decide/judge.ts',
    text: 'take(values, raw.measurements, count)',
    becomes: 'take(values, raw.measurements, 5)',
    tests: ['every-quantity'],
  },
  {
    name: 'SQLite keeps the former value of a row',
    file: 'store/sqlite/write.ts',
    text: ".filter((name) => name !== 's' && name !== 't')",
    becomes: ".filter((name) => name !== 's' && name !== 't')\n    .slice(0, 10)",
    tests: stores,
  },
  {
    name: 'a row that InfluxDB dropped is taken for stored',
    file: 'store/influx/influx.ts',
    text: 'row.device === stored.device &&\n  sameValues(row.values, stored.values)',
    becomes:
      'row.device === stored.device &&\n  sameValues(row.values.slice(0, 5), stored.values.slice(0, 5))',
    tests: stores,
  },
  {
    name: 'a line for InfluxDB ends after the basic five',
    file: 'store/influx/reading-lines.ts',
    text: 'id < width - cellAt.values',
    becomes: 'id < 5',
    tests: stores,
  },
  {
    name: 'the document lacks the quantities that are not of the basic five',
    file: 'api/openapi/schemas.ts',
    rows: /(?:measured|statistics)\.others/g,
    becomes: () => '{}',
    least: 4,
    tests: ['every-quantity'],
  },
  {
    name: '/verify does not say the values of the leaf',
    file: 'api/proofs/verify.ts',
    text: '  ...leafValues(reading),\n',
    becomes: '',
    tests: ['leaf', 'verify-snippet'],
  },
  derived('core/air/values.ts', rowTests),
  derived('core/air/quality.ts', ['quality', 'judge', 'quantities', 'flags-fault']),
  derived('core/state/state-columns.ts', ['partition-state', 'snapshot']),
  derived('core/state/partition-state.ts', ['partition-state', 'decide', 'snapshot']),
  derived('core/state/apply-reading.ts', ['partition-state', 'evolve', 'decide', 'snapshot']),
  derived('schemas/measured.ts', ['every-quantity']),
  derived('schemas/devices/application.ts', ['every-quantity']),
  derived('schemas/log/unknown-quantities.ts', ['readings-message', 'snapshot']),
  derived('schemas/log/snapshot.ts', ['snapshot']),
  derived('store/row-fault.ts', stores),
  derived('store/stat-fields.ts', stores),
  derived('store/sqlite/schema.ts', stores),
  derived('store/packed-readings.ts', stores),
  {
    name: 'a batch of SQLite has as many values as the basic five',
    file: 'store/packed-readings.ts',
    text: 'count = Math.max(count, values.length)',
    becomes: 'count = Math.min(count, values.length)',
    tests: stores,
  },
  {
    name: 'SQLite reads the basic five alone',
    file: 'store/sqlite/pack.ts',
    text: 'Math.max(most, widthOf(row))',
    becomes: 'Math.min(most, widthOf(row))',
    tests: stores,
  },
  derived('store/influx/row.ts', stores),
  derived('store/influx/read.ts', stores),
  derived('api/proofs/proof-page.ts', ['every-quantity']),
  derived('api/openapi/schemas.ts', ['every-quantity']),
  derived('api/readings/reading-formats.ts', ['every-quantity']),
  derived('api/areas/area-json.ts', ['every-quantity']),
  derived('cli/applications.ts', ['every-quantity']),
  derived('cli/export/row-line.ts', ['every-quantity']),
  derived('cli/export/parse-row.ts', ['every-quantity']),
  derived('cli/audit/api-rows.ts', ['every-quantity']),
  derived('gate/topics/join-parts.ts', ['every-quantity']),
  derived('gate/push/readings-endpoint.ts', ['every-quantity']),
  derived('gate/push/raw-item.ts', ['every-quantity']),
  derived('gate/devices/uplink.ts', ['every-quantity']),
  derived('gate/devices/esphome.ts', ['every-quantity', 'device-map-esphome']),
  derived('gate/devices/mapped.ts', ['every-quantity']),
  derived('gate/devices/zigbee2mqtt.ts', ['device-map-zigbee2mqtt']),
]
