/**
 * What each stage of a reading costs by itself, in ns of CPU, the collector's threads included:
 * `node bench/stages.ts [--seconds 2] [--sensors 100]` prints one JSON document. The stages are the
 * pipeline's own functions over the messages that `pipeline.ts` fills RAW with, one partition's
 * share of them: what NATS, sockets, the collector and a thread of the store add is not in them.
 */
import { parseArgs } from 'node:util'
import { partitionOf, sensorIdRules } from '../core/air/sensor-id.ts'
import { createState } from '../core/state/partition-state.ts'
import { dayMs } from '../core/time.ts'
import { newEntry } from '../operate/sensor-registry.ts'
import { createDayBook, createFreshBook, mostLateADay } from '../pipeline/decide/day-books.ts'
import { decideBatch } from '../pipeline/decide/decide.ts'
import { type JudgedMessage, judgeMessage } from '../pipeline/decide/judge.ts'
import { readDelivered } from '../pipeline/intake/raw-pull.ts'
import { parseSensor } from '../schemas/devices/registered-sensor.ts'
import { newestLevel } from '../schemas/format-level.ts'
import { decodeRaw } from '../schemas/log/raw-reading.ts'
import { decodeReadings, encodeReadings } from '../schemas/log/readings-message.ts'
import { readingLines } from '../store/influx/reading-lines.ts'
import { packReadings } from '../store/packed-readings.ts'
import { sortOutFaulty } from '../store/row-fault.ts'
import { cityOf } from '../test/support/chaos/city.ts'
import { seeded } from '../test/support/chaos/seeded.ts'
import { drift, longBody } from './pipeline-city.ts'

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    sensors: { type: 'string', default: '100' },
  },
})
const partition = 3
const perSensor = 20
const seconds = Number(flags.seconds)
const nowMs = Date.now()
const rules = sensorIdRules()
const ids = cityOf(Number(flags.sensors) * 20)
  .filter((id) => partitionOf(id) === partition)
  .slice(0, Number(flags.sensors))
const sensors = new Map(
  ids.map((id) => [
    id as string,
    parseSensor(
      newEntry({
        id,
        area: 'Area 3',
        lat: 6.5,
        lon: 3.4,
        address: '3 Test Road',
        cadenceSeconds: 300,
        fromMs: nowMs - 400 * dayMs,
        nowMs,
      }),
      rules,
    ),
  ]),
)
const random = seeded(1)
const encoder = new TextEncoder()
const messages: { subject: string; reply: string; data: Uint8Array }[] = []
for (let round = 0; round < perSensor; round++)
  for (const [place, id] of ids.entries()) {
    const seq = messages.length + 1
    messages.push({
      subject: `air.raw.${partition}.${id}`,
      reply: `$JS.ACK.RAW_${partition}.abcdefgh.1.${seq}.${seq}.${nowMs}000000.${1000}`,
      data: encoder.encode(
        longBody(id, nowMs - 200_000 + round * 1_000, drift(place, round, random)),
      ),
    })
  }

const costs: Record<string, number> = {}
/** @returns the last result */
function stage<T>(name: string, work: () => T): T {
  const run = (until: number): { readonly result: T; readonly times: number } => {
    for (let times = 1; ; times++) {
      const result = work()
      if (performance.now() >= until) return { result, times }
    }
  }
  // until it is compiled
  run(performance.now() + 500)
  const before = process.cpuUsage()
  const { result, times } = run(performance.now() + seconds * 1_000)
  const { user, system } = process.cpuUsage(before)
  costs[name] = Math.round(((user + system) * 1e3) / times / messages.length)
  return result
}

const raws = stage('read delivered', () =>
  messages.map(readDelivered).flatMap((delivered) => delivered?.raw ?? []),
)
stage('decode (in judge)', () => raws.map(({ data }) => decodeRaw(data)))
const options = {
  partition,
  sensorOf: (id: string) => sensors.get(id),
  earliestMs: 0,
  mayBeLate: createDayBook(mostLateADay),
  level: { current: () => newestLevel },
}
const judged = stage('judge', () => raws.map((raw) => judgeMessage(raw, options, new Map())))
const decide = (batch: readonly JudgedMessage[]) => {
  const state = createState(partition)
  const decider = {
    state,
    worker: 'w',
    thresholds: () => [100, 150, 200, 300],
    watch: () => undefined,
    mayBeFresh: createFreshBook(() => 1e9),
    mayBeLate: () => true,
    mayList: () => true,
    onNotListed: () => undefined,
    leafVersion: () => 2 as const,
  }
  const log = []
  for (let at = 0; at < batch.length; ) {
    const { message, covered } = decideBatch(decider, batch.slice(at, at + 2_000), {
      lateTo: 0,
      listenedMs: 1,
    })
    state.n = message.nLast
    log.push(message)
    at += covered
  }
  return log
}
const log = stage('decide', () => decide(judged))
const encoded = stage('encode', () => log.map((message) => encodeReadings(message, newestLevel)))
costs['bytes in the log'] = Math.round(
  encoded.reduce((sum, { length }) => sum + length, 0) / messages.length,
)
stage('decode of the log', () => encoded.map((bytes, i) => decodeReadings(log[i]!, bytes)))
const rows = log.flatMap(({ readings }) => readings)
if (rows.length !== messages.length) throw new Error(JSON.stringify(judged[0]))
stage('row faults', () => sortOutFaulty(rows))
stage('pack for SQLite', () => packReadings(rows))
const linesOf = readingLines()
const packed = packReadings(rows)
stage('lines for InfluxDB', () => Buffer.from(linesOf([packed])).length)
process.stdout.write(
  `${JSON.stringify({ bench: 'stages', unit: 'ns per reading', ...costs }, null, 2)}\n`,
)
