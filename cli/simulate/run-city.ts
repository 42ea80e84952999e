/** A simulated city on a real NATS: registers its sensors and publishes as they would. */

import { setTimeout as wait } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { type SensorIdRules, sensorIdRules } from '../../core/air/sensor-id.ts'
import { hourMs, minuteMs } from '../../core/time.ts'
import { maySign } from '../../operate/sensor-keys.ts'
import {
  cadenceSecondsOf,
  importSensors,
  listSensors,
  newEntry,
  openRegistry,
  type Registry,
} from '../../operate/sensor-registry.ts'
import { type SensorSettings, withSettings } from '../../operate/sensor-settings.ts'
import { MustAct } from '../../runtime/exit.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { parseAnySensor, type RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { buckets } from '../../schemas/subjects.ts'
import { heldNotes } from '../shell/raw-publisher.ts'
import { backFill } from './back-fill.ts'
import { chanceOf } from './chance.ts'
import { type CitySensor, planCity, type SimulatedNetwork } from './city.ts'
import { openCityLife } from './city-life.ts'
import { signingSensors } from './demonstration.ts'
import { type DeviceSigner, deviceSigner } from './device-keys.ts'
import { type Fleet, type FleetOptions, openFleet } from './fleet.ts'

export type CityOptions = {
  readonly sensors: number
  readonly seed: number
  readonly firstNumber: number
  readonly network: SimulatedNetwork
  readonly cadenceMs: number
  readonly isDemonstration: boolean
  readonly hasFaults: boolean
  /** Where the demonstration's signing sensors keep their keys; absent: none signs. */
  readonly keysFolder?: string | undefined
  /** How long to publish; undefined: until stopped. */
  readonly forMs?: number | undefined
  /** Gives the sensor a credential and signs in with it; absent: no sign-in. */
  readonly connectAs?: FleetOptions['connectAs']
  readonly nowMs: () => number
  readonly note: (line: string) => void
  readonly stop: AbortSignal
}

export type CityReport = { readonly registered: number; readonly messages: number }

/** New sensors of the demonstration have a history of some hours, so that charts are not empty. */
const pastMs = 6 * hourMs
/** What is older than this, because the machine slept or NATS was away, is never measured. */
const mostBehindMs = 10 * minuteMs
/** The pause between two looks at the clock. */
const lookMs = 20

/** Until stopped. @throws MustAct where one of its ids is a sensor at another place */
export async function runCity(nc: NatsConnection, options: CityOptions): Promise<CityReport> {
  const { network, note, nowMs, stop } = options
  const rules = sensorIdRules(network.idPrefix)
  const city = await signing(planCity({ ...options, rules }), nc, options)
  const startMs = nowMs()
  const created = await register(await openRegistry(nc, rules), nc, city, { ...options, startMs })
  await using publisher = await openFleet(nc, {
    ids: city.map(({ id }) => id),
    connectAs: options.connectAs,
    // A sensor holds its reading until a stream takes it.
    patienceMs: Number.POSITIVE_INFINITY,
    ...heldNotes(note),
    stop,
  })
  await using _registry = await leaveWhenRemoved(nc, rules, publisher)
  try {
    if (options.isDemonstration) await sendPast(created, publisher, startMs, options)
    await live(city, publisher, startMs, options)
    await publisher.drain()
  } catch (error) {
    if (!stop.aborted) throw error
  }
  return { registered: created.length, messages: publisher.acknowledged() }
}

/** From format level 3 on, some sensors of the demonstration sign what they measure. */
async function signing(
  city: readonly CitySensor[],
  nc: NatsConnection,
  { isDemonstration, keysFolder }: CityOptions,
): Promise<readonly CitySensor[]> {
  if (!isDemonstration || keysFolder === undefined || !(await maySign(nc))) return city
  return city.map((sensor) => {
    const algorithm = signingSensors.get(sensor.index)
    if (algorithm === undefined) return sensor
    return { ...sensor, signer: deviceSigner(keysFolder, sensor.id, algorithm) }
  })
}

/**
 * A sensor that the operator removes is refused from then on: the city continues without it. One
 * that is added again is the operator's, with a credential of its own.
 */
