/**
 * The textbook program, to compare with: RxJS message by message, each with a promise, a publish
 * and an acknowledgement of its own, over the same rules and into the same store. It keeps no
 * order, survives no crash, and knows no events; it is the obvious first program.
 *
 * Reads NATS_URL and the store's variables as the pipeline does, `BENCH_READINGS` of them.
 * Prints a line when it is ready, and one of JSON at the end: its own CPU.
 */
import { AckPolicy, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { bufferTime, concatMap, filter, from, lastValueFrom, merge, mergeMap, take } from 'rxjs'
import { type Reading, seqOf } from '../core/air/reading.ts'
import { partitionCount, sensorIdRules } from '../core/air/sensor-id.ts'
import { applyNewer, createOutcome } from '../core/state/apply-reading.ts'
import { compareToNewest, createState, slotOf } from '../core/state/partition-state.ts'
import { judge } from '../pipeline/decide/judge.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { environment, readSharedConfig } from '../runtime/process/config.ts'
import { parseSensor } from '../schemas/devices/registered-sensor.ts'
import { newestLevel } from '../schemas/format-level.ts'
import { decodeRaw, isFault } from '../schemas/log/raw-reading.ts'
import { buckets, rawStream } from '../schemas/subjects.ts'
import { openStore } from '../store/open-store.ts'

const env = environment()
const config = readSharedConfig({ env, flags: {} })
const readings = Number(env['BENCH_READINGS'])
await using resources = new AsyncDisposableStack()
const nc = await connectNats(config, { name: 'naive' })
resources.defer(() => nc.close())
const manager = await jetstreamManager(nc)
await manager.streams.add({ name: 'NAIVE', subjects: ['naive.*'] })
const js = jetstream(nc)
const store = resources.use(await openStore(config.store))
const rules = sensorIdRules(config.idPrefix)
const sensors = resources.use(
  await watchBucket(nc, buckets.sensors, (value) => parseSensor(value, rules)),
)

const states = Array.from({ length: partitionCount }, (_, p) => createState(p))
const outcome = createOutcome()
const encoder = new TextEncoder()

async function handle(partition: number, message: JsMsg): Promise<Reading | undefined> {
  const items = decodeRaw(message.data)
  const state = states[partition]
  if (isFault(items) || state === undefined) return undefined
  const sensor = message.subject.slice(message.subject.lastIndexOf('.') + 1)
  const arrivedMs = Math.floor(message.info.timestampNanos / 1e6)
  const judged = judge(
    items[0],
    { rawSeq: message.seq, item: 0, sensor, arrivedMs, isAgain: false },
    {
      partition,
      sensorOf: sensors.get,
      earliestMs: config.earliestMs,
      mayBeLate: () => true,
      level: { current: () => newestLevel },
    },
  )
  if ('reason' in judged) return undefined
  const slot = slotOf(state, judged.sensor)
  if (compareToNewest(state, slot, judged) !== 'newer') return undefined
  const seq = seqOf(partition, ++state.n)
  const reading = { ...judged, seq }
  applyNewer(state, slot, reading, seq, outcome)
  await js.publish(`naive.${partition}`, encoder.encode(JSON.stringify(reading)))
  message.ack()
  return reading
}

const inFlight = 256
const sources = await Promise.all(
  states.map(async ({ partition }) => {
    const stream = rawStream(partition)
    await manager.consumers.add(stream, {
      durable_name: 'naive',
      ack_policy: AckPolicy.Explicit,
      max_ack_pending: 4_000,
    })
    const consumer = await js.consumers.get(stream, 'naive')
    return { partition, messages: await consumer.consume({ max_messages: 1_000 }) }
  }),
)
process.stdout.write('ready\n')
const beganCpu = process.cpuUsage()
const beganMs = performance.now()
let rows = 0
await lastValueFrom(
  merge(
    ...sources.map(({ partition, messages }) =>
      from(messages).pipe(mergeMap((message) => handle(partition, message), inFlight)),
    ),
  ).pipe(
    take(readings),
    filter((reading) => reading !== undefined),
    bufferTime(100, undefined, 2_000),
    concatMap(async (batch) => {
      if (batch.length > 0) await store.writeBatch(batch)
      rows += batch.length
    }),
  ),
  { defaultValue: undefined },
)
const { user, system } = process.cpuUsage(beganCpu)
const seconds = (performance.now() - beganMs) / 1_000
process.stdout.write(
  `${JSON.stringify({ rows, cpuUs: (user + system) / readings, perSecond: readings / seconds })}\n`,
)
for (const { messages } of sources) messages.stop()
