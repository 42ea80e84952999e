/** The pages of `/v1/readings` beside the readings they must show, to the last page. */
import { encodeAbiParameters, encodePacked, keccak256, toBytes } from 'viem'
import { type Ask, fieldsOf, isoOf, listOf } from './ask.ts'
import type { ExpectedReading, ExpectedSensor } from './expected-city.ts'
import type { Findings } from './findings.ts'
import { basic, indexOfReading, namesOfFlags, type Quantity, quantities } from './plain-values.ts'
import type { StoredRow } from './stored-rows.ts'

type Options = {
  readonly ask: Ask
  readonly findings: Findings
  readonly sensors: readonly ExpectedSensor[]
  readonly stored: readonly StoredRow[]
}

/**
 * The network's pages whole, and those of the sensors with most, fewest and the middling number.
 */
export async function checkReadings(options: Options): Promise<void> {
  const { sensors, stored } = options
  const seqOf = new Map(stored.map(({ sensor, timeMs, seq }) => [`${sensor} ${timeMs}`, seq]))
  const all = sensors
    .flatMap(({ readings }) => readings)
    .toSorted((a, b) => b.timeMs - a.timeMs || (a.sensor < b.sensor ? -1 : 1))
  await checkPages('', all, seqOf, options)
  const [first, last] = [all.at(-1), all[0]]
  if (first !== undefined && last !== undefined) {
    const quarter = Math.floor((last.timeMs - first.timeMs) / 4)
    const [fromMs, toMs] = [first.timeMs + quarter, last.timeMs - quarter]
    const within = all.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs)
    const span = `&start_time=${isoOf(fromMs)}&end_time=${isoOf(toMs)}`
    await checkPages(span, within, seqOf, options)
  }
  for (const { id, readings } of someOf(sensors)) {
    const newestFirst = readings.toReversed()
    await checkPages(`&sensor_id=${id}`, newestFirst, seqOf, options)
    await checkCsv(id, newestFirst.slice(0, 1000), options)
  }
}

export function someOf(sensors: readonly ExpectedSensor[]): readonly ExpectedSensor[] {
  const bySize = sensors.toSorted((a, b) => b.readings.length - a.readings.length)
  const some = [bySize[0], bySize[bySize.length >> 1], bySize.at(-1)]
  return [...new Set(some)].filter((sensor) => sensor !== undefined)
}

async function checkPages(
  query: string,
  expected: readonly ExpectedReading[],
  seqOf: ReadonlyMap<string, number>,
  { ask, findings }: Options,
): Promise<void> {
  let shown = 0
  let cursor: unknown
  do {
    const next = typeof cursor === 'string' ? `&cursor=${cursor}` : ''
    const page = await ask.json(`/v1/readings?limit=1000${query}${next}`)
    const readings = listOf(page['readings'])
    findings.same(() => `readings${query} count`, page['count'], readings.length)
    for (const reading of readings) {
      const one = expected[shown++]
      if (one !== undefined) checkOne(reading, one, seqOf, findings)
    }
    cursor = page['next_cursor']
    if (readings.length === 0) break
  } while (cursor !== null)
  findings.same(() => `readings${query} on all pages`, shown, expected.length)
}

/** A hash costs more than all the rest, so only one in this number is computed. */
const hashEach = 16

