/**
 * The pipeline in this process, between a real nats-server and a real SQLite file. Tests publish as
 * sensors do, wait until everything is judged, and look at the log, REJECTED, EVENTS and the store.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  DeliverPolicy,
  type JetStreamClient,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount, partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import type { ArrivedReading, LogMessage, Refused } from '../../core/state/log-message.ts'
import { run } from '../../pipeline/main.ts'
import { openLog } from '../../runtime/log.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { logReader } from '../../runtime/nats/log-messages.ts'
import { lastMessage, nextMessage } from '../../runtime/nats/stored-message.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import type { AirEvent } from '../../schemas/log/event.ts'
import {
  buckets,
  eventSubjects,
  eventsStream,
  rawStream,
  rawSubject,
  readingsStream,
  rejectedHeaders,
  rejectedStream,
  rejectedSubject,
} from '../../schemas/subjects.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import type { Store } from '../../store/store.ts'
import { eventually } from './eventually.ts'
import { loginAs, type TestNats, testNats } from './nats.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type Sent = { readonly partition: number; readonly seq: number }

/** The outcome of what one sensor sent. */
export type Outcome = {
  readonly accepted: readonly ArrivedReading[]
  readonly duplicates: number
  /** `partial` is in `partials`: such a reading was accepted. */
  readonly refused: readonly Refused[]
  readonly partials: readonly Refused[]
  readonly events: readonly AirEvent[]
}

/** A message of REJECTED, its digest already compared with the bytes if none were cut. */
export type Kept = {
  readonly sensor: string
  readonly why: string
  readonly arrivedMs: number
  /** Of the original, before it was cut. */
  readonly length: number
  readonly sha256: string
  readonly data: Uint8Array
}

export type TestPipeline = AsyncDisposable & {
  readonly nats: TestNats
  readonly nc: NatsConnection
  readonly js: JetStreamClient
  /** Reads the file that the pipeline writes. */
  readonly store: Store
  readonly storeFile: string
  readonly register: (...entries: readonly SensorEntry[]) => Promise<void>
  /** Resolves when RAW has it. @param partition another than the sensor's own, for a wrong message */
  readonly publish: (
    sensor: string,
    body: unknown,
    options?: { readonly partition?: number },
  ) => Promise<Sent>
  /** How many readings were published: an array that is judged item by item counts each. */
  readonly sentCount: () => number
  /** Resolves when everything published is judged, late readings too. The whole log. */
  readonly judged: () => Promise<readonly LogMessage[]>
  readonly outcomeOf: (sensor: string) => Promise<Outcome>
  /** Waits for the copy. */
  readonly kept: (refused: Refused, partition: number) => Promise<Kept>
  /** The sum over the lines of a metric that have the label. */
  readonly metric: (name: string, label: string) => Promise<number>
  readonly start: () => Promise<void>
  /** The error that the process failed with; undefined: it was stopped. */
  readonly ended: () => Promise<unknown>
  /** Stops in order; throws the error that the process failed with. */
  readonly stop: () => Promise<void>
}

export const entryOf = (id: string, over: Partial<SensorEntry> = {}): SensorEntry => ({
  id,
  cadence_seconds: 300,
  created_at: '2020-01-01T00:00:00Z',
  sites: [{ from: '2020-01-01T00:00:00Z', area: 'Ikeja', lat: 6.6, lon: 3.35, address: '1 Road' }],
  ...over,
})

export const sha256 = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex')

const bytesOf = (body: unknown): Uint8Array => {
  if (body instanceof Uint8Array) return body
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
}

function itemsIn(body: Uint8Array): number {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return Array.isArray(value) && value.length > 0 && value.length <= 500 ? value.length : 1
  } catch {
    return 1
  }
}

type Running = { readonly stop: AbortController; readonly ended: Promise<void> }

