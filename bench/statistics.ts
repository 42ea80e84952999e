/**
 * What statistics of a year cost the store: `node bench/statistics.ts [--days 365]` prints one JSON
 * document, for SQLite. A sensor and an area of ten send every five minutes; hours and days are written.
 *
 * - `localDays`: every local day (Africa/Lagos) of a sensor, from hours; `ratio`: to the same from all
 *   of its readings.
 * - `areaYear`: every local day of the area, from hours.
 * - `cpuMs`: of the whole process for each query; it says more than times on a machine that is busy.
 * - `bytesPerSensorHour`: of the file, for the hours and days of the basic five and the index;
 *   `readingBytes`: of a reading, of which there are twelve in an hour.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { wholeNetwork } from '../core/air/area.ts'
import { basicNames } from '../core/air/quantities.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import { stepStarts, timeZoneOf, utc } from '../core/local-time.ts'
import { dayMs, minuteMs } from '../core/time.ts'
import { openSqliteStore } from '../store/sqlite/sqlite.ts'
import type { StatQuery, Store, StoreRow } from '../store/store.ts'
import { readingOf } from '../test/support/readings.ts'
import { temporaryFolder } from '../test/support/temporary-folder.ts'

const { values: flags } = parseArgs({ options: { days: { type: 'string', default: '365' } } })
const days = Number(flags.days)
const startMs = Date.UTC(2025, 0, 1)
const toMs = startMs + days * dayMs
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ids of our own
const ids = Array.from({ length: 10 }, (_, n) => `NGR-LOS-IKJ-${100 + n}` as SensorId)
const rounds = 15

async function fill(store: Store): Promise<void> {
  let seq = 0
  for (const sensor of ids) {
    let rows: StoreRow[] = []
    for (let timeMs = startMs; timeMs < toMs; timeMs += 5 * minuteMs) {
      seq++
      const pm25 = (seq * 7_919) % 8_009
      const weather = {
        co2: 41_000 + (seq % 900),
        temperature: 2_500 + (seq % 700),
        humidity: 6_500,
      }
      rows.push(
        readingOf({ sensor, timeMs, pm25, pm10: 2 * pm25, ...weather, aqi: seq % 201, seq }),
      )
      if (rows.length < 20_000) continue
      await store.writeBatch(rows)
      rows = []
    }
    await store.writeBatch(rows)
  }
}

async function rollUp(store: Store): Promise<void> {
  for (let from = startMs; from < toMs; from += 10 * dayMs) {
    const to = Math.min(toMs, from + 10 * dayMs)
    await store.writeSensorHours(await store.computeSensors(ids, from, to, 'hour'))
    await store.writeSensorDays(await store.computeSensors(ids, from, to, 'day'))
  }
}

async function rollUpAreas(store: Store): Promise<void> {
  for (const area of ['Ikeja', wholeNetwork]) {
    await store.writeAreaHours(await store.computeBuckets(area, startMs, toMs, 'hour'))
    await store.writeAreaDays(await store.computeBuckets(area, startMs, toMs, 'day'))
  }
}

async function time(work: () => Promise<unknown>) {
  await work()
  const ms: number[] = []
  const cpu = process.cpuUsage()
  for (let round = 0; round < rounds; round++) {
    const before = performance.now()
    await work()
    ms.push(performance.now() - before)
  }
  ms.sort((a, b) => a - b)
  const { user, system } = process.cpuUsage(cpu)
  const cpuMs = tenths((user + system) / 1_000 / rounds)
  return { p50Ms: tenths(ms[rounds >> 1]), bestMs: tenths(ms[0]), cpuMs }
}
const tenths = (value = Number.NaN): number => Math.round(value * 10) / 10

using folder = temporaryFolder()
const file = join(folder.path, 'readings.sqlite')
const sizeOf = (): number => statSync(file).size
let readingBytes = 0
{
  await using store = await openSqliteStore({ file })
  await fill(store)
}
readingBytes = sizeOf()
{
  await using store = await openSqliteStore({ file })
  await rollUp(store)
}
const sensorBytes = sizeOf() - readingBytes
{
  await using store = await openSqliteStore({ file })
  await rollUpAreas(store)
}
await using store = await openSqliteStore({ file })
const starts = stepStarts({ fromMs: startMs, toMs }, 'day', timeZoneOf('Africa/Lagos') ?? utc, 400)
const query = (of: StatQuery['of'], from: StatQuery['from'], fields: StatQuery['fields']) => ({
  of,
  edges: [...starts, toMs],
  steps: starts.map((_, at) => at),
  fields,
  from,
  unwritten: new Set<number>(),
  writtenFromMs: 0,
})
const [first] = ids
if (first === undefined) throw new Error('there are sensors')
const all = [...basicNames, 'aqi'] as const
const localDays = await time(() => store.statistics(query({ sensors: [first] }, 'hour', all)))
const ofTwo = await time(() =>
  store.statistics(query({ sensors: [first] }, 'hour', ['pm25', 'pm10'])),
)
const raw = await time(() => store.statistics(query({ sensors: [first] }, 'readings', all)))
const areaYear = await time(() => store.statistics(query({ area: 'Ikeja' }, 'hour', all)))
const rows = (toMs - startMs) / (5 * minuteMs)
console.log(
  JSON.stringify(
    {
      days,
      readingsPerSensor: rows,
      localDays: {
        ...localDays,
        pmOnly: ofTwo,
        fromReadings: raw,
        ratio: tenths(raw.p50Ms / localDays.p50Ms),
      },
      areaYear,
      readingBytes: tenths(readingBytes / rows / ids.length),
      bytesPerSensorHour: tenths(sensorBytes / days / 24 / ids.length),
    },
    undefined,
    2,
  ),
)