function checkOne(
  value: unknown,
  expected: ExpectedReading,
  seqOf: ReadonlyMap<string, number>,
  findings: Findings,
): void {
  const reading = fieldsOf(value)
  const nested = fieldsOf(reading['measurements'])
  const { sensor, timeMs, values, aqi, flags } = expected
  const where = (what: string) => () => `/v1/readings ${sensor} ${isoOf(timeMs)} ${what}`
  const is = (what: string, actual: unknown, wanted: unknown) =>
    findings.same(where(what), actual, wanted)
  is('sensor_id', reading['sensor_id'], sensor)
  is('timestamp', reading['timestamp'], isoOf(timeMs))
  for (const name of quantities) {
    const inUnits = values[name] === null ? null : values[name] / 100
    const wanted = inUnits === null && !basic.some((one) => one === name) ? undefined : inUnits
    is(name, reading[name], wanted)
    is(`measurements.${name}`, nested[name], wanted)
  }
  const { category, dominant, isBeyond } = indexOfReading(values)
  is('aqi', reading['aqi'], aqi)
  is('aqi_category', reading['aqi_category'], category)
  is('dominant_pollutant', reading['dominant_pollutant'], dominant)
  is('beyond_index', reading['beyond_index'], isBeyond)
  is('quality', reading['quality'], namesOfFlags(flags))
  const seq = seqOf.get(`${sensor} ${timeMs}`)
  if (seq === undefined || seq % hashEach !== 0) return
  is('hash', fieldsOf(reading['blockchain'])['hash'], hashOf(expected, seq))
}

const leafType =
  'airproof.reading.v2(bytes32 sensor,uint64 timeMs,uint64 seq,bytes32 area,uint32 flags,bytes32 values,uint16 aqi,bytes32 device)'
const words = [
  'bytes32',
  'bytes32',
  'uint64',
  'uint64',
  'bytes32',
  'uint32',
  'bytes32',
  'uint16',
  'bytes32',
].map((type) => ({ type }))
/** The number of a quantity in the leaf; the basic five are 0 to 4. */
const ids = { pm25: 0, pm10: 1, co2: 2, temperature: 3, humidity: 4 }
const otherIds = { pm1: 5, pm4: 6, pressure: 7, noise: 15 }
const idOf: Readonly<Record<Quantity, number>> = { ...ids, ...otherIds }
const noAqi = 65_535

/** Leaf 2 by viem's encoder: nine words, hashed twice; what is missing is not in `values`. */
function hashOf(
  { sensor, area, timeMs, values, aqi, flags }: ExpectedReading,
  seq: number,
): string {
  const present = quantities
    .filter((name) => values[name] !== null)
    .toSorted((a, b) => idOf[a] - idOf[b])
  const packed = encodePacked(
    present.flatMap(() => ['uint16', 'int64']),
    present.flatMap((name) => [idOf[name], BigInt(values[name] ?? 0)]),
  )
  const encoded = encodeAbiParameters(words, [
    keccak256(toBytes(leafType)),
    keccak256(toBytes(sensor)),
    BigInt(timeMs),
    BigInt(seq),
    keccak256(toBytes(area)),
    flags,
    keccak256(packed),
    aqi ?? noAqi,
    `0x${'0'.repeat(64)}`,
  ])
  return keccak256(keccak256(encoded))
}

async function checkCsv(
  id: string,
  expected: readonly ExpectedReading[],
  { ask, findings }: Options,
): Promise<void> {
  const text = await ask.text(`/v1/readings?limit=1000&sensor_id=${id}&format=csv`)
  const [header = '', ...lines] = text.trimEnd().split('\r\n')
  findings.same(() => `${id} as CSV`, lines.length, expected.length)
  const names = header.split(',')
  for (const [i, { timeMs, values, aqi }] of expected.entries()) {
    const cells = lines[i]?.split(',') ?? []
    const cell = (name: string): string | undefined => cells[names.indexOf(name)]
    const where = (name: string) => () => `CSV ${id} ${isoOf(timeMs)} ${name}`
    findings.same(where('timestamp'), cell('timestamp'), isoOf(timeMs))
    for (const name of quantities) {
      // a page without any has no column of it
      if (!names.includes(name) && !basic.some((one) => one === name) && values[name] === null)
        continue
      const wanted = values[name] === null ? '' : String(values[name] / 100)
      findings.same(where(name), cell(name), wanted)
    }
    findings.same(where('aqi'), cell('aqi'), aqi === null ? '' : String(aqi))
  }
}
