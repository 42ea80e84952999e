/**
 * The file of the embedded store. Sensors and areas are small integers, measured values integer
 * hundredths: 64 bytes a reading. `readings`, `area_hours` and `area_days` are for people.
 */
import { quantityNames } from '../../core/air/quantities.ts'
import { statFields, statNames, stepsPerUnit } from '../stat-fields.ts'

/**
 * The newest version of the schema (`user_version`). An older file is brought up to it when its
 * writer opens it (`migrate.ts`); a newer one is not opened. Columns that the table of quantities
 * has and the file lacks are added at any version, so a new quantity needs no new one.
 *
 * | version | since | what it brings |
 * |---|---|---|
 * | 1 | 0.1 | the basic five |
 * | 2 | 0.2 | every quantity of the table |
 */
export const schemaVersion = 2
/** The bytes "airp" in the file's header: this file is ours. */
export const applicationId = 0x61697270

/** The columns of `reading`, in the order of a packed row. */
export const readingColumns: readonly string[] = ['s', 'a', 't', 'aqi', 'flags', 'seq'].concat(
  quantityNames,
)

/** The columns of a roll-up: `pm25_n`, `pm25_mean` … `aqi_p98`. */
export const statColumns: readonly string[] = statFields.flatMap((field) =>
  statNames.map((name) => `${field}_${name}`),
)

export type RollupTable = 'area_hour' | 'area_day'

const statColumnsSql = statFields.flatMap((field) =>
  // a default, so that they can be added to rows that are there
  statNames.map(
    (name) => `${field}_${name} ${name === 'n' ? 'integer not null default 0' : 'real'}`,
  ),
)

/** The columns that grow with the table of quantities, as they are declared. */
export const grownColumns: Readonly<Record<'reading' | RollupTable, readonly string[]>> = {
  reading: quantityNames.map((name) => `${name} integer`),
  area_hour: statColumnsSql,
  area_day: statColumnsSql,
}

const rollup = (table: RollupTable): string => `
create table ${table}(
  a integer not null,
  t integer not null,
  readings integer not null,
  ${statColumnsSql.join(',\n  ')},
  primary key(a, t)
) without rowid, strict;`
const rollupView = (table: RollupTable): string => `
create view ${table}s as
  select area.name as area, ${isoTime(`${table}.t`)} as time, ${table}.t as time_ms, readings,
    ${statColumns.join(', ')}
  from ${table} join area on area.n = ${table}.a;`

const isoTime = (ms: string): string =>
  `strftime('%Y-%m-%dT%H:%M:%fZ', ${ms} / 1000.0, 'unixepoch')`

const inUnits = statFields
  .map((field) => (stepsPerUnit(field) === 1 ? `r.${field}` : `r.${field} / 100.0 as ${field}`))
  .join(', ')

/** Views are for people: they are made again whenever a column was added. */
export const viewsSql = `
drop view if exists readings;
drop view if exists area_hours;
drop view if exists area_days;
create view readings as
  select sensor.id as sensor_id, area.name as area, ${isoTime('r.t')} as time, r.t as time_ms,
    ${inUnits}, r.flags, r.seq
  from reading r join sensor on sensor.n = r.s join area on area.n = r.a;
${rollupView('area_hour')}
${rollupView('area_day')}
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
${rollup('area_hour')}
${rollup('area_day')}${viewsSql}
pragma application_id = ${applicationId};
pragma user_version = ${schemaVersion};
`
