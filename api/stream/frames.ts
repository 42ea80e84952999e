/** The content of /v1/stream: one message of the log as server-sent events, encoded one by one. */

import { namesOf } from '../../core/air/quality.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import type { LogEvent } from '../../core/state/log-message.ts'
import { isFresh } from '../../core/state/presence.ts'
import { secondMs } from '../../core/time.ts'
import { encodeLogCursor, type LogCursor } from '../../schemas/log/log-cursor.ts'
import { afterReading, hadOf } from '../live/log-place.ts'
import type { TailEntry } from '../live/log-tail.ts'
import type { StreamEventName } from './event-names.ts'

/**
 * `lean` is what the pages show of an event: a hash, which nothing packs, would be most of what an open
 * page is sent.
 */
export type FrameForm = 'whole' | 'lean'

type FrameParts = {
  readonly after: () => LogCursor
  readonly event: StreamEventName
  readonly data: () => string
}

/** Encoded when it is first written: of a large network most frames are written to no listener. */
export class Frame {
  readonly sensor: SensorId
  readonly #parts: FrameParts
  #id: Buffer | undefined
  #rest: Buffer | undefined

  constructor(sensor: SensorId, parts: FrameParts) {
    this.sensor = sensor
    this.#parts = parts
  }

  /** The line with the id. */
  get id(): Buffer {
    this.#id ??= Buffer.from(`id: ${encodeLogCursor(this.#parts.after())}\n`)
    return this.#id
  }

  /** The lines after it. */
  get rest(): Buffer {
    const { event, data } = this.#parts
    this.#rest ??= Buffer.from(`event: ${event}\ndata: ${data()}\n\n`)
    return this.#rest
  }
}

/**
 * Frames that are written together. Of lean ones only the last has its id: a reader that resumes in
 * between receives some again, and takes each reading once.
 */
export const joined = (frames: readonly Frame[], form: FrameForm): Buffer =>
  Buffer.concat(
    frames.flatMap(({ id, rest }, at) =>
      form === 'whole' || at === frames.length - 1 ? [id, rest] : [rest],
    ),
  )

export const wholeSeconds = (ms: number): number => Math.max(0, Math.round(ms / secondMs))

type Framing = {
  /** What is before it is not sent again. Its numbers are those of the log before the message, or later. */
  readonly cursor: LogCursor
  readonly form: FrameForm
  /** Of a whole reading. */
  readonly textOf: (reading: Reading) => string
  /** Events that are not wanted are not encoded. */
  readonly wants?: ((sensor: SensorId) => boolean) | undefined
}

/** The id of each event is the cursor after it. */
export function* framesOf(
  entry: TailEntry,
  { cursor, form, textOf, wants = () => true }: Framing,
): Generator<Frame> {
  const { readings, events, partition, nLast } = entry.message
  for (let place = Math.max(0, hadOf(entry, cursor)); place < readings.length; place++) {
    const reading = readings[place]
    if (reading === undefined || !wants(reading.sensor)) continue
    yield new Frame(reading.sensor, {
      after: () => afterReading(entry, reading, cursor),
      event: kindOf(reading),
      data: () => (form === 'whole' ? textOf(reading) : leanText(reading)),
    })
  }
  const n = cursor.n.with(partition, nLast)
  const sent = cursor.position === entry.seq - 1 ? (cursor.events ?? 0) : 0
  for (let i = sent; i < events.length; i++) {
    const event = events[i]
    const shown = event && shownOf(event, readings)
    if (shown === undefined || !wants(shown.sensor)) continue
    const { version, network } = cursor
    const data = form === 'whole' ? shown.data : { sensor_id: shown.sensor }
    yield new Frame(shown.sensor, {
      after: () => ({ version, network, position: entry.seq - 1, n, events: i + 1 }),
      event: shown.name,
      data: () => JSON.stringify(data),
    })
  }
}

const leanText = ({ sensor, timeMs, aqi }: Reading): string =>
  JSON.stringify({ sensor_id: sensor, timestamp: formatIsoMs(timeMs), aqi })

// buffered readings have an event name of their own, so that clients do not take them for current
const kindOf = ({
  timeMs,
  arrivedMs,
}: TailEntry['message']['readings'][number]): StreamEventName =>
  isFresh(timeMs, arrivedMs) ? 'reading' : 'reading.late'

type Shown = {
  readonly sensor: SensorId
  readonly name: StreamEventName
  readonly data: object
}

/** @returns undefined: streams do not have it */
function shownOf(event: LogEvent, readings: TailEntry['message']['readings']): Shown | undefined {
  switch (event.kind) {
    case 'rise':
      return undefined
    case 'online': {
      const reading = readings[event.place]
      if (reading === undefined) return undefined
      const since = event.offlineSinceMs
      const data = {
        sensor_id: reading.sensor,
        last_reading: formatIsoMs(reading.timeMs),
        downtime_seconds: since === null ? null : wholeSeconds(reading.arrivedMs - since),
      }
      return { sensor: reading.sensor, name: 'sensor.online', data }
    }
    case 'quality': {
      const reading = readings[event.place]
      if (reading === undefined) return undefined
      const data = {
        sensor_id: reading.sensor,
        reading_timestamp: formatIsoMs(reading.timeMs),
        quality_level: event.to,
        previous_level: event.from,
        quality: namesOf(reading.flags),
      }
      return { sensor: reading.sensor, name: 'sensor.quality', data }
    }
    case 'offline': {
      const data = {
        sensor_id: event.sensor,
        last_reading: formatIsoMs(event.lastReadingMs),
        offline_since: formatIsoMs(Math.floor(event.offlineSinceMs)),
        silence_seconds: wholeSeconds(event.offlineSinceMs - event.lastReadingMs),
      }
      return { sensor: event.sensor, name: 'sensor.offline', data }
    }
  }
}
