/**
 * What the state of 100,000 sensors costs: `node --expose-gc bench/state.ts`. Prints JSON. A day
 * and a half of readings at the default cadence, every round in another order, in raw batches like
 * the pipeline's; only the fold is timed, not the making of the readings.
 */
import { isDeepStrictEqual } from 'node:util'
import { partitionCount, partitionOf, type SensorId, sensorIdRules } from '../core/air/sensor-id.ts'
import { valueOf } from '../core/air/values.ts'
import { applyNewer, createOutcome, humidityRun } from '../core/state/apply-reading.ts'
import { listenAt } from '../core/state/evolve.ts'
import type { ArrivedReading } from '../core/state/log-message.ts'
import {
  compareToNewest,
  createState,
  type PartitionState,
  plainState,
  slotOf,
} from '../core/state/partition-state.ts'
import { historyFlags } from '../core/state/pm-checks.ts'
import { graceMsOf } from '../core/state/presence.ts'
import { rulesNow } from '../core/state/quality-rules.ts'
import { createSilenceWheel, type SilenceWheel } from '../core/state/silence-wheel.ts'
import { warmCaches } from '../core/state/warm-caches.ts'
import { minuteMs } from '../core/time.ts'
import { decodeSnapshot, encodeSnapshot } from '../schemas/log/snapshot.ts'
import { valued } from '../test/support/readings.ts'

const sensorCount = 100_000
const cadenceMs = 5 * minuteMs
const rounds = Number(process.argv[2] ?? 300)
const batchSize = 2_000
const startMs = Date.UTC(2026, 0, 1)

type Unnumbered = Omit<ArrivedReading, 'seq'>
type Filled = { -readonly [Field in keyof Unnumbered]: Unnumbered[Field] }
type Worker = { readonly state: PartitionState; readonly wheel: SilenceWheel }

/** A small generator with a seed (mulberry32): every run sees the same city. */
function randomFrom(seed: number): () => number {
  let a = seed
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function at<Item>(items: readonly Item[], place: number): Item {
  const item = items[place]
  if (item === undefined) throw new RangeError(`nothing at ${place}`)
  return item
}

const random = randomFrom(1)
const whole = (below: number): number => Math.floor(random() * below)
const { parse } = sensorIdRules()
const registry: SensorId[] = []
for (let i = 0; i < sensorCount; i++) {
  const id = parse(`NGR-LOS-BEN-${String(i).padStart(6, '0')}`)
  if (id !== undefined) registry.push(id)
}
/** The sensors of each partition: a batch is of one partition, in no order of its sensors. */
const members: number[][] = Array.from({ length: partitionCount }, () => [])
registry.forEach((id, sensor) => at(members, partitionOf(id)).push(sensor))

function shuffle(list: number[]): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = whole(i + 1)
    const kept = at(list, i)
    list[i] = at(list, j)
    list[j] = kept
  }
}

/** Filled again for every batch: what making readings costs the process is not the state's. */
const pool: Filled[] = Array.from({ length: batchSize }, () =>
  valued({
    sensor: at(registry, 0),
    area: 'Bench',
    timeMs: 0.5,
    arrivedMs: 0.5,
    pm25: 0,
    pm10: 0,
    temperature: 0,
    humidity: 0,
    aqi: 0,
    flags: 0,
  }),
)

function fillBatch(sensors: readonly number[], roundMs: number): readonly Unnumbered[] {
  return sensors.map((sensor, i) => {
    const reading = at(pool, i)
    reading.sensor = at(registry, sensor)
    reading.timeMs = roundMs + whole(cadenceMs)
    reading.arrivedMs = reading.timeMs + 500
    const pm25 = whole(20_000)
    reading.values = [pm25, pm25 * 2, null, 2_500 + whole(1_000), 6_000 + whole(3_000)]
    reading.aqi = whole(501)
    return reading
  })
}

