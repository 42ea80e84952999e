/**
 * The file of the embedded store. Sensors and areas are small integers, measured values integer
 * hundredths: 64 bytes per reading. `readings`, `signatures`, `area_hours`, `area_days`,
 * `sensor_hours` and `sensor_days` are for people.
 */
import { signatureAlgorithms } from '../../core/air/device-signature.ts'
import { quantityIds, quantityNames } from '../../core/air/quantities.ts'
import { statFields, statNames, stepsPerUnit } from '../stat-fields.ts'
import type { StatField } from '../store.ts'

/**
 * The newest version of the schema (`user_version`). An older file is brought up to it when its
 * writer opens it (`migrate.ts`); a newer one is not opened. Columns that the table of quantities
 * has and the file lacks are added at any version, so a new quantity needs no new one.
 *
 * | version | since | what it brings |
 * |---|---|---|
 * | 1 | 0.1 | the basic five |
 * | 2 | 0.2 | every quantity of the table |
 * | 3 | 0.2 | the version of a reading's leaf, and signatures of devices |
 * | 4 | 0.2 | hours and days of sensors |
 * | 5 | 0.2 | statistics count the failed readings, which are in them no more |
 * | 6 | 0.2 | which readings were back-fill when they arrived |
 * | 7 | 0.2 | how often each value is there in an area's hour |
 */
export const schemaVersion = 7
/** The bytes "airp" in the file's header: this file is ours. */
export const applicationId = 0x61697270

/** The columns of `signature`; those of `reading` are in `pack.ts`. */
export const signatureColumns = ['s', 't', 'algorithm', 'key', 'signature', 'text'] as const

/** The columns of a roll-up: `pm25_n`, `pm25_mean` … `aqi_p98`. */
export const statColumns: readonly string[] = statFields.flatMap((field) =>
  statNames.map((name) => `${field}_${name}`),
)

export type RollupTable = 'area_hour' | 'area_day'
export type SensorTable = 'sensor_hour' | 'sensor_day'

/**
 * The number of a field in a sensor's hour or day: the id of a quantity; the index has one that no
 * quantity gets.
 */
export const fieldNumber = (field: StatField): number => (field === 'aqi' ? -1 : quantityIds[field])

/** In the place of a field: all readings of the hour or day failed, so no field has values. */
export const noField = -2

const statColumnsSql = statFields.flatMap((field) =>
  // a default, so that they can be added to rows that are there
  statNames.map(
    (name) => `${field}_${name} ${name === 'n' ? 'integer not null default 0' : 'real'}`,
  ),
)

/** null: an earlier version wrote the row, and those that failed are in its statistics. */
const failedSql = 'failed integer'

/** The columns that a file of an earlier version may lack, as they are declared. */
export const grownColumns: Readonly<
  Record<'reading' | RollupTable | SensorTable, readonly string[]>
> = {
  reading: [
    ...quantityNames.map((name) => `${name} integer`),
    'leaf integer',
    'device blob',
    'backfill integer',
  ],
  area_hour: [failedSql, ...statColumnsSql],
  area_day: [failedSql, ...statColumnsSql],
  sensor_hour: [failedSql],
  sensor_day: [failedSql],
}

const rollup = (table: RollupTable): string => `
create table ${table}(
  a integer not null,
  t integer not null,
  readings integer not null,
  ${grownColumns[table].join(',\n  ')},
  primary key(a, t)
) without rowid, strict;`
const rollupView = (table: RollupTable): string => `
create view ${table}s as
  select area.name as area, ${isoTime(`${table}.t`)} as time, ${table}.t as time_ms, readings, failed,
    ${statColumns.join(', ')}
  from ${table} join area on area.n = ${table}.a;`

const isoTime = (ms: string): string =>
  `strftime('%Y-%m-%dT%H:%M:%fZ', ${ms} / 1000.0, 'unixepoch')`

const inUnits = statFields
  .map((field) => (stepsPerUnit(field) === 1 ? `r.${field}` : `r.${field} / 100.0 as ${field}`))
  .join(', ')

/** null stays null, of which `hex` makes an empty text. */
const hexText = (blob: string): string => `'0x' || nullif(lower(hex(${blob})), '')`

