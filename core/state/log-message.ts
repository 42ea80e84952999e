/**
 * What a pipeline worker decides about one batch of raw messages, or about the passing of time:
 * the content of one READINGS message. The log of these is the truth; state, store rows, events
 * and statistics are projections of it.
 */
import type { DeviceSignature } from '../air/device-signature.ts'
import type { QualityLevel } from '../air/quality-level.ts'
import type { Reading } from '../air/reading.ts'
import type { SensorId } from '../air/sensor-id.ts'
import type { RulesVersion } from './quality-rules.ts'

export type ArrivedReading = Reading & {
  /** When the broker stored its raw message, ms since the epoch. */
  readonly arrivedMs: number
  /** Where its device signed it: `Reading.device` is the hash of this. */
  readonly signed?: DeviceSignature
}

/** The origin of a raw reading: the sequence in its RAW stream and its place in the array. */
export type RawPlace = { readonly rawSeq: number; readonly item: number }

/** A believable reading that is not newer than its sensor's newest: the late lane judges it. */
export type Deferred = RawPlace & Omit<ArrivedReading, 'seq' | 'leafVersion'>

export const refusalReasons = [
  'not_json',
  'schema',
  'too_large',
  'too_many',
  'empty',
  'unknown_sensor',
  'sensor_mismatch',
  'wrong_partition',
  'no_offset',
  'too_old',
  'future',
  'out_of_range',
  'conflict',
  'before_site',
  'too_many_late',
  'too_many_fresh',
  'not_judged',
  'bad_signature',
] as const
export type RefusalReason = (typeof refusalReasons)[number]

/**
 * A message stored in REJECTED. `partial` is not a refusal: the reading was accepted, but a value
 * of it was dropped and the original bytes are stored.
 */
export type Refused = RawPlace & {
  readonly reason: RefusalReason | 'partial'
  /** The sensor as named in the subject; it may be unknown. */
  readonly sensor: string
  /** What exactly was wrong, for people, of bounded length; '' if the reason is enough. */
  readonly why: string
}

/** `aqi` rose: an alert with threshold t fires where from ≤ t < to. */
export type Rise = {
  readonly kind: 'rise'
  /** The place of the reading in this message's `readings`. */
  readonly place: number
  readonly from: number
  readonly to: number
  readonly previousAqi: number | null
}

export type CameOnline = {
  readonly kind: 'online'
  readonly place: number
  /** null: the sensor was never heard before. */
  readonly offlineSinceMs: number | null
}

export type WentOffline = {
  readonly kind: 'offline'
  readonly sensor: SensorId
  readonly lastReadingMs: number
  readonly offlineSinceMs: number
  readonly silenceMs: number
}

/** The level of a sensor became another one (`sensor-level.ts`). */
export type QualityChanged = {
  readonly kind: 'quality'
  readonly place: number
  readonly from: QualityLevel
  readonly to: QualityLevel
}

export type LogEvent = Rise | CameOnline | WentOffline | QualityChanged

/** The kinds of events, and what their copies in EVENTS are filed under: one group keeps its order. */
export const eventGroups = {
  rise: 'rise',
  online: 'presence',
  offline: 'presence',
  quality: 'quality',
} as const satisfies Record<LogEvent['kind'], string>

/** What the two hours before `endMs` say of a sensor (`unlike-neighbours.ts`). */
export type NeighbourVerdict = {
  readonly sensor: SensorId
  readonly endMs: number
  /** It was decided from the log up to this sequence of READINGS. */
  readonly readingsTo: number
  /** It is unlike these, the nearest first; none: it is not (any more), or too few are near. */
  readonly among: readonly SensorId[]
}

export type LogMessage = {
  readonly partition: number
  /** Which process start decided this: an instance id and a number new at each start. */
  readonly worker: string
  /** The last raw message judged, 0 before the first, and the broker's time of it. */
  readonly rawLast: number
  readonly rawLastTimeMs: number
  /** The partition's accepted readings so far, this message's included. */
  readonly nLast: number
  /** READINGS sequence up to which the late lane has judged what was deferred. */
  readonly lateTo: number
  /** The partition's listening clock at the decision (`presence.ts`). */
  readonly listenedMs: number
  readonly readings: readonly ArrivedReading[]
  readonly events: readonly LogEvent[]
  /** Sensors found silent whose offline event a storm holds back. */
  readonly held: readonly SensorId[]
  readonly deferred: readonly Deferred[]
  readonly refused: readonly Refused[]
  /** Exact repeats, counted by sensor. */
  readonly duplicates: readonly (readonly [sensor: SensorId, count: number])[]
  /** The leaf version of its readings, also where it has none (`border.ts`). Absent: 1. */
  readonly leafVersion?: 2
  /** The first message of its partition with leaf version 2; it holds nothing. */
  readonly isMark?: true
  /** The rules of quality it was decided by (`quality-rules.ts`). Absent: 0. */
  readonly rules?: RulesVersion
  /** Verdicts that differ from those before them. Absent: none. */
  readonly neighbours?: readonly NeighbourVerdict[]
}
