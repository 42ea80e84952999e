/** The dashboard of the air: every panel and both choices find something in each store. */
import { join } from 'node:path'
import { InfluxDB } from '@influxdata/influxdb-client'
import { expect, test } from 'vitest'
import { airPanels, variables } from '../../observe/air-panels.ts'
import { rollupBucketOf } from '../../store/influx/influx.ts'
import { influxQuery } from '../../store/influx/query.ts'
import { openSqliteFile } from '../../store/sqlite/file.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { influxMissing, testInflux } from '../support/influx.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { fill, span } from './analysts-day.ts'
import { sensorId } from './store-rows.ts'

/** What Grafana puts into a query, for one area and one sensor. */
const inGrafana: Readonly<Record<string, string>> = {
  $__from: String(span.from),
  $__to: String(span.to),
  '${area:sqlstring}': "'Ikeja'",
  '${area:regex}': 'Ikeja',
  '${sensor:sqlstring}': `'${sensorId(17)}'`,
  '${sensor:regex}': sensorId(17),
  $timeFilter: `time >= ${span.from}ms and time <= ${span.to}ms`,
  $__interval: '1h',
}
const filled = (query: string): string => {
  const text = Object.entries(inGrafana).reduce(
    (done, [name, value]) => done.replaceAll(name, value),
    query,
  )
  expect(text.replaceAll('$/', '')).not.toContain('$')
  return text
}
const asked = [
  ...airPanels,
  ...Object.values(variables).map(({ label, ...rest }) => ({ title: label, ...rest })),
]
/** The test's day has none for the sensor: its query is tried, and is empty. */
const isEmpty = 'One sensor: flagged readings'

test('on SQLite, whose times are Unix seconds and not strings', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'readings.sqlite')
  {
    await using store = await openSqliteStore({ file })
    await fill(store)
  }
  using db = openSqliteFile(file, true)
  const empty: string[] = []
  const wrong: unknown[] = []
  for (const { title, sqlite } of asked) {
    const rows = db.all(filled(sqlite))
    if (rows.length === 0) empty.push(title)
    const isInTime = ([time]: (typeof rows)[number]): boolean =>
      Number(time) * 1_000 >= span.from && Number(time) * 1_000 < span.to
    if (/ as time\b/.test(sqlite)) wrong.push(...rows.filter((row) => !isInTime(row)))
  }
  expect(empty).toEqual([isEmpty])
  expect(wrong).toEqual([])
})

const missing = await influxMissing()

test.skipIf(missing !== undefined)(
  `on InfluxDB, with a token that only reads${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  async () => {
    await using server = await testInflux()
    const bucket = await server.newBucket()
    await using store = await bucket.open()
    await fill(store)
    const { transport } = new InfluxDB({ url: bucket.url, token: await bucket.newReadToken() })
    const empty: string[] = []
    for (const { title, influx } of asked) {
      const name = influx.bucket === 'air' ? bucket.bucket : rollupBucketOf(bucket.bucket)
      const [series = []] = await influxQuery(transport, name, 'InfluxDB')(filled(influx.query), {})
      if (series.flatMap(({ values }) => values).length === 0) empty.push(title)
    }
    expect(empty).toEqual([isEmpty])
  },
)
