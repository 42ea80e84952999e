/** Foreign and broken messages, written by something else: every reader skips them. */
import { dirname } from 'node:path'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { partitionOfSeq, seqOf } from '../../core/air/reading.ts'
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { minuteMs } from '../../core/time.ts'
import { logReader } from '../../runtime/nats/log-messages.ts'
import { lastMessage, messageAt, nextMessage } from '../../runtime/nats/stored-message.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { encodeReadings } from '../../schemas/log/readings-message.ts'
import {
  buckets,
  eventSubject,
  eventsStream,
  ledgerStream,
  logHeaders,
  manifestSubject,
  readingsStream,
  readingsSubject,
  stateSubject,
  walSubject,
} from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { anchoredApi } from '../support/anchored-api.ts'
import { testApi } from '../support/api.ts'
import { faultsOf, readLog } from '../support/chaos/read-log.ts'
import { commitMessage } from '../support/commit-message.ts'
import { eventually } from '../support/eventually.ts'
import { publishReading } from '../support/log-reading.ts'
import { testNats } from '../support/nats.ts'
import { publishEvent, putWebhook, rise, startNotifier } from '../support/notifier.ts'
import { entryOf, testPipeline } from '../support/pipeline.ts'
import { readingOf } from '../support/readings.ts'
import { startReceiver } from '../support/receiver.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sensor = 'NGR-LOS-IKJ-017' as SensorId
const partition = partitionOf(sensor)
const subject = readingsSubject(partition)

type Kind =
  | 'garbage'
  | 'empty'
  | 'other JSON'
  | 'a copy'
  | 'a copy through the fence'
  | 'a copy through the fence of another subject'
  | 'a lie'
  | 'a lie of the right number'
const kinds: readonly Kind[] = [
  'garbage',
  'empty',
  'other JSON',
  'a copy',
  'a copy through the fence',
  'a copy through the fence of another subject',
  'a lie',
  'a lie of the right number',
]

/** It decodes, with headers like a worker's; its readings are numbered up to `nLast`. */
function lie(nLast: number, to: string) {
  const own = Number(to.split('.').at(-1))
  const head = headers()
  head.set(logHeaders.worker, 'pipeline-0123456789ab-1')
  head.set(logHeaders.nLast, String(nLast))
  const { values } = readingOf({ pm25: 1 })
  const times = { timeMs: Date.now(), arrivedMs: Date.now() }
  const reading = { sensor, area: 'Nowhere', ...times, values, aqi: 1, flags: 0 }
  const body = encodeReadings(
    {
      partition: own,
      worker: 'pipeline-0123456789ab-1',
      rawLast: 0,
      rawLastTimeMs: 0,
      nLast,
      lateTo: 0,
      listenedMs: 0,
      readings: [{ ...reading, seq: seqOf(own, nLast) }],
      events: [],
      held: [],
      deferred: [],
      refused: [],
      duplicates: [],
    },
    newestLevel,
  )
  return { head, body }
}

/** @param to the subject of a partition that has messages already */
async function publishForeign(nc: NatsConnection, kind: Kind, to = subject): Promise<void> {
  const js = jetstream(nc)
  const last = await lastMessage(nc, readingsStream, to)
  if (last === undefined) throw new Error('there is nothing to copy')
  switch (kind) {
    case 'garbage':
      await js.publish(to, Uint8Array.of(0x0a, 0xff, 0x00, 0x7f))
      return
    case 'empty':
      await js.publish(to)
      return
    case 'other JSON':
      await js.publish(to, JSON.stringify(rise(100, 200)))
      return
    case 'a copy': {
      const head = headers()
      for (const name of Object.values(logHeaders)) head.set(name, last.headers?.get(name) ?? '')
      await js.publish(to, last.data, { headers: head })
      return
    }
    case 'a copy through the fence':
    case 'a copy through the fence of another subject': {
      // the newest of the log: what is after it is foreign
      const own = (await readLog(nc)).findLast(
        ({ message }) => readingsSubject(message.partition) === to,
      )
      const stored = own && (await messageAt(nc, readingsStream, own.seq))
      if (stored === undefined) throw new Error('there is nothing to copy')
      const head = headers()
      for (const name of Object.values(logHeaders)) head.set(name, stored.headers?.get(name) ?? '')
      const expect =
        kind === 'a copy through the fence'
          ? { lastSubjectSequence: last.seq }
          : { lastSubjectSequence: 0, lastSubjectSequenceSubject: readingsSubject(15) }
      await js.publish(to, stored.data, { headers: head, expect })
      return
    }
    case 'a lie': {
      // as a worker would publish it: through the fence
      const { head, body } = lie(1_000_000, to)
      await js.publish(to, body, { headers: head, expect: { lastSubjectSequence: last.seq } })
      return
    }
    case 'a lie of the right number': {
      const nLast = Number(last.headers?.get(logHeaders.nLast) ?? 0) + 1
      const { head, body } = lie(nLast, to)
      await js.publish(to, body, { headers: head })
    }
  }
}

