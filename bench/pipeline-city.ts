/** What the benchmarks of the pipeline share: a city of readings in RAW, and the CPU of a child. */
import { readdirSync, readFileSync } from 'node:fs'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { createInbox, type NatsConnection } from '@nats-io/transport-node'
import { fromHundredths } from '../core/air/hundredths.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import type { NamedValues } from '../core/air/values.ts'
import { ensureStreams } from '../runtime/nats/streams/streams.ts'
import {
  buckets,
  eventsStream,
  readingsStream,
  rejectedStream,
  spokenSubject,
  stateStream,
} from '../schemas/subjects.ts'
import { seeded } from '../test/support/chaos/seeded.ts'

const inUnits = (value: number | null = null): number | null =>
  value === null ? null : fromHundredths(value)

/**
 * Values that drift as air does: an alert's line is crossed once in some 10,000 readings, as in a
 * bad week of a real city, not by every tenth reading.
 */
export function drift(place: number, round: number, random: () => number): NamedValues {
  const whole = (low: number, high: number): number => low + Math.floor(random() * (high - low))
  const swing = place % 50 === 0 ? 6_000 : 1_500
  const pm25 =
    2_000 + Math.floor(swing * Math.max(-1, Math.sin(round / 40 + place))) + whole(0, 300)
  return {
    pm25: Math.max(0, pm25),
    pm10: Math.max(0, Math.floor(pm25 * 1.5)),
    co2: whole(40_000, 60_000),
    temperature: whole(2_400, 3_200),
    humidity: whole(5_000, 9_000),
  }
}

/** A reading of some 300 bytes, as firmware sends it: fields that we ignore are in it. */
export function longBody(sensor: string, timeMs: number, values: NamedValues): string {
  return JSON.stringify({
    sensor_id: sensor,
    timestamp: new Date(timeMs).toISOString(),
    pm25: inUnits(values.pm25),
    pm10: inUnits(values.pm10),
    co2: inUnits(values.co2),
    temperature: inUnits(values.temperature),
    humidity: inUnits(values.humidity),
    firmware: 'NRZ-2020-133/EN',
    rssi: -67,
    battery: 3.71,
    samples: 5012943,
    interval_ms: 145000,
    uptime_s: 86_231,
    message: 'measured over one minute, mean',
  })
}

const window = 4_000
const stepMs = 50

/** As a sensor publishes, without a header, but many acknowledgements may be under way. */
function openPublisher(nc: NatsConnection) {
  const inbox = createInbox()
  let waiting = 0
  let wake: () => void = () => undefined
  const fault = Promise.withResolvers<never>()
  const subscription = nc.subscribe(inbox, {
    callback: (_error, message) => {
      const { error } = message.json<{ error?: unknown }>()
      if (error !== undefined) fault.reject(new Error(`not stored: ${message.string()}`))
      waiting--
      wake()
    },
  })
  const until = async (most: number): Promise<void> => {
    while (waiting > most) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      await Promise.race([woken, fault.promise])
    }
  }
  return {
    publish: (subject: string, body: string): Promise<void> | undefined => {
      nc.publish(subject, body, { reply: inbox })
      return ++waiting < window ? undefined : until(window / 2)
    },
    drain: async (): Promise<void> => {
      await until(0)
      subscription.unsubscribe()
    },
  }
}

/** Fills RAW as fast as the server takes it; every reading is newer than its sensor's last. */
export async function fillRaw(
  nc: NatsConnection,
  ids: readonly SensorId[],
  readings: number,
): Promise<{ readonly perSecond: number; readonly bytes: number }> {
  const random = seeded(1)
  // all of the running hour: the statistics of a closed hour are not part of a reading's cost
  const startMs = Date.now() - Math.ceil(readings / ids.length) * stepMs
  const publisher = openPublisher(nc)
  const beganMs = performance.now()
  let bytes = 0
  for (let i = 0; i < readings; i++) {
    const sensor = ids[i % ids.length]
    if (sensor === undefined) throw new RangeError('a city without sensors')
    const round = Math.floor(i / ids.length)
    const values = drift(i % ids.length, round, random)
    const body = longBody(sensor, startMs + round * stepMs, values)
    bytes += body.length
    await publisher.publish(spokenSubject(sensor), body)
  }
  await publisher.drain()
  const seconds = (performance.now() - beganMs) / 1_000
  return { perSecond: Math.round(readings / seconds), bytes: Math.round(bytes / readings) }
}

/** As if nothing of RAW had been judged yet. */
export async function forgetLog(nc: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(nc)
  for (const stream of [readingsStream, eventsStream, rejectedStream, stateStream]) {
    await manager.streams.delete(stream)
  }
  const kvm = new Kvm(nc)
  for (const name of [buckets.leases, buckets.system]) {
    const bucket = await kvm.open(name)
    for await (const key of await bucket.keys()) {
      if (key !== 'partitions') await bucket.delete(key)
    }
  }
  await ensureStreams(nc)
}

const ticksPerSecond = 100

/** User and system time in a `stat` of /proc, µs; steps of 10 ms. */
function cpuUsIn(stat: string): number {
  const fields = readFileSync(stat, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6
}

/** Of a process with all its threads. */
export const cpuUsOf = (pid: number): number => cpuUsIn(`/proc/${pid}/stat`)

/** Of its threads by their names: the main one, those of V8, and of workers, as of a store. */
export function threadsCpuUs(pid: number): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`
    const name = thread === String(pid) ? 'main' : readFileSync(`${folder}/comm`, 'utf8').trimEnd()
    times.set(name, (times.get(name) ?? 0) + cpuUsIn(`${folder}/stat`))
  }
  return times
}

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits))
