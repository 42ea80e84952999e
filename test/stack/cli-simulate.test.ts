import { setTimeout } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { openRawPublisher } from '../../cli/shell/raw-publisher.ts'
import { type CityOptions, runCity } from '../../cli/simulate/run-city.ts'
import { signInAs } from '../../cli/simulate/sign-in-as.ts'
import { partitionOf, sensorIdRules } from '../../core/air/sensor-id.ts'
import { hourMs } from '../../core/time.ts'
import { revokeCredential } from '../../operate/sensor-credentials.ts'
import {
  checkedId,
  createSensor,
  listSensors,
  newEntry,
  openRegistry,
  removeSensor,
} from '../../operate/sensor-registry.ts'
import { MustAct } from '../../runtime/exit.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import type { RawReading } from '../../schemas/log/raw-reading.ts'
import { rawStream, rawSubject } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { guardedNats } from '../support/gate.ts'
import { type TestNats, testNats } from '../support/nats.ts'

let nats: TestNats
let nc: NatsConnection

beforeAll(async () => {
  nats = await testNats()
  nc = await nats.connect()
  await ensureStreams(nc, { rawMaxBytes: 128 * 1024 })
})
afterAll(async () => {
  await nc.close()
  await nats[Symbol.asyncDispose]()
})

const run = (options: Partial<CityOptions> = {}) =>
  runCity(nc, {
    sensors: 10,
    seed: 1,
    firstNumber: 1,
    network: { name: 'Lagos', idPrefix: 'NGR-LOS', box: undefined },
    cadenceMs: 100,
    isDemonstration: false,
    hasFaults: false,
    forMs: 300,
    nowMs: Date.now,
    note: () => undefined,
    stop: new AbortController().signal,
    ...options,
  })

/** All messages in RAW, by sensor. */
async function rawReadings(): Promise<Map<string, RawReading[][]>> {
  const bySensor = new Map<string, RawReading[][]>()
  const manager = await jetstreamManager(nc)
  for (let partition = 0; partition < 16; partition++) {
    const { state } = await manager.streams.info(rawStream(partition))
    if (state.messages === 0) continue
    const consumer = await jetstream(nc).consumers.get(rawStream(partition))
    for await (const message of await consumer.fetch({ max_messages: state.messages })) {
      const body = message.json<RawReading | RawReading[]>()
      const sensor = message.subject.split('.').at(-1) ?? ''
      expect(partitionOf(sensor)).toBe(partition)
      bySensor.set(sensor, [...(bySensor.get(sensor) ?? []), Array.isArray(body) ? body : [body]])
    }
  }
  return bySensor
}

/** A clock that shows `startMs` now. */
const clockFrom = (startMs: number): (() => number) => {
  const offsetMs = startMs - Date.now()
  return () => Date.now() + offsetMs
}

/** A signal takes effect some time later: resolves when the server no longer answers. */
async function untilSilent(): Promise<void> {
  const answers = async (): Promise<boolean> => {
    await nc.flush()
    return true
  }
  while (await Promise.race([answers(), setTimeout(200, false)])) continue
}

describe('the simulated city on a real NATS', () => {
  it('registers its sensors, gives them a past without a gap, once, and publishes for each', async () => {
    const cadenceMs = 120_000
    const realMs = Date.now()
    // a clock that runs 40 times as fast: each sensor has its turn within three seconds
    const nowMs = (): number => realMs + (Date.now() - realMs) * 40
    const city = { isDemonstration: true, cadenceMs, forMs: cadenceMs, nowMs }
    const first = await run(city)
    expect(first.registered).toBe(10)
    const sensors = await listSensors(nc, sensorIdRules())
    expect(sensors).toHaveLength(10)
    const messages = await rawReadings()
    for (const { id } of sensors) {
      const all = messages.get(id) ?? []
      const past = all.slice(0, -1).flat()
      const now = all.at(-1)
      expect(past).toHaveLength((6 * hourMs) / cadenceMs)
      expect(now).toHaveLength(1)
      expect(Date.parse(now?.[0]?.timestamp ?? '')).toBeGreaterThan(
        Date.parse(past.at(-1)?.timestamp ?? ''),
      )
    }
    expect(first.messages).toBe([...messages.values()].flat().length)

    expect((await run(city)).registered).toBe(0)
    const arrays = [...(await rawReadings()).values()].flat().filter(({ length }) => length > 1)
    expect(arrays).toHaveLength(10 * Math.ceil((6 * hourMs) / cadenceMs / 500))
  })

  it('publishes for no sensor at another place', async () => {
    const registry = await openRegistry(nc, sensorIdRules())
    const entry = newEntry({
      id: 'NGR-LOS-IKJ-801',
      area: 'Ikeja',
      lat: 6.6,
      lon: 3.3,
      address: 'a real one',
      cadenceSeconds: 300,
      fromMs: 0,
      nowMs: 0,
    })
    await createSensor(registry, entry)
    await expect(run({ firstNumber: 801 })).rejects.toThrow(MustAct)
    expect((await rawReadings()).get('NGR-LOS-IKJ-801')).toBeUndefined()
  })

  it('keeps what a full stream refuses, and sends it when there is room', async () => {
    const sensor = 'NGR-LOS-FUL-001'
    const stream = rawStream(partitionOf(sensor))
    const manager = await jetstreamManager(nc)
    await manager.streams.purge(stream)
    const heldOnce = Promise.withResolvers<string>()
    await using publisher = openRawPublisher(nc, { onHeld: heldOnce.resolve })
    const filler = 'x'.repeat(16 * 1024)
    for (let i = 0; i < 12; i++) void publisher.publish(sensor, `{"n":${i},"x":"${filler}"}`)
    expect(await heldOnce.promise).toMatch(/maximum bytes/)
    const before = publisher.acknowledged()
    expect(before).toBeLessThan(12)
    const { state } = await manager.streams.info(stream)
    expect(state.messages).toBe(before)

    await manager.streams.purge(stream)
    await publisher.drain()
    expect(publisher.acknowledged()).toBe(12)
    expect((await manager.streams.info(stream)).state.last_seq - state.last_seq).toBe(12 - before)
  })

  it('stores once what it sends again without an answer', async () => {
    const sensor = 'NGR-LOS-ONC-001'
    const stream = rawStream(partitionOf(sensor))
    const manager = await jetstreamManager(nc)
    await manager.streams.purge(stream)
    const { state } = await manager.streams.info(stream)
    const held = Promise.withResolvers<string>()
    await using publisher = openRawPublisher(nc, { ackTimeoutMs: 300, onHeld: held.resolve })
    nats.freeze()
    await untilSilent()
    for (let i = 0; i < 5; i++) void publisher.publish(sensor, `{"n":${i}}`)
    expect(await held.promise).toBe('no stream answers')
    nats.thaw()
    await publisher.drain()
    expect(publisher.acknowledged()).toBe(5)
    expect((await manager.streams.info(stream)).state.last_seq - state.last_seq).toBe(5)
  })

  it('says once that nothing is taken, and once that it is again', async () => {
    const manager = await jetstreamManager(nc)
    for (let partition = 0; partition < 16; partition++)
      await manager.streams.purge(rawStream(partition))
    const notes: string[] = []
    const stop = new AbortController()
    const city = run({
      firstNumber: 700,
      cadenceMs: 1_000,
      forMs: 120_000,
      note: (line) => void notes.push(line),
      stop: stop.signal,
    })
    const sent = async () => {
      const infos = Array.from({ length: 16 }, (_, p) => manager.streams.info(rawStream(p)))
      return (await Promise.all(infos)).reduce((sum, { state }) => sum + state.messages, 0)
    }
    await eventually('it sends', async () => (await sent()) > 0)
    nats.freeze()
    await untilSilent()
    await eventually('it is said', () => notes.length > 0)
    nats.thaw()
    await eventually('it is over', () => notes.length > 1)
    stop.abort()
    await city
    expect(notes).toEqual([
      'readings are held and sent again: no stream answers',
      expect.stringMatching(/^no longer, after .*\d s: readings are held and sent again$/),
    ])
  })
})

