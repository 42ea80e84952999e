/**
 * Copies the events of a committed message to EVENTS, complete in themselves. Events of one subject
 * are ordered by id, so a copy made twice (after a crash, after a time-out) is recognised by the
 * subject's last message and written once.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { namesOf } from '../../core/air/quality.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { measurementsOf } from '../../core/air/values.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { type Keccak, leafOf } from '../../core/proof/leaf.ts'
import type { ArrivedReading, LogEvent, LogMessage } from '../../core/state/log-message.ts'
import { secondMs } from '../../core/time.ts'
import { reportBroken } from '../../runtime/broken.ts'
import { inParallel } from '../../runtime/in-parallel.ts'
import {
  fenceHeader,
  isWrongLastSequence,
  lastMessage,
  nextMessage,
  type Stored,
} from '../../runtime/nats/stored-message.ts'
import { type RegisteredSensor, siteAt } from '../../schemas/devices/registered-sensor.ts'
import { type AirEvent, parseEvent } from '../../schemas/log/event.ts'
import { eventSubject, eventsStream } from '../../schemas/subjects.ts'
import type { Log } from '../log/commit.ts'

export type EventContext = {
  readonly keccak: Keccak
  readonly sensorOf: (id: string) => RegisteredSensor | undefined
}

const retryMs = 250
/** More at once, and a server that syncs each would not answer the last of them in time. */
const inFlight = 64
/** Subjects whose last event is remembered; that of another one costs a question more. */
const mostEnds = 10_000

/** Ids of one subject order as the log does: READINGS sequence, then place. */
export const eventId = (seq: number, place: number): string => `${seq}-${place}`

export function isAtLeast(id: string, other: string): boolean {
  const [seq = 0, place = 0] = id.split('-').map(Number)
  const [otherSeq = 0, otherPlace = 0] = other.split('-').map(Number)
  return seq > otherSeq || (seq === otherSeq && place >= otherPlace)
}

type Place = { readonly seq: number; readonly place: number }

/** The event as EVENTS holds it. @param at its place in the log */
export function describeEvent(
  event: LogEvent,
  message: LogMessage,
  at: Place,
  { keccak, sensorOf }: EventContext,
): AirEvent {
  const common = (sensor: SensorId, timeMs: number) => {
    const registered = sensorOf(sensor)
    const site = registered && siteAt(registered, timeMs)
    return {
      id: eventId(at.seq, at.place),
      sensor_id: sensor,
      timestamp: formatIsoMs(timeMs),
      area: site?.area ?? '',
      address: site?.address ?? '',
    }
  }
  switch (event.kind) {
    case 'rise': {
      const reading = readingAt(message, event.place)
      return {
        ...common(reading.sensor, reading.timeMs),
        kind: 'rise',
        area: reading.area,
        from: event.from,
        to: event.to,
        previous_aqi: event.previousAqi,
        reading: describeReading(reading, keccak),
      }
    }
    case 'online': {
      const reading = readingAt(message, event.place)
      const { offlineSinceMs: since } = event
      return {
        ...common(reading.sensor, reading.timeMs),
        kind: 'online',
        area: reading.area,
        offline_since: since === null ? null : formatIsoMs(since),
        downtime_seconds: since === null ? null : wholeSeconds(reading.arrivedMs - since),
        reading: describeReading(reading, keccak),
      }
    }
    case 'quality': {
      const reading = readingAt(message, event.place)
      return {
        ...common(reading.sensor, reading.timeMs),
        kind: 'quality',
        area: reading.area,
        level: event.to,
        previous_level: event.from,
        reading: describeReading(reading, keccak),
      }
    }
    case 'offline':
      return {
        ...common(event.sensor, event.offlineSinceMs),
        kind: 'offline',
        last_reading: formatIsoMs(event.lastReadingMs),
        offline_since: formatIsoMs(event.offlineSinceMs),
        silence_seconds: wholeSeconds(event.offlineSinceMs - event.lastReadingMs),
      }
  }
}

const wholeSeconds = (ms: number): number => Math.max(0, Math.round(ms / secondMs))

function readingAt(message: LogMessage, place: number): ArrivedReading {
  const reading = message.readings[place]
  if (reading !== undefined) return reading
  throw new RangeError(`an event names reading ${place} of a message that has none there`)
}

function describeReading(reading: ArrivedReading, keccak: Keccak) {
  return {
    seq: reading.seq,
    timestamp: formatIsoMs(reading.timeMs),
    measurements: measurementsOf(reading.values),
    aqi: reading.aqi,
    quality: namesOf(reading.flags),
    hash: `0x${Buffer.from(leafOf(reading, keccak)).toString('hex')}`,
  }
}

/** Remembers where each subject ends, so that the usual copy is one publish. */
export type EventCopier = (message: LogMessage, seq: number) => Promise<void>

/** Resolves when every event of the message is in EVENTS; waits through outages. */
export function eventCopier(log: Log, context: EventContext): EventCopier {
  /** The last message of each subject: an event that is there is not written again. */
  const ends = new BoundedMap<string, SubjectEnd>(mostEnds)
  const encoder = new TextEncoder()

  const copy = async (subject: string, event: AirEvent): Promise<void> => {
    const body = encoder.encode(JSON.stringify(event))
    for (;;) {
      const end = ends.get(subject)
      if (end !== undefined && end.id !== '' && isAtLeast(end.id, event.id)) return
      try {
        const seq = await log.publisher.publish(subject, body, { [fenceHeader]: end?.seq ?? 0 })
        ends.set(subject, { seq, id: event.id })
        return
      } catch (error) {
        if (isWrongLastSequence(error)) {
          const end = await endOf(log.nc, subject).catch(() => undefined)
          // aged out: the server then expects 0
          if (end === undefined) ends.delete(subject)
          else ends.set(subject, end)
          continue
        }
        log.onRetry(error)
        if (log.stop.aborted) throw error
        await log.pause(retryMs)
      }
    }
  }

  return async (message, seq) => {
    if (message.events.length === 0) return
    const bySubject = new Map<string, AirEvent[]>()
    message.events.forEach((event, place) => {
      const described = describeEvent(event, message, { seq, place }, context)
      const subject = eventSubject(described.kind, described.sensor_id)
      bySubject.set(subject, [...(bySubject.get(subject) ?? []), described])
    })
    await inParallel([...bySubject], inFlight, async ([subject, events]) => {
      for (const event of events) await copy(subject, event)
    })
  }
}

type SubjectEnd = { readonly seq: number; readonly id: string }

/** Where a subject of EVENTS ends, and the last event in it: what comes after that is foreign. */
async function endOf(nc: NatsConnection, subject: string): Promise<SubjectEnd | undefined> {
  const last = await lastMessage(nc, eventsStream, subject)
  if (last === undefined) return undefined
  let id = idOf(last)
  // a foreign message is last, which is rare: the events of one sensor are few, so all are looked at
  for (let seq = id === undefined ? 1 : last.seq; seq < last.seq; ) {
    const stored = await nextMessage(nc, eventsStream, subject, seq)
    if (stored === undefined || stored.seq >= last.seq) break
    id = idOf(stored) ?? id
    seq = stored.seq + 1
  }
  return { seq: last.seq, id: id ?? '' }
}

function idOf({ seq, subject, data }: Stored): string | undefined {
  const event = parseEvent(data)
  if (typeof event !== 'string') return event.id
  reportBroken({ stream: eventsStream, seq, subject, why: event })
  return undefined
}
