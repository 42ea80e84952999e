/**
 * Lines for InfluxDB, made by hand: the client's `Point` costs three times as much a row.
 * Measured values are float fields in their unit; `aqi`, `flags` and `seq` integers.
 */
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { statFields, statNames } from '../stat-fields.ts'
import type { AreaStats, FieldStats, SensorStats, StatField, StoreRow } from '../store.ts'

export type RollupMeasurement = 'reading_1h' | 'reading_1d'
export type SensorMeasurement = 'sensor_1h' | 'sensor_1d'

/** More sensors than a process has; beyond it the prefixes are made again. */
const mostPrefixes = 200_000

/** Makes the lines of readings and keeps, for each sensor, what all of its lines begin with. */
export function readingLines(): (row: StoreRow) => string {
  const prefixes = new Map<SensorId, { readonly area: string; readonly text: string }>()
  const prefixOf = ({ sensor, area }: Reading): string => {
    const known = prefixes.get(sensor)
    if (known?.area === area) return known.text
    if (prefixes.size >= mostPrefixes) prefixes.clear()
    const text = `reading,area=${escapeTag(area)},sensor_id=${escapeTag(sensor)} `
    prefixes.set(sensor, { area, text })
    return text
  }
  return (row) => {
    // integers end every line, so each value brings its own comma
    let line = prefixOf(row)
    const { values } = row
    for (let id = 0; id < values.length; id++) {
      const value = values[id] ?? null
      if (value !== null) line += `${quantityNames[id]}=${value / 100},`
    }
    if (row.aqi !== null) line += `aqi=${row.aqi}i,`
    if (row.leafVersion !== undefined) line += `leaf=${row.leafVersion}i,`
    if (row.device !== undefined) line += `device=${quoted(row.device)},`
    if (row.device !== undefined && row.signed !== undefined) line += signatureFields(row.signed)
    return `${line}flags=${row.flags}i,seq=${row.seq}i ${row.timeMs}`
  }
}

/**
 * A bucket written again must replace the former one, but fields merge: `_n` is always written,
 * and where it is 0 the field's other statistics, then left out, count for nothing.
 */
export function rollupLine(measurement: RollupMeasurement, stats: AreaStats): string {
  const fields = statFields.flatMap((field) => [
    `${field}_n=${stats.fields[field].n}i`,
    ...valuesOf(field, stats.fields[field]),
  ])
  return `${measurement},area=${escapeTag(stats.area)} readings=${stats.readings}i,${fields.join(',')} ${stats.startMs}`
}

/** Only what has values takes space: a sensor's readings stay, so no field loses its values. */
export function sensorLine(measurement: SensorMeasurement, stats: SensorStats): string {
  const fields = statFields.flatMap((field) => {
    const { n } = stats.fields[field]
    return n === 0 ? [] : [`${field}_n=${n}i`, ...valuesOf(field, stats.fields[field])]
  })
  return `${measurement},sensor_id=${escapeTag(stats.sensor)} ${[`readings=${stats.readings}i`, ...fields].join(',')} ${stats.startMs}`
}

const valuesOf = (field: StatField, stats: FieldStats): string[] =>
  statNames.flatMap((name) => {
    const value = stats[name]
    return name === 'n' || value === null || stats.n === 0 ? [] : [`${field}_${name}=${value}`]
  })

const signatureFields = ({ algorithm, publicKey, signature, text }: DeviceSignature): string =>
  `sig_algorithm=${quoted(algorithm)},sig_key=${quoted(publicKey)},sig=${quoted(signature)},sig_text=${quoted(inOneLine(text))},`

/** A field's text; a line break in it would part the line where the server's answer is read. */
const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`
const inOneLine = (text: string): string => JSON.stringify(text).slice(1, -1)
/** The text that was written by `inOneLine`; undefined: something else wrote it. */
export function fromOneLine(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(`"${text}"`)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** A tag's value cannot hold a line break or end in a backslash: `row-fault.ts` sees to it. */
const escapeTag = (value: string): string => value.replace(/[ ,=]/g, '\\$&')