test.each(['was removed', 'has no credential any more'])(
  'the city continues without a sensor that %s',
  async (end) => {
    await using guarded = await guardedNats()
    await using _gate = await guarded.startGate()
    const rules = sensorIdRules()
    const stop = new AbortController()
    const notes: string[] = []
    const city = {
      sensors: 3,
      seed: 1,
      firstNumber: 1,
      network: { name: 'Lagos', idPrefix: 'NGR-LOS', box: undefined },
      cadenceMs: 100,
      isDemonstration: false,
      hasFaults: false,
      // whether a sensor of the city has an outage depends on the hour: none of these has one then
      nowMs: clockFrom(Date.UTC(2026, 10, 23, 13)),
      note: (line: string) => void notes.push(line),
      stop: stop.signal,
    }
    const connectAs = signInAs(guarded.credentials, { ...city, natsUrl: guarded.url })
    const running = runCity(guarded.nc, { ...city, connectAs })
    const manager = await jetstreamManager(guarded.nc)
    const sentBy = async (id: string): Promise<number> => {
      const partition = partitionOf(id)
      const subject = rawSubject(partition, id)
      const { state } = await manager.streams.info(rawStream(partition), {
        subjects_filter: subject,
      })
      return state.subjects?.[subject] ?? 0
    }
    const all = await eventually('three sensors send', async () => {
      const ids = (await listSensors(guarded.nc, rules)).map(({ id }) => id)
      const counts = await Promise.all(ids.map(sentBy))
      return counts.length === 3 && counts.every((count) => count > 0) && ids
    })
    const [removed = '', ...others] = all
    const registry = await openRegistry(guarded.nc, rules)
    if (end === 'was removed') await removeSensor(registry, checkedId(removed, rules), Date.now())
    else await revokeCredential(guarded.credentials, removed, Date.now())
    const before = await Promise.all(others.map(sentBy))
    // longer than the five seconds after which a sensor repeats an unanswered message
    await eventually('the others have sent for eight seconds more', async () => {
      const counts = await Promise.all(others.map(sentBy))
      return counts.every((count, n) => count >= (before[n] ?? 0) + 80)
    })
    stop.abort()
    expect(await running).toMatchObject({ registered: 3 })

    if (end === 'was removed') return
    const sent = await Promise.all(all.map(sentBy))
    notes.length = 0
    const stopAgain = new AbortController()
    const again = { ...city, stop: stopAgain.signal }
    const runningAgain = runCity(guarded.nc, {
      ...again,
      connectAs: signInAs(guarded.credentials, { ...again, natsUrl: guarded.url }),
    })
    await eventually('the others send after a restart', async () => {
      const counts = await Promise.all(others.map(sentBy))
      return counts.every((count, n) => count > (sent[n + 1] ?? 0))
    })
    stopAgain.abort()
    await runningAgain
    expect(await sentBy(removed)).toBe(sent[0])
    expect(notes).toEqual([
      expect.stringContaining(`${removed} sends nothing: its key was revoked`),
    ])
    const credential = await guarded.credentials.get(removed)
    expect(credential?.json()).toHaveProperty('revoked_at')
  },
)
