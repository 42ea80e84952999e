/**
 * A plain reader of the archives, from the description published with them: a whole file as text,
 * cut at line ends and semicolons. It uses nothing of the command that replays them.
 */
import { readFileSync } from 'node:fs'
import { hundredthsOf, nothing, type Quantity, quantities, type Values } from './plain-values.ts'

export const plainFormats = ['sensors-africa', 'sensor-community', 'ndjson'] as const
export type PlainFormat = (typeof plainFormats)[number]

export type PlainReading = {
  /** The archive's own name. */
  readonly sensor: string
  readonly timeMs: number
  readonly values: Values
  readonly place: PlainPlace | undefined
}

export type PlainPlace = {
  readonly lat: number
  readonly lon: number
  readonly location: string
}

export type PlainArchive = {
  /** Values in the files: one per row, or one per filled cell. */
  readonly rows: number
  readonly unmapped: number
  /** As they would be sent: file by file, each in the order of its readings' first rows. */
  readonly readings: readonly PlainReading[]
}

const quantityOf: Readonly<Record<string, Quantity>> = {
  P1: 'pm10',
  P2: 'pm25',
  temperature: 'temperature',
  humidity: 'humidity',
  P0: 'pm1',
  P4: 'pm4',
  pressure: 'pressure',
  noise_LAeq: 'noise',
}
/** Archives have pressure in Pa; two digits are moved in the text. */
const inUnit = (name: string, text: string): string =>
  name === 'pressure' && text !== '' ? `${text}e-2` : text

/**
 * Files in the order of their first reading: of two equal keys the earlier file's is sent first.
 */
export function readPlainly(files: readonly string[], format: PlainFormat): PlainArchive {
  const startOf = ({ readings }: PlainArchive): number =>
    readings.reduce((least, { timeMs }) => (timeMs < least ? timeMs : least), Infinity)
  const archives = files
    .map((file) => readers[format](linesOf(file)))
    .toSorted((a, b) => startOf(a) - startOf(b))
  return {
    rows: archives.reduce((sum, { rows }) => sum + rows, 0),
    unmapped: archives.reduce((sum, { unmapped }) => sum + unmapped, 0),
    readings: archives.flatMap(({ readings }) => readings),
  }
}

const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line !== '')

const readers: Readonly<Record<PlainFormat, (lines: readonly string[]) => PlainArchive>> = {
  'sensors-africa': readLong,
  'sensor-community': readWide,
  ndjson: readJson,
}

/** sensor_id;sensor_type;location;lat;lon;timestamp;value_type;value */
function readLong([, ...lines]: readonly string[]): PlainArchive {
  const items = new Map<
    string,
    { sensor: string; time: string; place: PlainPlace; all: Values[] }
  >()
  let unmapped = 0
  for (const line of lines) {
    const [sensor = '', , location = '', lat = '', lon = '', time = '', type = '', text = ''] =
      line.split(';')
    const quantity = quantityOf[type]
    const value = hundredthsOf(inUnit(type, text))
    if (quantity === undefined || value === undefined) {
      unmapped += 1
      continue
    }
    const key = `${sensor} ${time}`
    const place = { lat: Number(lat), lon: Number(lon), location }
    const item = items.get(key) ?? { sensor, time, place, all: [] }
    items.set(key, item)
    // a quantity named again begins, or fills, the next reading of that sensor and time
    const at = item.all.findIndex((values) => values[quantity] === null)
    if (at === -1) item.all.push({ ...nothing, [quantity]: value })
    else item.all[at] = { ...(item.all[at] ?? nothing), [quantity]: value }
  }
  const readings = [...items.values()].flatMap(({ sensor, time, place, all }) =>
    all.map((values) => ({ sensor, timeMs: timeOf(time), values, place })),
  )
  return { rows: lines.length, unmapped, readings }
}

/** One reading per row, a column per quantity. */
function readWide([first = '', ...lines]: readonly string[]): PlainArchive {
  const header = first.split(';')
  const described = ['sensor_id', 'sensor_type', 'location', 'lat', 'lon', 'timestamp']
  let rows = 0
  let unmapped = 0
  const readings = lines.flatMap((line): PlainReading[] => {
    const cells = line.split(';')
    const cell = (name: string): string => cells[header.indexOf(name)] ?? ''
    const filled = header.filter((name) => !described.includes(name) && cell(name) !== '')
    const known = filled.flatMap((name) => {
      const value = hundredthsOf(inUnit(name, cell(name)))
      const quantity = quantityOf[name]
      return quantity === undefined || value === undefined ? [] : [[quantity, value] as const]
    })
    rows += filled.length
    unmapped += filled.length - known.length
    if (known.length === 0) return []
    const place = {
      lat: Number(cell('lat')),
      lon: Number(cell('lon')),
      location: cell('location'),
    }
    const values = { ...nothing, ...Object.fromEntries(known) }
    return [{ sensor: cell('sensor_id'), timeMs: timeOf(cell('timestamp')), values, place }]
  })
  return { rows, unmapped, readings }
}

/** One flat raw reading per line. */
function readJson(lines: readonly string[]): PlainArchive {
  let rows = 0
  let unmapped = 0
  const readings = lines.map((line): PlainReading => {
    const { sensor_id: sensor, timestamp, ...rest }: Record<string, unknown> = JSON.parse(line)
    const known = quantities.flatMap((name) => {
      const value = rest[name]
      return typeof value === 'number' ? [[name, hundredthsOf(String(value)) ?? null] as const] : []
    })
    const filled = Object.values(rest).filter((value) => typeof value === 'number').length
    rows += filled
    unmapped += filled - known.length
    const values = { ...nothing, ...Object.fromEntries(known) }
    return { sensor: String(sensor), timeMs: timeOf(String(timestamp)), values, place: undefined }
  })
  return { rows, unmapped, readings }
}

const timePattern =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?$/

/** ms since the epoch, finer fractions cut off; NaN: no time. No offset is UTC. */
function timeOf(text: string): number {
  const parts = timePattern.exec(text)
  if (parts === null) return Number.NaN
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const ms = Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3))
  const local = Date.UTC(year, month - 1, day, hour, minute, second, ms)
  const [, sign = '+', hours = '0', minutes = '0'] =
    /^([+-])(\d\d):(\d\d)$/.exec(parts[8] ?? '') ?? []
  return local - Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
}