const sensorIn = (own: number): SensorId =>
  Array.from(
    { length: 999 },
    (_, i) => `NGR-LOS-YAB-${String(i).padStart(3, '0')}` as SensorId,
  ).find((id) => partitionOf(id) === own) ?? sensor

const reading = (minutesAgo: number) => ({
  timestamp: new Date(Date.now() - minutesAgo * minuteMs).toISOString(),
  pm25: 10 + minutesAgo,
})

test('after any foreign message as its last one a partition is worked on, stored and rolled up, before and after a restart', async () => {
  await using pipeline = await testPipeline()
  const { nc } = pipeline
  // each kind in a partition of its own, none of them the last one
  const cases = kinds.map((kind, own) => {
    const id = sensorIn(own)
    return { kind, own, id, to: readingsSubject(own) }
  })
  await pipeline.register(...cases.map(({ id }) => entryOf(id)))
  const publishAll = async (...minutesAgo: readonly number[]): Promise<void> => {
    for (const minutes of minutesAgo)
      for (const { id } of cases) await pipeline.publish(id, reading(minutes))
  }
  const publishForeignOnes = async (): Promise<void> => {
    for (const { kind, to } of cases) await publishForeign(nc, kind, to)
  }
  await publishAll(30)
  await pipeline.judged()
  // the worker that runs finds it at its next commit
  await publishForeignOnes()
  await publishAll(20)
  await pipeline.judged()
  // the next one at its start, as the partition's last message
  await publishForeignOnes()
  await pipeline.stop()
  await publishForeignOnes()
  await pipeline.start()
  // an older one passes through the late lane, which reads the log
  await publishAll(10, 25)
  const log = await pipeline.judged()
  const accepted = log.flatMap(({ readings }) => readings)
  const numbers = cases.map(({ kind, own }) => [
    kind,
    accepted.filter(({ seq }) => partitionOfSeq(seq) === own).map(({ seq }) => seq),
  ])
  expect(numbers).toEqual(
    cases.map(({ kind, own }) => [kind, [1, 2, 3, 4].map((n) => seqOf(own, n))]),
  )
  expect(faultsOf(await readLog(nc))).toEqual([])
  await eventually('every row is stored', async () =>
    (await pipeline.store.existing(accepted)).every((row) => row !== undefined),
  )
  const { state } = await (await jetstreamManager(nc)).streams.info(readingsStream)
  const system = await new Kvm(nc).open(buckets.system)
  await eventually('the statistics have read to the end', async () => {
    const record = (await system.get(systemKeys.rollup))?.json<{ position: number }>()
    return (record?.position ?? 0) >= state.last_seq
  })
  const broken = await pipeline.metric('airproof_broken_messages_total', 'stream="READINGS"')
  expect(broken).toBeGreaterThanOrEqual(3 * kinds.length)
})

test.concurrent('every reader sees the same log, wherever it starts', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await ensureStreams(nc)
  await commitMessage(nc, { partition, nLast: 0 })
  for (const kind of kinds) {
    await publishForeign(nc, kind)
    const [own] = (await readLog(nc)).toReversed()
    await commitMessage(nc, { partition, nLast: 0 }, own?.seq)
  }
  const { state } = await (await jetstreamManager(nc)).streams.info(readingsStream)
  const whole = logReader(nc)
  for (let seq = 1; seq <= state.last_seq; seq++) {
    const stored = await messageAt(nc, readingsStream, seq)
    if (stored === undefined) throw new Error(`message ${seq} is gone`)
    const isOfLog = seq % 2 === 1
    expect((await whole(stored)) !== undefined, `${seq}`).toBe(isOfLog)
    expect((await logReader(nc)(stored)) !== undefined, `${seq} alone`).toBe(isOfLog)
  }
  expect(state.last_seq).toBe(2 * kinds.length + 1)
  await nc.close()
})

