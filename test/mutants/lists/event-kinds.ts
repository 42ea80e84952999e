import type { Mutant, RowMutants } from '../mutant.ts'

const tests = ['event-kinds', 'made-up-kind', 'needed-readings', 'notifier-sources']
const nothing = (): string => ''
const table = 'core/delivery/event-kinds.ts'
const names = 'core/delivery/delivery.ts'
const records = 'schemas/webhooks/ledger-records.ts'

/** A row's field as another value. */
const field = (name: string, rows: RegExp, becomes: RowMutants['becomes']): RowMutants => ({
  name,
  file: table,
  rows,
  becomes,
  least: 3,
  tests,
})

export const eventKindMutants: readonly (Mutant | RowMutants)[] = [
  field('a kind is out', /^ {2}'([\w.]+)': \{\n(?: {4}.*\n)+ {2}\},\n/gm, nothing),
  field('a source is out', /^ {2}(events|readings|anchored): \{\n[^}]+\},\n/gm, nothing),
  field(
    'a kind has another name',
    /^ {2}'([\w.]+)': \{\n/gm,
    (_row, [kind]) => `  '${kind}s': {\n`,
  ),
  field(
    'a kind has the number of another',
    /(?<='([\w.]+)': \{\n {4}number: )\d/g,
    (number) => `${(Number(number) + 1) % 6}`,
  ),
  field('a kind has another source', /(?<='([\w.]+)': \{\n.*\n {4}source: )'\w+'/g, (source) =>
    source === "'events'" ? "'readings'" : "'events'",
  ),
  field(
    'what is urgent waits, or what is not overtakes',
    /(?<='([\w.]+)': \{\n.*\n.*\n {4}isUrgent: )\w+/g,
    (isUrgent) => `${isUrgent !== 'true'}`,
  ),
  field('a kind is of another level', /(?<='([\w.]+)': \{\n(?:.*\n){3} {4}level: )\d/g, (level) =>
    level === '1' ? '2' : '1',
  ),
  field(
    'a source has another header',
    /(?<=(events|readings|anchored): \{\n {4}header: )'[\w-]+'/g,
    () => "'Dw-Other'",
  ),
  field(
    'a source has the number of another',
    /(?<=(events|readings|anchored): \{\n.*\n {4}behindOp: )\d/g,
    (number) => (number === '2' ? '3' : '2'),
  ),
  field(
    'a source does not hold the readings it needs, or holds what it does not',
    /(?<=(events|readings|anchored): \{\n(?:.*\n){2} {4}holdsReadings: )\w+/g,
    (holds) => `${holds !== 'true'}`,
  ),
  field(
    'a source is followed without need, or loses its cursor',
    /(?<=(events|readings|anchored): \{\n(?:.*\n){3} {4}isAlwaysFollowed: )\w+/g,
    (isAlways) => `${isAlways !== 'true'}`,
  ),
  field(
    'a source is of another level',
    /(?<=(events|readings|anchored): \{\n(?:.*\n){4} {4}level: )\d/g,
    (level) => (level === '1' ? '2' : '1'),
  ),
  {
    name: 'nothing is urgent',
    file: names,
    text: 'eventKindRows[kind].isUrgent',
    becomes: "kind === 'aqi.critical' && false",
    tests,
  },
  {
    name: 'what brings a kind is the source of events',
    file: names,
    text: 'eventKindRows[kind].source\n',
    becomes: "(kind === 'reading.new' ? 'readings' : 'events')\n",
    tests,
  },
  {
    name: 'an unknown number is a kind',
    file: 'core/delivery/ledger.ts',
    text: 'if (kind === undefined) throw new RangeError(`no kind of event has the number ${bits & 7}`)',
    becomes: "if (kind === undefined) return 'reading.new'",
    tests,
  },
  {
    name: 'a key has a name of 8 to 16 letters',
    file: names,
    text: '/^(.+)-([1-9]',
    becomes: '/^([a-z.]{8,15})-([1-9]',
    tests,
  },
  {
    name: 'a webhook that is behind a source is written as behind another',
    file: records,
    text: 'sourceRows[change.source].behindOp',
    becomes: 'sourceRows[change.source].behindOp === 2 ? 2 : 3',
    tests,
  },
  {
    name: 'a hook record is not read as one of a source',
    file: records,
    text: "if (source !== undefined) return { op: 'behind', source, from: read48(view, at + 12) }\n",
    becomes:
      "if (source !== undefined) return { op: 'behind', source: 'events', from: read48(view, at + 12) }\n",
    tests,
  },
  {
    name: 'readings that wait are trimmed',
    file: 'notifier/match/needed-readings.ts',
    text: 'if (sourceRows[source].holdsReadings) oldest',
    becomes: "if (source === 'readings') oldest",
    tests,
  },
  {
    name: 'readings that are not matched are trimmed',
    file: 'notifier/match/needed-readings.ts',
    text: 'if (!sourceRows[source].holdsReadings) continue',
    becomes: "if (source !== 'readings') continue",
    tests,
  },
  {
    name: 'an event is matched as another kind',
    file: 'schemas/log/event.ts',
    rows: /(?<=index\.match\()'(?:sensor|aqi)\.(\w+)'/g,
    becomes: (_row, [kind]) => (kind === 'online' ? "'sensor.offline'" : "'sensor.online'"),
    least: 3,
    tests: ['webhook-match'],
  },
  {
    name: 'a delivery of one kind has the body of another',
    file: 'notifier/sources/payload.ts',
    rows: /^ {6}if \(kind !== '([\w.]+)'.*\) return undefined\n/gm,
    becomes: nothing,
    least: 3,
    tests,
  },
  {
    name: 'a kind has no body',
    file: 'schemas/webhooks/webhook-payload.ts',
    rows: /(?<=dataSchemas = \{[^}]*)^ {2}'([\w.]+)': \w+,\n/gm,
    becomes: nothing,
    least: 6,
    tests,
  },
  {
    name: 'a kind has no example',
    file: 'schemas/webhooks/webhook-samples.ts',
    rows: /^ {2}'([\w.]+)': \((?:.*\n)+? {2}(?:\}\),|\},)\n/gm,
    becomes: nothing,
    least: 6,
    tests,
  },
  {
    name: 'a source is not opened',
    file: 'notifier/open-context.ts',
    rows: /^ {4}(\w+): \w+Source\(.*\n/gm,
    becomes: nothing,
    least: 3,
    tests,
  },
  {
    name: 'a threshold is another',
    file: 'core/air/thresholds.ts',
    rows: /(?<=const (\w+) = )\d+/g,
    becomes: (number) => `${Number(number) + 1}`,
    least: 2,
    tests: ['event-kinds', 'webhook-match'],
  },
]
