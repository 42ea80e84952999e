/**
 * A message without body and headers ends a pull: the server takes it for the end of a reply from
 * another account. Sensors may send them, so a reader that pulls must not wait for more.
 */
import { jetstream } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { lastManifest } from '../../notifier/ledger/manifest.ts'
import { recoverLedger } from '../../notifier/ledger/recover.ts'
import { eventsSource } from '../../notifier/sources/events.ts'
import { Beat } from '../../pipeline/intake/beat.ts'
import { openRawSource } from '../../pipeline/intake/raw-source.ts'
import { followLog } from '../../runtime/nats/follow-log.ts'
import { messageAt } from '../../runtime/nats/stored-message.ts'
import { endsPull } from '../../runtime/nats/until-silent.ts'
import {
  eventSubject,
  eventsStream,
  manifestSubject,
  rawStream,
  readingsSubject,
  spokenSubject,
  walSubject,
} from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { guardedNats } from '../support/gate.ts'
import { mqttClient } from '../support/mqtt-client.ts'

const sensor = 'NGR-LOS-IKJ-017' as SensorId
/** Empty messages, each of which cost a wait of 2 s or more. */
const many = 20
const mostMs = 10_000

test('a sensor’s empty messages do not delay the others of its partition', async () => {
  await using nats = await guardedNats()
  await using _gate = await nats.startGate()
  const device = await nats.sensor(sensor, await nats.addSensor(sensor))
  const partition = partitionOf(sensor)
  await using source = await openRawSource(await nats.as('pipeline'), {
    partition,
    fromSeq: 1,
    beat: new Beat(() => performance.now()),
    nowMs: () => performance.now(),
  })
  const startMs = performance.now()
  const seen: number[] = []
  for (let i = 0; i < many; i++) {
    await device.request(spokenSubject(sensor), '')
    await device.request(spokenSubject(sensor), '{}')
    while (seen.length < 2 * i + 2)
      for (const { seq } of (await source.next()) ?? []) seen.push(seq)
  }
  expect(seen).toEqual(Array.from({ length: 2 * many }, (_, i) => i + 1))
  expect(performance.now() - startMs).toBeLessThan(mostMs)
  // an abandoned consumer does not stay until it is idle
  const { streams } = await jetstream(nats.nc).jetstreamManager()
  expect((await streams.info(rawStream(partition))).state.consumer_count).toBeLessThan(5)
})

test('the readers of foreign messages continue after each empty one', async () => {
  await using nats = await guardedNats()
  const js = jetstream(nats.nc)
  const startMs = performance.now()
  for (let i = 0; i < many; i++)
    for (const subject of [
      manifestSubject(0),
      walSubject(0),
      readingsSubject(3),
      eventSubject('online', 'x'),
    ])
      await js.publish(subject, '')
  const notifier = await nats.as('notifier')
  expect(await lastManifest(notifier, 0)).toBeUndefined()
  expect((await recoverLedger(notifier, 0)).cursors).toEqual({ events: 0 })
  let events = 0
  const { follow } = eventsSource({ nc: notifier, thresholdOf: () => undefined })
  for await (const { pending } of follow(1, new AbortController().signal)) {
    events++
    if (pending === 0) break
  }
  expect(events).toBe(many)
  let readings = 0
  await using log = await followLog(await nats.as('api'), { fromSeq: 1 })
  for await (const { pending } of log) {
    readings++
    if (pending === 0) break
  }
  expect(readings).toBe(many)
  expect(performance.now() - startMs).toBeLessThan(2 * mostMs)
  expect((await (await js.jetstreamManager()).streams.info(eventsStream)).state.messages).toBe(many)
})

test.each([0, 1] as const)('over MQTT an empty message of QoS %s has headers', async (qos) => {
  await using nats = await guardedNats()
  await using _gate = await nats.startGate()
  const client = await mqttClient(nats.mqttUrl, {
    id: sensor,
    secret: await nats.addSensor(sensor),
  })
  await client.publishAsync(`air/raw/${sensor}`, '', { qos })
  await client.endAsync()
  const stored = await eventually('it is stored', () =>
    messageAt(nats.nc, rawStream(partitionOf(sensor)), 1),
  )
  expect(endsPull(stored)).toBe(false)
})
