/** What lies where in an archive. Every path is relative to its folder, with slashes. */
import { dayMs } from '../../core/time.ts'

export const catalogueFile = 'catalogue.json'
export const sensorsFile = 'sensors.parquet'
/** What the columns of a kind of file are, for `datapackage.json`. */
const schemaFiles = [
  'schemas/readings.json',
  'schemas/sensors.json',
  'schemas/area_statistics.json',
  'schemas/sensor_statistics.json',
] as const
export type SchemaFile = (typeof schemaFiles)[number]
/** Descriptions of the same files for programs that read other catalogues. */
export const descriptionFiles = ['datapackage.json', 'croissant.json', ...schemaFiles] as const

export const runManifest = (run: number): string => `runs/run-${run}.manifest.json`

const dated = (tree: string, timeMs: number, name: string): string => {
  const [year, month, day] = dayName(timeMs).split('-')
  return `${tree}/year=${year}/month=${month}/day=${day}/${name}`
}

/** Readings that were measured on a day and accepted in a run. */
export const readingsFile = (dayStartMs: number, run: number): string =>
  dated('readings', dayStartMs, `part-${run}.parquet`)
/** The hash of each of those readings, in the same order. */
export const hashesFile = (dayStartMs: number, run: number): string =>
  dated('hashes', dayStartMs, `part-${run}.parquet`)

/** The hours of all areas in a month, and the days of all areas in a year. */
export const hoursFile = (timeMs: number): string => {
  const [year, month] = dayName(timeMs).split('-')
  return `statistics/area_hours/year=${year}/month=${month}/areas.parquet`
}
export const daysFile = (timeMs: number): string =>
  `statistics/area_days/year=${dayName(timeMs).slice(0, 4)}/areas.parquet`

/** The hours of all sensors in a day, and the day of each. */
export const sensorHoursFile = (dayStartMs: number): string =>
  dated('statistics/sensor_hours', dayStartMs, 'sensors.parquet')
export const sensorDaysFile = (dayStartMs: number): string =>
  dated('statistics/sensor_days', dayStartMs, 'sensors.parquet')

/** `2026-11-22` of any time of that UTC day. */
export const dayName = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10)

/** Of a day's name. */
export const dayStart = (day: string): number => Date.parse(`${day}T00:00:00Z`)
export const dayEnd = (day: string): number => dayStart(day) + dayMs

const dayTree =
  /^(readings|hashes)\/year=\d{4}\/month=\d{2}\/day=\d{2}\/part-([1-9]\d{0,8})\.parquet$/
const others = new RegExp(
  `^(${[
    'runs/run-[1-9]\\d{0,8}\\.manifest\\.json',
    'sensors\\.parquet',
    'statistics/area_hours/year=\\d{4}/month=\\d{2}/areas\\.parquet',
    'statistics/area_days/year=\\d{4}/areas\\.parquet',
    'statistics/sensor_(hours|days)/year=\\d{4}/month=\\d{2}/day=\\d{2}/sensors\\.parquet',
  ].join('|')})$`,
)

/** Whether a file may be there under that name. No other path is ever written, served or fetched. */
export const isArchivePath = (path: string): boolean => dayTree.test(path) || others.test(path)

/** The run that wrote it, of a file of readings or hashes. */
export function runOfPath(path: string): number | undefined {
  const [, , run] = dayTree.exec(path) ?? []
  return run === undefined ? undefined : Number(run)
}
