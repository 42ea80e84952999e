/** Lines for InfluxDB, made by hand. Those of readings: `reading-lines.ts`. */
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import type { PackedDevice } from '../packed-readings.ts'
import { statFields, statNames } from '../stat-fields.ts'
import type { AreaStats, FieldStats, SensorStats, StatField } from '../store.ts'

export type RollupMeasurement = 'reading_1h' | 'reading_1d'
export type SensorMeasurement = 'sensor_1h' | 'sensor_1d'

/**
 * A bucket written again must replace the former one, but fields merge: `_n` is always written,
 * and where it is 0 the field's other statistics, then left out, count for nothing.
 */
export function rollupLine(measurement: RollupMeasurement, stats: AreaStats): string {
  const fields = statFields.flatMap((field) => [
    `${field}_n=${stats.fields[field].n}i`,
    ...valuesOf(field, stats.fields[field]),
  ])
  const counts = countsOf(stats).join(',')
  return `${measurement},area=${escapeTag(stats.area)} ${counts},${fields.join(',')} ${stats.startMs}`
}

/**
 * Only what has values takes space: a sensor's readings stay, so no field loses its values, unless an
 * earlier version wrote what failed.
 */
export function sensorLine(measurement: SensorMeasurement, stats: SensorStats): string {
  const fields = statFields.flatMap((field) => {
    const { n } = stats.fields[field]
    return n === 0 && stats.failed === 0
      ? []
      : [`${field}_n=${n}i`, ...valuesOf(field, stats.fields[field])]
  })
  return `${measurement},sensor_id=${escapeTag(stats.sensor)} ${[...countsOf(stats), ...fields].join(',')} ${stats.startMs}`
}

const countsOf = ({ readings, failed }: Pick<AreaStats, 'readings' | 'failed'>): string[] => [
  `readings=${readings}i`,
  ...(failed === null ? [] : [`failed=${failed}i`]),
]

const valuesOf = (field: StatField, stats: FieldStats): string[] =>
  statNames.flatMap((name) => {
    const value = stats[name]
    return name === 'n' || value === null || stats.n === 0 ? [] : [`${field}_${name}=${value}`]
  })

/** The fields of a reading that its device signed; each brings its comma. */
export const deviceFields = ({ device, signed }: PackedDevice): string =>
  `device=${quoted(device)},${signed === undefined ? '' : signatureFields(signed)}`

const signatureFields = ({ algorithm, publicKey, signature, text }: DeviceSignature): string =>
  `sig_algorithm=${quoted(algorithm)},sig_key=${quoted(publicKey)},sig=${quoted(signature)},sig_text=${quoted(inOneLine(text))},`

/** A field's text; a line break in it would part the line where the server's answer is read. */
export const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`
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
export const escapeTag = (value: string): string => value.replace(/[ ,=]/g, '\\$&')
