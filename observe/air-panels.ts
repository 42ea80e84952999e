/**
 * The dashboard of the air, for citizens and analysts: the same panels on either store, by the rows
 * that docs/analysts.md describes. `$area` and `$sensor` are chosen at its top.
 */
type Influx = { readonly bucket: 'air' | 'air_1h'; readonly query: string }

export type AirPanel = {
  readonly title: string
  readonly description: string
  readonly unit?: string
  readonly as: 'lines' | 'bars' | 'table'
  readonly bad?: readonly [number, number?]
  readonly influx: Influx
  readonly sqlite: string
}

/** The two choices: Grafana's variables. */
export const variables: Readonly<
  Record<string, { readonly label: string; readonly influx: Influx; readonly sqlite: string }>
> = {
  area: {
    label: 'Area',
    influx: { bucket: 'air_1h', query: 'SHOW TAG VALUES FROM reading_1h WITH KEY = area' },
    sqlite: 'select distinct area from area_hours order by area',
  },
  sensor: {
    label: 'Sensor',
    influx: { bucket: 'air_1h', query: 'SHOW TAG VALUES FROM sensor WITH KEY = sensor_id' },
    sqlite: 'select sensor_id from sensors order by sensor_id',
  },
}

const within = 'time_ms >= $__from and time_ms < $__to'
const inArea = 'area in (${area:sqlstring})'
const ofSensor = 'sensor_id in (${sensor:sqlstring})'
const chosenArea = 'area =~ /^${area:regex}$/'
const chosenSensor = 'sensor_id =~ /^${sensor:regex}$/'

const hourly = (field: string, n: string): Pick<AirPanel, 'influx' | 'sqlite'> => ({
  influx: {
    bucket: 'air_1h',
    query: `SELECT ${field} FROM reading_1h WHERE ${chosenArea} AND ${n} > 0 AND $timeFilter GROUP BY area`,
  },
  sqlite: `select time_ms / 1000 as time, area as metric, ${field} as value from area_hours where ${inArea} and ${n} > 0 and ${within} order by time_ms`,
})

/** WHO's guideline for 24 hours, and its interim target 3. */
const whoDay = [15, 37.5] as const

export const airPanels: readonly AirPanel[] = [
  {
    title: 'PM2.5 by day',
    description:
      'Means of UTC days. Orange: over WHO’s guideline of 15 µg/m³ for 24 hours; red: over its interim target 3',
    unit: 'conμgm3',
    as: 'bars',
    bad: whoDay,
    influx: {
      bucket: 'air_1h',
      query: `SELECT pm25_mean FROM reading_1d WHERE ${chosenArea} AND pm25_n > 0 AND $timeFilter GROUP BY area`,
    },
    sqlite: `select time_ms / 1000 as time, area as metric, pm25_mean as value from area_days where ${inArea} and pm25_n > 0 and ${within} order by time_ms`,
  },
  {
    title: 'PM2.5 by hour',
    description: 'Means of an area’s hours. The running hour is not there yet',
    unit: 'conμgm3',
    as: 'lines',
    bad: whoDay,
    ...hourly('pm25_mean', 'pm25_n'),
  },
  {
    title: 'Air quality index by hour',
    description:
      'Means of the US EPA index of single readings: 101 and more is unhealthy for sensitive groups, 151 and more for everyone',
    as: 'lines',
    bad: [101, 151],
    ...hourly('aqi_mean', 'aqi_n'),
  },
  {
    title: 'PM2.5: the worst of each hour',
    description: 'The 98th percentile of an area’s readings',
    unit: 'conμgm3',
    as: 'lines',
    ...hourly('pm25_p98', 'pm25_n'),
  },
  {
    title: 'Temperature by hour',
    description: 'As the sensors measured it: some are in the sun',
    unit: 'celsius',
    as: 'lines',
    ...hourly('temperature_mean', 'temperature_n'),
  },
  {
    title: 'Readings by hour',
    description:
      'How many the statistics are of. Fewer than usual: sensors are silent, and means are of less',
    as: 'lines',
    ...hourly('readings', 'readings'),
  },
  {
    title: 'Areas, worst first',
    description: 'Means of the hours of the chosen time',
    as: 'table',
    influx: {
      bucket: 'air_1h',
      query: `SELECT mean(pm25_mean) AS pm25, max(pm25_p98) AS pm25_p98, mean(aqi_mean) AS aqi FROM reading_1h WHERE pm25_n > 0 AND $timeFilter GROUP BY area`,
    },
    sqlite: `select area, round(avg(pm25_mean), 1) as pm25, max(pm25_p98) as pm25_p98, round(avg(aqi_mean)) as aqi from area_hours where pm25_n > 0 and ${within} group by area order by pm25 desc`,
  },
  {
    title: 'One sensor: PM2.5',
    description: 'Its readings as they were accepted, uncorrected',
    unit: 'conμgm3',
    as: 'lines',
    influx: {
      bucket: 'air',
      query: `SELECT mean(pm25) FROM reading WHERE ${chosenSensor} AND $timeFilter GROUP BY time($__interval), sensor_id fill(none)`,
    },
    sqlite: `select time_ms / 1000 as time, sensor_id as metric, pm25 as value from readings where ${ofSensor} and pm25 is not null and ${within} order by time_ms limit 20000`,
  },
  {
    title: 'One sensor: flagged readings',
    description:
      'Those with a flag of docs/analysts.md, by hour: something about them is unusual, or they failed',
    as: 'bars',
    influx: {
      bucket: 'air',
      query: `SELECT count(seq) FROM reading WHERE ${chosenSensor} AND flags > 0 AND $timeFilter GROUP BY time(1h), sensor_id fill(none)`,
    },
    sqlite: `select time_ms / 3600000 * 3600 as time, sensor_id as metric, count(*) as value from readings where ${ofSensor} and flags > 0 and ${within} group by 1, 2 order by 1`,
  },
]