const collect = (): void => globalThis.gc?.()
const rss = (): number => {
  collect()
  collect()
  return process.memoryUsage().rss
}
/** CPU time of this thread, so that a busy machine distorts it less. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

for (let round = 0; round < 20; round++) {
  // the bench itself at its full size first, so that what grows after is the state's
  for (const list of members) fillBatch(list.slice(0, batchSize), startMs)
}
const before = rss()
const heapBefore = process.memoryUsage()
const workers: Worker[] = Array.from({ length: partitionCount }, (_, p) => {
  const state = createState(p)
  return { state, wheel: createSilenceWheel(state, () => graceMsOf(cadenceMs)) }
})
const outcome = createOutcome()
let hearMs = 0
let silenceMs = 0
let rises = 0
let onlines = 0
let found = 0
let flags = 0

function hearBatch(state: PartitionState, batch: readonly Unnumbered[]): Int32Array {
  let { n } = state
  const slots = warmCaches(state, batch)
  for (let i = 0; i < batch.length; i++) {
    const reading = at(batch, i)
    const known = slots[i] ?? -1
    const slot = known === -1 ? slotOf(state, reading.sensor) : known
    slots[i] = slot
    if (compareToNewest(state, slot, reading) !== 'newer')
      throw new Error('the bench made an old reading')
    humidityRun(state, slot, valueOf(reading.values, 'humidity'))
    flags |= historyFlags(state, slot, reading)
    applyNewer(state, slot, reading, ++n, outcome)
    if (outcome.rise) rises++
    if (outcome.cameOnline) onlines++
  }
  state.n = n
  return slots
}

for (let round = 0; round < rounds; round++) {
  const roundMs = startMs + round * cadenceMs
  for (const list of members) shuffle(list)
  const most = Math.max(...members.map((list) => list.length))
  for (let from = 0; from < most; from += batchSize) {
    const listenedMs = round * cadenceMs + Math.floor((from / most) * cadenceMs)
    for (const [p, { state, wheel }] of workers.entries()) {
      const batch = fillBatch(at(members, p).slice(from, from + batchSize), roundMs)
      listenAt(state, listenedMs, rulesNow)
      let start = cpuMs()
      const slots = hearBatch(state, batch)
      hearMs += cpuMs() - start
      start = cpuMs()
      for (const slot of slots) wheel.watch(slot)
      found += wheel.due(listenedMs, 1_000).length
      silenceMs += cpuMs() - start
    }
  }
}
const after = rss()
const heapAfter = process.memoryUsage()

let start = cpuMs()
const snapshots = workers.map(({ state }) =>
  encodeSnapshot(state, { store: 0, events: 0, rejected: 0 }, [], 2),
)
const encodeMs = cpuMs() - start
start = cpuMs()
const decoded = snapshots.map((chunks) => decodeSnapshot(chunks)?.state)
const decodeMs = cpuMs() - start
const equal = decoded.every(
  (state, p) =>
    state && isDeepStrictEqual(plainState(state), plainState(workers[p]?.state ?? state)),
)
const snapshotBytes = snapshots.flat().reduce((sum, chunk) => sum + chunk.length, 0)

const readings = rounds * sensorCount
const rounded = (value: number): number => Math.round(value * 1_000) / 1_000
const perReadingUs = (ms: number): number => rounded((ms * 1_000) / readings)
process.stdout.write(
  `${JSON.stringify(
    {
      bench: 'state',
      sensors: sensorCount,
      readings,
      hearUs: perReadingUs(hearMs),
      silenceUs: perReadingUs(silenceMs),
      rssGrowthMb: rounded((after - before) / 1e6),
      heapGrowthMb: rounded((heapAfter.heapUsed - heapBefore.heapUsed) / 1e6),
      arrayBuffersMb: rounded((heapAfter.arrayBuffers - heapBefore.arrayBuffers) / 1e6),
      bytesPerSensor: Math.round(
        (heapAfter.heapUsed +
          heapAfter.arrayBuffers -
          heapBefore.heapUsed -
          heapBefore.arrayBuffers) /
          sensorCount,
      ),
      snapshotMb: rounded(snapshotBytes / 1e6),
      snapshotChunks: snapshots.flat().length,
      encodeMs: rounded(encodeMs),
      decodeMs: rounded(decodeMs),
      decodedEqual: equal,
      rises,
      onlines,
      silencesFound: found,
    },
    null,
    2,
  )}\n`,
)