export async function testPipeline(): Promise<TestPipeline> {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(temporaryFolder())
  const nats = opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const js = jetstream(nc)
  const manager = await jetstreamManager(nc)
  const sensors = await new Kvm(nc).open(buckets.sensors)
  const file = join(folder.path, 'readings.sqlite')
  const port = await freePort()
  const config: SharedConfig = {
    dataFolder: folder.path,
    natsUrl: nats.url,
    natsCreds: undefined,
    natsLogin: loginAs('pipeline'),
    replicas: 1,
    store: { kind: 'sqlite', file },
    idPrefix: 'NGR-LOS',
    earliestMs: Date.UTC(2015, 0, 1),
    admin: { host: '127.0.0.1', port },
    logLevel: 'warn',
  }
  const ask = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })

  let running: Running | undefined
  const start = async (): Promise<void> => {
    const stop = new AbortController()
    const log = openLog({ name: 'pipeline', level: 'error' })
    const ended = run({ config, env: {}, flags: {}, log, stop: stop.signal })
    running = { stop, ended }
    await Promise.race([
      ended,
      eventually('the pipeline is ready', () =>
        ask('/ready').then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    ])
  }
  const stop = async (): Promise<void> => {
    running?.stop.abort()
    await running?.ended
    running = undefined
  }
  opened.defer(stop)
  await start()
  const store = opened.use(await openSqliteStore({ file, readOnly: true }))

  const log: { seq: number; message: LogMessage }[] = []
  const read = logReader(nc)
  let readTo = 0
  const readOn = async (): Promise<void> => {
    const { state } = await manager.streams.info(readingsStream)
    const from = readTo + 1
    if (state.last_seq < from) return
    const consumer = await js.consumers.get(readingsStream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
    })
    const messages = await consumer.consume()
    for await (const stored of messages) {
      const message = await read(stored)
      if (message !== undefined) log.push({ seq: stored.seq, message })
      readTo = stored.seq
      if (readTo >= state.last_seq) break
    }
    await messages.close()
  }

  const isJudged = (partition: number, rawLast: number): boolean => {
    const own = log.filter(({ message }) => message.partition === partition)
    const deferring = own.findLast(({ message }) => message.deferred.length > 0)
    const last = own.at(-1)?.message
    return (last?.rawLast ?? 0) >= rawLast && (last?.lateTo ?? 0) >= (deferring?.seq ?? 0)
  }

  const judged = async (): Promise<readonly LogMessage[]> => {
    const raws = await Promise.all(
      Array.from({ length: partitionCount }, (_, p) => manager.streams.info(rawStream(p))),
    )
    await eventually('everything published is judged', async () => {
      await readOn()
      return raws.every(({ state }, p) => isJudged(p, state.last_seq))
    })
    return log.map(({ message }) => message)
  }

  const eventsOf = async (sensor: string): Promise<AirEvent[]> => {
    const expected = (await judged()).reduce((sum, { events }) => sum + events.length, 0)
    await eventually('every event is copied', async () => {
      const { state } = await manager.streams.info(eventsStream)
      return state.messages >= expected
    })
    const events: AirEvent[] = []
    for (const subject of eventSubjects(sensor)) {
      let message = await nextMessage(nc, eventsStream, subject, 1)
      while (message !== undefined) {
        events.push(JSON.parse(new TextDecoder().decode(message.data)) as AirEvent)
        message = await nextMessage(nc, eventsStream, subject, message.seq + 1)
      }
    }
    return events
  }

  let sentCount = 0
  const resources = opened.move()
  return {
    nats,
    nc,
    js,
    store,
    storeFile: file,
    register: async (...entries) => {
      for (let at = 0; at < entries.length; at += 500) {
        const some = entries.slice(at, at + 500)
        await Promise.all(some.map((entry) => sensors.put(entry.id, JSON.stringify(entry))))
      }
    },
    publish: async (sensor, body, { partition = partitionOf(sensor) } = {}) => {
      const bytes = bytesOf(body)
      const { seq } = await js.publish(rawSubject(partition, sensor), bytes)
      sentCount += bytes.length > 128 * 1024 ? 1 : itemsIn(bytes)
      return { partition, seq }
    },
    sentCount: () => sentCount,
    judged,
    outcomeOf: async (sensor) => {
      const messages = await judged()
      const refused = messages.flatMap((one) => one.refused.filter((of) => of.sensor === sensor))
      const repeats = messages.flatMap(({ duplicates }) =>
        duplicates.filter(([of]) => of === sensor).map(([, count]) => count),
      )
      return {
        accepted: messages.flatMap(({ readings }) =>
          readings.filter((reading) => reading.sensor === (sensor as SensorId)),
        ),
        duplicates: repeats.reduce((sum, count) => sum + count, 0),
        refused: refused.filter(({ reason }) => reason !== 'partial'),
        partials: refused.filter(({ reason }) => reason === 'partial'),
        events: await eventsOf(sensor),
      }
    },
    kept: async ({ reason, rawSeq, item, sensor }, partition) => {
      const subject = rejectedSubject(reason, partition, rawSeq, item, sensor)
      const { headers, data } = await eventually(`${subject} is kept`, () =>
        lastMessage(nc, rejectedStream, subject),
      )
      const kept = {
        sensor: headers?.get(rejectedHeaders.sensor) ?? '',
        why: headers?.get(rejectedHeaders.why) ?? '',
        arrivedMs: Number(headers?.get(rejectedHeaders.arrived)),
        length: Number(headers?.get(rejectedHeaders.length)),
        sha256: headers?.get(rejectedHeaders.sha256) ?? '',
        data,
      }
      if (data.length === kept.length && sha256(data) !== kept.sha256)
        throw new Error(`${subject} is not what its digest says`)
      return kept
    },
    metric: async (name, label) => {
      const lines = (await (await ask('/metrics')).text()).split('\n')
      const matching = lines.filter((line) => line.startsWith(name) && line.includes(label))
      return matching.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
    },
    start,
    ended: async () =>
      await running?.ended.then(
        () => undefined,
        (error: unknown) => error,
      ),
    stop,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