test.concurrent('readers of the log skip a message outside the partitions', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  // two processes start at once
  await Promise.all([ensureStreams(nc), ensureStreams(nc)])
  await jetstream(nc).publish('air.readings.99', 'foreign')
  await publishReading(nc, 1)
  expect((await readLog(nc)).map(({ seq }) => seq)).toEqual([2])
  await nc.close()
})

test.concurrent('the API responds and keeps following after foreign messages, and starts with one at the end of the log', async () => {
  await using api = await testApi()
  await api.register({ id: sensor })
  const newest = async () => {
    const answer = await api.get(`/v1/readings?sensor_id=${sensor}&limit=1`)
    const page = (await answer.json()) as { readings: { measurements: { pm25: number } }[] }
    return page.readings[0]?.measurements.pm25
  }
  await api.commit([{ sensor, timeMs: Date.now() - 3 * minuteMs, pm25: 1_100 }])
  for (const kind of kinds) await publishForeign(api.nc, kind)
  await api.commit([{ sensor, timeMs: Date.now() - 2 * minuteMs, pm25: 1_200 }])
  await eventually('the newest is there', async () => (await newest()) === 12)
  await publishForeign(api.nc, 'a lie')
  await api.stopApi()
  await api.startApi()
  expect(await newest()).toBe(12)
})

test.concurrent('the notifier delivers what follows foreign messages in both of its streams', async () => {
  await using nats = await testNats()
  using folder = temporaryFolder()
  await using receiver = await startReceiver()
  const nc = await nats.connect()
  await ensureStreams(nc)
  await putWebhook(nc, { url: receiver.url, events: ['aqi.high', 'reading.new'] })
  await publishReading(nc, 1)
  const breakBoth = async (): Promise<void> => {
    for (const kind of kinds) await publishForeign(nc, kind, readingsSubject(3))
    for (const body of ['', '{', '{"id":"1-0","kind":"rise"}', Uint8Array.of(0xff)])
      await jetstream(nc).publish('air.events.rise.NGR-LOS-YAB-001', body)
  }
  const arrived = () => receiver.received.map(({ json }) => json.event).toSorted()
  {
    await using _ = await startNotifier(nats.url, folder.path)
    await eventually('the first', () => arrived().length === 1)
    await breakBoth()
    await publishEvent(nc, rise(100, 180))
    await eventually('what followed', () => arrived().length === 2)
  }
  await breakBoth()
  await using _ = await startNotifier(nats.url, folder.path)
  await publishEvent(nc, rise(100, 180))
  await eventually('what followed the restart', () => arrived().length === 3)
  expect(arrived()).toEqual(['aqi.high', 'aqi.high', 'reading.new'])
  await nc.close()
})

test.concurrent('an event is copied once to a subject of EVENTS that ends with a foreign message', async () => {
  await using pipeline = await testPipeline()
  const { nc } = pipeline
  await pipeline.register(entryOf(sensor))
  await pipeline.publish(sensor, reading(5))
  const copies = async () => {
    const copied: string[] = []
    for (let seq = 1; ; ) {
      const stored = await nextMessage(nc, eventsStream, eventSubject('online', sensor), seq)
      if (stored === undefined) return copied
      copied.push(new TextDecoder().decode(stored.data))
      seq = stored.seq + 1
    }
  }
  await pipeline.judged()
  await eventually('it is copied', async () => (await copies()).length === 1)
  await jetstream(nc).publish(eventSubject('online', sensor), 'foreign')
  // copies of the last message are repeated at a start
  await pipeline.stop()
  await pipeline.start()
  await pipeline.publish(sensor, reading(4))
  await pipeline.judged()
  const [event = '', ...rest] = await copies()
  expect(JSON.parse(event)).toMatchObject({ kind: 'online', sensor_id: sensor })
  expect(rest).toEqual(['foreign'])
})

