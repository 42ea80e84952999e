/**
 * What a reading takes on the disk: store, hours and days, log, leaves, archive, and what each batch takes
 * beside; and the gigabytes of a year for networks of three sizes, with and without retention.
 * Usage: node bench/sizing.ts [--sensors 200] [--days 4]
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { jetstreamManager } from '@nats-io/jetstream'
import { wholeNetwork } from '../core/air/area.ts'
import { partitionCount } from '../core/air/sensor-id.ts'
import { dayMs, minuteMs } from '../core/time.ts'
import { bucketStream } from '../runtime/nats/streams/stream-table.ts'
import { blobsStream, buckets, readingsStream } from '../schemas/subjects.ts'
import { archivedCity, todayMs } from '../test/support/archived-city.ts'
import { walkingSensors } from './walking-sensors.ts'

const { values } = parseArgs({
  options: {
    sensors: { type: 'string', default: '200' },
    days: { type: 'string', default: '4' },
  },
})
const [sensorCount, days] = [Number(values.sensors), Number(values.days)]
const areas = 20
/** Five values and the index, every five minutes. */
const sensors = walkingSensors({ count: sensorCount, areas, mostOffsetMs: 5 * minuteMs })

await using city = await archivedCity({ hasLeaf1: false, isEmpty: true })
const manager = await jetstreamManager(city.nc)
const bytesIn = async (stream: string): Promise<number> =>
  (await manager.streams.info(stream)).state.bytes
const store = new DatabaseSync(city.storeFile, { readOnly: true })
const storeBytes = (): number => {
  const pages = store
    .prepare('select page_count * page_size as bytes from pragma_page_count, pragma_page_size')
    .get()
  return Number(pages?.['bytes'])
}
const before = {
  store: storeBytes(),
  log: await bytesIn(readingsStream),
  blobs: await bytesIn(blobsStream),
  batches: await bytesIn(bucketStream(buckets.batches)),
  proofs: await bytesIn(bucketStream(buckets.proofs)),
}

const fromMs = todayMs - (days + 3) * dayMs
/** As a pipeline commits them: some ten readings of a partition at a time. */
const perMessage = 12
const from = city.log.written.length
for (let at = 0; at < days * 288; at++) {
  for (let partition = 0; partition < partitionCount; partition++) {
    const own = sensors.filter((_, sensor) => sensor % partitionCount === partition)
    for (let first = 0; first < own.length; first += perMessage) {
      const some = own.slice(first, first + perMessage)
      let next = 0
      await city.log.write({
        partition,
        readings: some.length,
        leafVersion: 2,
        change: (reading) => some[next++]!.measure(fromMs + at * 5 * minuteMs, reading),
      })
    }
  }
}
const log = await bytesIn(readingsStream)
await city.settle()
const count = city.log.written.length - from
const rows = storeBytes()
const toMs = fromMs + (days + 1) * dayMs
const ids = sensors.map(({ id }) => id)
for (let at = 0; at < ids.length; at += 20) {
  const some = ids.slice(at, at + 20)
  await city.store.writeSensorHours(await city.store.computeSensors(some, fromMs, toMs, 'hour'))
  await city.store.writeSensorDays(await city.store.computeSensors(some, fromMs, toMs, 'day'))
}
const withSensors = storeBytes()
for (const area of [wholeNetwork, ...new Set(sensors.map((sensor) => sensor.area))]) {
  await city.store.writeAreaHours(await city.store.computeBuckets(area, fromMs, toMs, 'hour'))
  await city.store.writeAreaDays(await city.store.computeBuckets(area, fromMs, toMs, 'day'))
}
const withAreas = storeBytes()
const { catalogue } = await city.archive(join(city.folder, 'archive'))
const archive = catalogue.runs
  .flatMap(({ files }) => files)
  .reduce((sum, { bytes }) => sum + bytes, 0)
const manifests = catalogue.runs.reduce((sum, { bytes }) => sum + bytes, 0)
const batches = catalogue.end.batch - 1
const perBatch = (bytes: number): number => Math.round(bytes / batches)
const each = (bytes: number): number => Math.round((bytes / count) * 10) / 10

const reading = {
  store: each(rows - before.store),
  sensorHours: each(withSensors - rows),
  log: each(log - before.log),
  blobs: each((await bytesIn(blobsStream)) - before.blobs),
  archive: each(archive),
}
const batch = {
  records: perBatch((await bytesIn(bucketStream(buckets.batches))) - before.batches),
  proofs: perBatch((await bytesIn(bucketStream(buckets.proofs))) - before.proofs),
  manifest: perBatch(manifests),
}
const areaDay = Math.round((withAreas - withSensors) / (days * (areas + 1)))
console.log(
  JSON.stringify(
    { count, batches, bytesOfAReading: reading, bytesOfABatch: batch, bytesOfAnAreasDay: areaDay },
    undefined,
    1,
  ),
)

const gb = (bytes: number): string => (bytes / 1e9).toFixed(bytes < 1e10 ? 2 : 0)
const batchesOfAYear = 365 * 144
const logBytes = 2 * 2 ** 30
for (const network of [100, 1_000, 100_000]) {
  const year = network * 288 * 365
  const kept = (365 - 30) / 365
  const all = {
    rows: year * reading.store,
    hours: year * reading.sensorHours + 40 * 365 * areaDay,
    log: Math.min(logBytes, network * 288 * reading.log),
    leaves: year * reading.blobs,
    records: batchesOfAYear * (batch.records + batch.proofs),
    archive: year * reading.archive + batchesOfAYear * batch.manifest,
  }
  const sum = (of: Record<string, number>): number => Object.values(of).reduce((a, b) => a + b, 0)
  const retained = { ...all, rows: all.rows * (1 - kept), leaves: all.leaves * (1 - kept) }
  const shown = Object.entries(all).map(([name, bytes]) => `${name} ${gb(bytes)}`)
  console.log(
    `${network} sensors, a year in GB: ${shown.join(', ')}; all ${gb(sum(all))}, with 30 days ${gb(sum(retained))}`,
  )
}
store.close()
