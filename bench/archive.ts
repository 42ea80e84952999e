/**
 * A day of a city into the archive: a real log, a real anchor process, a real store; then what the
 * files take, beside the same rows as CSV with gzip, and how long it takes to verify them.
 * Usage: node bench/archive.ts [--sensors 1000] [--minutes 1440]
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { fromHundredths } from '../core/air/hundredths.ts'
import { partitionCount } from '../core/air/sensor-id.ts'
import { formatIso } from '../core/iso-time.ts'
import type { ArrivedReading } from '../core/state/log-message.ts'
import { dayMs, minuteMs } from '../core/time.ts'
import { checkArchive } from '../operate/archive/check-archive.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { archivedCity, todayMs } from '../test/support/archived-city.ts'
import { walkingSensors } from './walking-sensors.ts'

const { values } = parseArgs({
  options: {
    sensors: { type: 'string', default: '1000' },
    minutes: { type: 'string', default: '1440' },
  },
})
const [sensorCount, minutes] = [Number(values.sensors), Number(values.minutes)]
const perMessage = 1_900
const sensors = walkingSensors({ count: sensorCount, areas: 40, mostOffsetMs: 59_000 })

/** In the order in which they are accepted: minute by minute, in messages of one partition. */
async function writeDay(city: Awaited<ReturnType<typeof archivedCity>>): Promise<number> {
  let written = 0
  for (let partition = 0; partition < partitionCount; partition++) {
    const own = sensors.filter((_, at) => at % partitionCount === partition)
    const minutesEach = Math.max(1, Math.floor(perMessage / Math.max(1, own.length)))
    for (let from = 0; from < minutes && own.length > 0; from += minutesEach) {
      const to = Math.min(minutes, from + minutesEach)
      let next = 0
      const change = (reading: ArrivedReading): ArrivedReading => {
        const [minute, at] = [from + Math.floor(next / own.length), next++ % own.length]
        return own[at]!.measure(todayMs - dayMs + minute * minuteMs, reading)
      }
      const readings = (to - from) * own.length
      await city.log.write({ partition, readings, leafVersion: 2, change })
      written += readings
    }
  }
  return written
}

async function csvBytes(rows: readonly ArrivedReading[]): Promise<number> {
  const gzip = createGzip()
  let bytes = 0
  gzip.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  const ended = new Promise((resolve) => gzip.on('end', resolve))
  const sorted = rows.toSorted((a, b) =>
    a.sensor < b.sensor ? -1 : a.sensor > b.sensor ? 1 : a.timeMs - b.timeMs,
  )
  for (let at = 0; at < sorted.length; at += 10_000) {
    const text = sorted
      .slice(at, at + 10_000)
      .map(({ sensor, timeMs, seq, area, values: measured, aqi, flags }) =>
        [
          sensor,
          formatIso(timeMs),
          seq,
          area,
          ...measured.map((value) => (value === null ? '' : fromHundredths(value))),
          aqi,
          flags,
        ].join(','),
      )
      .join('\n')
    if (!gzip.write(text)) await new Promise((resolve) => gzip.once('drain', resolve))
  }
  gzip.end()
  await ended
  return bytes
}

const seconds = (sinceMs: number): number => Math.round((performance.now() - sinceMs) / 10) / 100
const rounded = (value: number): number => Math.round(value * 100) / 100

await using city = await archivedCity({ hasLeaf1: false, isEmpty: true })
const prepareMs = performance.now()
const readings = await writeDay(city)
await city.settle()
const prepared = seconds(prepareMs)
const keccak = await createKeccak()

const made = async (name: string, withHashes: boolean) => {
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  const folder = join(city.folder, name)
  const { catalogue, made: run } = await city.archive(folder, { withHashes })
  const took = seconds(startMs)
  const used = process.cpuUsage(cpu)
  const rows = run?.files.reduce((sum, file) => sum + file.rows, 0) ?? 0
  const bytes = run?.files.reduce((sum, file) => sum + file.bytes, 0) ?? 0
  const hashes = run?.hashes.reduce((sum, file) => sum + file.bytes, 0) ?? 0
  return {
    folder,
    catalogue,
    took,
    cpuS: rounded((used.user + used.system) / 1e6),
    rows,
    bytes,
    hashes,
  }
}
const plain = await made('archive', false)
const again = await made('again', false)
const hashed = await made('hashed', true)
const verifyMs = performance.now()
await checkArchive(plain.catalogue, { folder: plain.folder, keccak, pins: {} })
const verified = seconds(verifyMs)
const csv = await csvBytes(city.log.written)
const manifest = plain.catalogue.runs[0]?.bytes ?? 0

console.log(
  JSON.stringify(
    {
      bench: 'archive',
      readings,
      preparedS: prepared,
      archive: {
        seconds: plain.took,
        cpuSeconds: plain.cpuS,
        readingsPerSecond: Math.round(plain.rows / plain.took),
        bytes: plain.bytes,
        bytesPerReading: rounded(plain.bytes / plain.rows),
        manifestBytes: manifest,
        sameBytesTwice: again.catalogue.runs[0]?.sha256 === plain.catalogue.runs[0]?.sha256,
      },
      withHashes: {
        seconds: hashed.took,
        bytesPerReading: rounded((hashed.bytes + hashed.hashes) / hashed.rows),
        hashBytesPerReading: rounded(hashed.hashes / hashed.rows),
      },
      csvGzip: { bytesPerReading: rounded(csv / readings), ratio: rounded(csv / plain.bytes) },
      verify: { seconds: verified, readingsPerSecond: Math.round(plain.rows / verified) },
      maxRssMB: Math.round(process.resourceUsage().maxRSS / 1024),
    },
    null,
    2,
  ),
)
await city[Symbol.asyncDispose]()
process.exit(0)