test.concurrent('foreign messages in a shard’s ledger change nothing: no delivery is lost, none made twice', async () => {
  await using nats = await testNats()
  using folder = temporaryFolder()
  await using receiver = await startReceiver()
  const nc = await nats.connect()
  await ensureStreams(nc)
  await putWebhook(nc, { url: receiver.url, events: ['aqi.high'], shard: 0 })
  const js = jetstream(nc)
  const breakAll = async (): Promise<void> => {
    for (const body of ['', 'x', new Uint8Array(24), '{"v":1}']) {
      await js.publish(walSubject(0), body)
      await js.publish(manifestSubject(0), body)
    }
  }
  const deliver = async (count: number): Promise<void> => {
    await publishEvent(nc, rise(100, 180))
    await eventually(`${count} are delivered`, () => receiver.received.length >= count)
  }
  {
    await using _ = await startNotifier(nats.url, folder.path)
    await deliver(1)
    await breakAll()
    await deliver(2)
  }
  // it left a snapshot when it stopped
  await breakAll()
  const { state } = await (await jetstreamManager(nc)).streams.info(ledgerStream(0), {
    subjects_filter: 'dw.0.snap.>',
  })
  for (const chunk of Object.keys(state.subjects ?? {})) await js.publish(chunk, 'x')
  await using _ = await startNotifier(nats.url, folder.path)
  await deliver(3)
  const ids = receiver.received.map(({ headers: fields }) => fields['webhook-id'])
  expect(new Set(ids).size).toBe(3)
  expect(ids).toHaveLength(3)
  await nc.close()
})

test.concurrent('a webhook whose entry is broken sends nothing, and loses nothing that waits for it', async () => {
  await using nats = await testNats()
  using folder = temporaryFolder()
  let isOpen = false
  await using receiver = await startReceiver({
    answer: (response) => void response.writeHead(isOpen ? 200 : 500).end(),
  })
  const nc = await nats.connect()
  await ensureStreams(nc)
  const webhook = await putWebhook(nc, { url: receiver.url, events: ['aqi.high'] })
  const kv = await new Kvm(nc).open(buckets.webhooks)
  {
    await using notifier = await startNotifier(nats.url, folder.path)
    await publishEvent(nc, rise(100, 180))
    await eventually('it was tried', () => receiver.received.length > 0)
    await kv.put(webhook.id, '{"id":')
    await eventually('it is known to be broken', async () => {
      return (await notifier.metric('airproof_webhooks')) === 0
    })
  }
  isOpen = true
  // it recovers without the entry, too
  await using notifier = await startNotifier(nats.url, folder.path)
  await eventually('it waits', async () => {
    return (await notifier.metric('airproof_webhook_pending')) === 1
  })
  const before = receiver.received.length
  await kv.put(webhook.id, JSON.stringify(webhook))
  await eventually('it is delivered', async () => {
    return (await notifier.metric('airproof_webhook_pending')) === 0
  })
  expect(receiver.received.length).toBe(before + 1)
  await nc.close()
})

test.concurrent('a foreign message over a snapshot does not prevent a start: the previous one is there', async () => {
  await using pipeline = await testPipeline()
  const { nc } = pipeline
  await pipeline.register(entryOf(sensor))
  await pipeline.publish(sensor, reading(30))
  await pipeline.judged()
  await pipeline.stop()
  await jetstream(nc).publish(stateSubject(partition, 0), 'foreign')
  // the log was trimmed, so it does not hold what was before
  const manager = await jetstreamManager(nc)
  await pipeline.start()
  await pipeline.publish(sensor, reading(20))
  await pipeline.judged()
  await pipeline.stop()
  const last = await lastMessage(nc, readingsStream, subject)
  await manager.streams.purge(readingsStream, { filter: subject, seq: last?.seq ?? 0 })
  await jetstream(nc).publish(stateSubject(partition, 0), 'foreign')
  await pipeline.start()
  await pipeline.publish(sensor, reading(10))
  const log = await pipeline.judged()
  const numbers = log.flatMap(({ readings }) => readings.map(({ seq }) => seq))
  expect(numbers).toEqual([1, 2, 3].map((n) => seqOf(partition, n)))
})

test.concurrent('the audit is green over a log with foreign messages', async () => {
  await using api = await anchoredApi()
  await api.register({ id: sensor })
  const reported = (minutesAgo: number) => ({
    sensor,
    timeMs: Date.now() - minutesAgo * minuteMs,
    pm25: 1_000,
  })
  await api.commit([reported(5)])
  for (const kind of kinds) await publishForeign(api.nc, kind)
  await api.commit([reported(4)])
  await api.sealed()
  for (const kind of kinds) await publishForeign(api.nc, kind)
  await api.commit([reported(3)])
  await api.sealed()
  await api.anchored()
  const env = {
    ...api.anchorEnv,
    AIRPROOF_DATA: dirname(api.storeFile),
    AIRPROOF_API_KEY: api.key,
  }
  const { code, out } = await runCommand(auditCommand, { flags: { json: true }, env })
  expect([code, JSON.parse(out)]).toMatchObject([0, { ok: true, leaves: 3 }])
})