const algorithmText = `case signature.algorithm ${Object.entries(signatureAlgorithms)
  .map(([name, byte]) => `when ${byte} then '${name}'`)
  .join(' ')} end`

/**
 * A row per quantity that has values, so that the others take no space. Values are in steps, as in
 * `reading`; only the middle of two values may lie between two steps.
 */
export const sensorColumns = [
  's',
  't',
  'field',
  'readings',
  'failed',
  'n',
  'sum',
  'sd',
  'min',
  'q02',
  'q25',
  'p50',
  'q75',
  'p98',
  'max',
] as const
const realColumns: readonly string[] = ['sd', 'p50']

function sensorRollup(table: SensorTable): string {
  const columns = sensorColumns.map((name) => {
    if (realColumns.includes(name)) return `${name} real`
    if (name === 'failed') return failedSql
    return `${name} integer not null`
  })
  return `create table if not exists ${table}(
  ${columns.join(',\n  ')},
  primary key(s, t, field)
) without rowid, strict;`
}

/** In units; a row per quantity, as in the table. Without one: all readings failed. */
function sensorView(table: SensorTable): string {
  const name = statFields.map((field) => `when ${fieldNumber(field)} then '${field}'`).join(' ')
  const unit = `(case h.field when ${fieldNumber('aqi')} then 1.0 else 100.0 end)`
  const values = sensorColumns
    .slice(sensorColumns.indexOf('sd'))
    .map((column) => `iif(h.n = 0, null, h.${column} / ${unit}) as ${column}`)
  return `
create view ${table}s as
  select sensor.id as sensor_id, ${isoTime('h.t')} as time, h.t as time_ms, h.readings, h.failed,
    case h.field ${name} end as quantity, h.n, h.sum / ${unit} / h.n as mean, ${values.join(', ')}
  from ${table} h join sensor on sensor.n = h.s;`
}

/** Tables that a file of an earlier version lacks. */
export const addedTablesSql = `
create table if not exists signature(
  s integer not null,
  t integer not null,
  algorithm integer not null,
  key blob not null,
  signature blob not null,
  text text not null,
  primary key(s, t)
) without rowid, strict;
-- for statistics of many hours (\`hour-values.ts\`); not for people
create table if not exists area_hour_values(
  a integer not null,
  t integer not null,
  counted blob not null,
  primary key(a, t)
) without rowid, strict;
${sensorRollup('sensor_hour')}
${sensorRollup('sensor_day')}`

/** Views are for people: they are made again whenever a column was added. */
export const viewsSql = `
drop view if exists readings;
drop view if exists signatures;
drop view if exists area_hours;
drop view if exists area_days;
drop view if exists sensor_hours;
drop view if exists sensor_days;
create view readings as
  select sensor.id as sensor_id, area.name as area, ${isoTime('r.t')} as time, r.t as time_ms,
    ${inUnits}, r.flags, r.seq, coalesce(r.leaf, 1) as leaf_version, ${hexText('r.device')} as device,
    coalesce(r.backfill, 0) as backfill
  from reading r join sensor on sensor.n = r.s join area on area.n = r.a;
create view signatures as
  select sensor.id as sensor_id, ${isoTime('signature.t')} as time, signature.t as time_ms,
    ${algorithmText} as algorithm, ${hexText('signature.key')} as public_key,
    ${hexText('signature.signature')} as signature, signature.text
  from signature join sensor on sensor.n = signature.s;
${rollupView('area_hour')}
${rollupView('area_day')}
${sensorView('sensor_hour')}
${sensorView('sensor_day')}
`

export const schemaSql = `
create table sensor(n integer primary key, id text not null unique) strict;
create table area(n integer primary key, name text not null unique) strict;

-- which sensors ever stood in an area: statistics of one area read no other sensor's rows
create table sensor_area(a integer not null, s integer not null, primary key(a, s)) without rowid, strict;

create table reading(
  s integer not null,
  t integer not null,
  a integer not null,
  ${grownColumns.reading.join(', ')},
  aqi integer,
  flags integer not null,
  seq integer not null,
  primary key(s, t)
) without rowid, strict;
create index reading_t on reading(t);
${addedTablesSql}${rollup('area_hour')}
${rollup('area_day')}${viewsSql}
pragma application_id = ${applicationId};
pragma user_version = ${schemaVersion};
`
