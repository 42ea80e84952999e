/** The content of /v1/stream: one message of the log as server-sent events, encoded one by one. */

import { namesOf } from '../../core/air/quality.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { isFresh } from '../../core/state/presence.ts'
import { secondMs } from '../../core/time.ts'

export type Frame = {
  readonly sensor: SensorId
  /** Its place in the message: its readings, then its events. */
  readonly place: number
  readonly bytes: Buffer
}

/** The place of a client: everything up to this message, or up to this place in it, was sent. */
export type StreamCursor = {
  /** Sequence of READINGS. */
  readonly seq: number
  /** undefined: the whole message. */
  readonly place: number | undefined
}

export const writeCursor = ({ seq, place }: StreamCursor): string =>
  place === undefined ? String(seq) : `${seq}-${place}`

/** @returns undefined if the text is not a cursor */
export function parseCursor(text: string): StreamCursor | undefined {
  const [, seq, place] = /^(\d{1,15})(?:-(\d{1,6}))?$/.exec(text) ?? []
  if (seq === undefined) return undefined
  return { seq: Number(seq), place: place === undefined ? undefined : Number(place) }
}

export const wholeSeconds = (ms: number): number => Math.max(0, Math.round(ms / secondMs))

/** @param wants events that are not wanted are not encoded */
export function* framesOf(
  seq: number,
  { readings, events }: LogMessage,
  textOf: (reading: Reading) => string,
  wants: (sensor: SensorId) => boolean = () => true,
): Generator<Frame> {
  const frame = (sensor: SensorId, place: number, event: string, data: string): Frame => ({
    sensor,
    place,
    bytes: Buffer.from(`id: ${writeCursor({ seq, place })}\nevent: ${event}\ndata: ${data}\n\n`),
  })
  for (const [place, reading] of readings.entries()) {
    if (!wants(reading.sensor)) continue
    // buffered readings have an event name of their own, so that clients do not take them for
    // current
    const event = isFresh(reading.timeMs, reading.arrivedMs) ? 'reading' : 'reading.late'
    yield frame(reading.sensor, place, event, textOf(reading))
  }
  for (const [i, event] of events.entries()) {
    const place = readings.length + i
    switch (event.kind) {
      case 'rise':
        break
      case 'online': {
        const reading = readings[event.place]
        if (reading === undefined || !wants(reading.sensor)) break
        const since = event.offlineSinceMs
        const data = {
          sensor_id: reading.sensor,
          last_reading: formatIsoMs(reading.timeMs),
          downtime_seconds: since === null ? null : wholeSeconds(reading.arrivedMs - since),
        }
        yield frame(reading.sensor, place, 'sensor.online', JSON.stringify(data))
        break
      }
      case 'quality': {
        const reading = readings[event.place]
        if (reading === undefined || !wants(reading.sensor)) break
        const data = {
          sensor_id: reading.sensor,
          reading_timestamp: formatIsoMs(reading.timeMs),
          quality_level: event.to,
          previous_level: event.from,
          quality: namesOf(reading.flags),
        }
        yield frame(reading.sensor, place, 'sensor.quality', JSON.stringify(data))
        break
      }
      case 'offline': {
        if (!wants(event.sensor)) break
        const data = {
          sensor_id: event.sensor,
          last_reading: formatIsoMs(event.lastReadingMs),
          offline_since: formatIsoMs(Math.floor(event.offlineSinceMs)),
          silence_seconds: wholeSeconds(event.offlineSinceMs - event.lastReadingMs),
        }
        yield frame(event.sensor, place, 'sensor.offline', JSON.stringify(data))
        break
      }
    }
  }
}
