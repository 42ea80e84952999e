/** What the service must know after archives were replayed into an empty city. */
import { readFileSync } from 'node:fs'
import { type PlainFormat, type PlainReading, readPlainly } from './plain-archive.ts'
import { plainHistory } from './plain-history.ts'
import { flagsOf, indexOfReading, judged, quantities, type Values } from './plain-values.ts'

export type ArchiveToReplay = {
  readonly format: PlainFormat
  readonly files: readonly string[]
  /** The AREA part of the ids. */
  readonly code: string
  readonly area: string
  /** Lines `id,area,lat,lon,address,cadence,from`, for archives that do not name the places. */
  readonly sensorsFile?: string
}

export type ExpectedReading = {
  readonly sensor: string
  readonly area: string
  readonly timeMs: number
  readonly values: Values
  readonly aqi: number | null
  readonly flags: number
}

export type ExpectedSite = {
  readonly fromMs: number
  readonly area: string
  readonly lat: number
  readonly lon: number
  readonly address: string
}

export type ExpectedSensor = {
  readonly id: string
  readonly cadenceMs: number
  /** Oldest first. */
  readonly sites: readonly ExpectedSite[]
  /** Those accepted, oldest first. */
  readonly readings: readonly ExpectedReading[]
}

export type ExpectedVerdicts = {
  readonly sent: number
  readonly accepted: number
  readonly duplicate: number
  readonly conflict: number
  /** By reason, in the order of the alphabet. */
  readonly refused: Readonly<Record<string, number>>
  readonly unmapped: number
}

export type ExpectedArchive = {
  readonly rows: number
  /** Rows that are values of the readings; the others are unmapped. */
  readonly values: number
  readonly first: ExpectedVerdicts
  /** Of the same files sent once more. */
  readonly again: ExpectedVerdicts
  readonly sensors: readonly ExpectedSensor[]
}

const defaultCadenceMs = 300_000
const earliestMs = Date.UTC(2015, 0, 1)
const stuckAfter = 24

export function expectArchive(archive: ArchiveToReplay): ExpectedArchive {
  const { rows, unmapped, readings } = readPlainly(archive.files, archive.format)
  const idOf = (name: string): string =>
    /^[A-Z]+-/.test(name) ? name : `NGR-LOS-${archive.code}-${name.padStart(3, '0')}`
  const listed = archive.sensorsFile === undefined ? undefined : listedSites(archive.sensorsFile)
  const bySensor = Map.groupBy(readings, ({ sensor }) => idOf(sensor))
  const expected = [...bySensor].map(([id, own]) => {
    const inOrder = own.toSorted((a, b) => a.timeMs - b.timeMs)
    const sites = listed?.get(id) ?? sitesOf(inOrder, archive.area)
    return expectedOf(id, sites, inOrder)
  })
  const count = (verdict: string): number =>
    expected.reduce((sum, { verdicts }) => sum + verdicts.filter((v) => v === verdict).length, 0)
  const refused = Object.fromEntries(
    ['out_of_range', 'schema', 'too_old']
      .map((why) => [why, count(why)])
      .filter(([, n]) => n !== 0),
  )
  const first = {
    sent: readings.length,
    accepted: count('accepted'),
    duplicate: count('duplicate'),
    conflict: count('conflict'),
    refused,
    unmapped,
  }
  const valuesOf = ({ values }: PlainReading): number =>
    quantities.filter((name) => values[name] !== null).length
  return {
    rows,
    values: readings.reduce((sum, reading) => sum + valuesOf(reading), 0),
    first,
    again: { ...first, accepted: 0, duplicate: first.accepted + first.duplicate },
    sensors: expected.map(({ sensor }) => sensor).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  }
}

type Expected = { readonly sensor: ExpectedSensor; readonly verdicts: readonly string[] }

/** @param inOrder by time, and of one time as they were sent */
function expectedOf(
  id: string,
  sites: readonly ExpectedSite[],
  inOrder: readonly PlainReading[],
): Expected {
  const accepted: ExpectedReading[] = []
  let lastHumidity: number | null = null
  let run = 0
  const historyOf = plainHistory()
  const verdicts = inOrder.map(({ timeMs, values: raw }) => {
    if (Number.isNaN(timeMs)) return 'schema'
    const { values, flags } = judged(raw)
    if (quantities.every((name) => values[name] === null)) return 'out_of_range'
    if (timeMs < earliestMs) return 'too_old'
    const newest = accepted.at(-1)
    if (newest?.timeMs === timeMs) return isSame(newest.values, values) ? 'duplicate' : 'conflict'
    if (values.humidity !== null) {
      run = values.humidity === lastHumidity ? run + 1 : 1
      lastHumidity = values.humidity
    }
    const isStuck = values.humidity !== null && run >= stuckAfter
    accepted.push({
      sensor: id,
      area: (sites.findLast(({ fromMs }) => fromMs <= timeMs) ?? sites[0])?.area ?? '',
      timeMs,
      values,
      aqi: indexOfReading(values).aqi,
      flags: flags + (isStuck ? flagsOf('humidity_stuck') : 0) + historyOf({ timeMs, values }),
    })
    return 'accepted'
  })
  return { sensor: { id, cadenceMs: defaultCadenceMs, sites, readings: accepted }, verdicts }
}

const isSame = (a: Values, b: Values): boolean => quantities.every((name) => a[name] === b[name])

/** A site for each stay at a place of another name. */
function sitesOf(inOrder: readonly PlainReading[], area: string): ExpectedSite[] {
  const timed = inOrder.filter(({ timeMs }) => !Number.isNaN(timeMs))
  return timed.flatMap(({ timeMs, place }, i) => {
    if (place === undefined || place.location === timed[i - 1]?.place?.location) return []
    const { lat, lon, location } = place
    return [{ fromMs: timeMs, area, lat, lon, address: `location ${location}` }]
  })
}

function listedSites(file: string): Map<string, ExpectedSite[]> {
  const [, ...lines] = readFileSync(file, 'utf8').trim().split('\n')
  return new Map(
    lines.map((line) => {
      const [id = '', area = '', lat, lon, address = '', , from = ''] = line.split(',')
      const site = { fromMs: Date.parse(from), area, lat: Number(lat), lon: Number(lon), address }
      return [id, [site]]
    }),
  )
}