async function leaveWhenRemoved(
  nc: NatsConnection,
  rules: SensorIdRules,
  { leave }: Pick<Fleet, 'leave'>,
): Promise<AsyncDisposable> {
  const parse = (value: unknown, key: string) => parseAnySensor(value, rules, key)
  const bucket = await watchBucket(nc, buckets.sensors, parse)
  const isRemoved = (id: string, sensor: RegisteredSensor | undefined): boolean =>
    sensor === undefined ? !bucket.isBroken(id) : sensor.retiredMs !== undefined
  bucket.onChange(({ key, value }) => {
    if (isRemoved(key, value)) leave(key)
  })
  for (const [id, sensor] of bucket.entries()) if (isRemoved(id, sensor)) leave(id)
  return bucket
}

type Registering = Pick<CityOptions, 'cadenceMs' | 'isDemonstration'> & { readonly startMs: number }

/** @returns those that were not in the registry */
async function register(
  registry: Registry,
  nc: NatsConnection,
  city: readonly CitySensor[],
  { cadenceMs, isDemonstration, startMs }: Registering,
): Promise<readonly CitySensor[]> {
  const known = new Map((await listSensors(nc, registry.rules)).map((entry) => [entry.id, entry]))
  for (const { id, lat, lon } of city) {
    const site = known.get(id)?.sites.at(-1)
    if (site !== undefined && (site.lat !== lat || site.lon !== lon))
      throw new MustAct(
        `${id} is registered at another place, so it is not a sensor of this city: give another --first (or the --seed it was made with)`,
      )
  }
  const created = city.filter(({ id }) => !known.has(id))
  // those that have begun to sign get their keys; with the same key nothing changes
  const changed = city.filter(({ id, signer }) => signer !== undefined && known.has(id))
  const fromMs = isDemonstration ? startMs - pastMs : startMs
  const entries = [...created, ...changed].map(({ id, area, lat, lon, address }) =>
    newEntry({
      id,
      area: area.name,
      lat,
      lon,
      address,
      cadenceSeconds: cadenceSecondsOf(cadenceMs),
      fromMs,
      nowMs: startMs,
    }),
  )
  const settings = new Map<string, SensorSettings>(
    city.map(({ id, signer }) => [id, settingsOf(signer, fromMs)]),
  )
  await importSensors(
    registry,
    entries.map((entry) => withSettings(entry, settings.get(entry.id) ?? {})),
    { settingsOf: (id) => settings.get(id) ?? {} },
  )
  return created
}

const settingsOf = (signer: DeviceSigner | undefined, fromMs: number): SensorSettings =>
  signer === undefined
    ? {}
    : { newKey: { key: signer.key, fromMs, overlapMs: 0 }, signature: 'required' }

async function sendPast(
  sensors: readonly CitySensor[],
  publisher: Fleet,
  startMs: number,
  { seed, cadenceMs }: CityOptions,
): Promise<void> {
  const span = { fromMs: startMs - pastMs, toMs: startMs, cadenceMs, draw: chanceOf(seed) }
  for (const sensor of sensors)
    for (const { sensor: id, body } of backFill(sensor, span)) await publisher.publish(id, body)
}

async function live(
  city: readonly CitySensor[],
  publisher: Fleet,
  startMs: number,
  options: CityOptions,
): Promise<void> {
  const { nowMs, stop, forMs = Number.POSITIVE_INFINITY } = options
  const life = openCityLife({ ...options, city, startMs, draw: chanceOf(options.seed) })
  const endMs = startMs + forMs
  let tick = 0
  while (!stop.aborted) {
    const now = nowMs()
    if (now - life.dueMs(tick) > mostBehindMs) tick = life.tickAt(now)
    for (; life.dueMs(tick) <= now && life.dueMs(tick) < endMs; tick++) {
      for (const { sensor, body } of life.messagesAt(tick)) {
        const full = publisher.publish(sensor, body)
        if (full !== undefined) await full
      }
    }
    if (now >= endMs) return
    const pause = Math.min(1_000, Math.max(lookMs, life.dueMs(tick) - nowMs()))
    await wait(pause, undefined, { signal: stop })
  }
}
