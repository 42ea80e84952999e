/**
 * Is this reading believable, and whose is it? The answer is a reading without a number, or a named
 * reason; whether it was accepted before is asked later, of the state and the store.
 */
import { toHundredths } from '../../core/air/hundredths.ts'
import { usAqiOf } from '../../core/air/index/us-epa.ts'
import { judgeValues, type UsualBounds } from '../../core/air/quality.ts'
import { basicNames, countAtLevel, quantityIds } from '../../core/air/quantities.ts'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { pm10Of, pm25Of, trimmed, type Values } from '../../core/air/values.ts'
import { parseIso } from '../../core/iso-time.ts'
import type { ArrivedReading, RawPlace } from '../../core/state/log-message.ts'
import { isFresh } from '../../core/state/presence.ts'
import { futureToleranceMs } from '../../core/time.ts'
import type { LevelNow } from '../../runtime/nats/format-level.ts'
import { isGateway } from '../../schemas/devices/application.ts'
import {
  earliestOf,
  type RegisteredSensor,
  siteAt,
} from '../../schemas/devices/registered-sensor.ts'
import {
  decodeRaw,
  isFault,
  isRawReading,
  type RawFault,
  type RawReading,
  schemaFault,
  sensorNamed,
} from '../../schemas/log/raw-reading.ts'
import { type SentReading, scanReadings } from '../../schemas/log/scan-readings.ts'
import type { RawMessage } from '../intake/raw-message.ts'
import { badSignature, type Signatures, type SignatureVerdict } from './check-signatures.ts'
import type { DayBook } from './day-books.ts'

/** A believable reading: everything but its number. */
export type Believed = RawPlace & Omit<ArrivedReading, 'seq'>

/** One raw message, decoded and judged item by item. */
export type JudgedMessage = Omit<RawMessage, 'data'> & {
  readonly items: readonly (Believed | ItemFault)[]
}

/** @property sensor as a gateway's item names it; absent: the message's */
export type ItemFault = RawFault & { readonly sensor?: string }

export type JudgeOptions = {
  readonly partition: number
  readonly sensorOf: (id: string) => RegisteredSensor | undefined
  /** No reading is older than this, ms since the epoch. */
  readonly earliestMs: number
  readonly mayBeLate: DayBook
  /** What is usual, by the version of leaf that the partition writes; absent: the table's. */
  readonly usual?: () => UsualBounds
  readonly level: LevelNow
}

type Place = RawPlace & {
  /** The sensor as the subject names it, or as the item does. */
  readonly sensor: string
  readonly arrivedMs: number
  /** The operator sent it: what bounds a sensor's own word on the past does not hold for it. */
  readonly isAgain: boolean
}

/** What was found out about an item's signature; absent as a whole: `sig` is ignored. */
type Signature = { readonly verdict: SignatureVerdict }

/** @param signatures what is known of them; absent: `sig` is ignored */
export function judgeMessage(
  raw: RawMessage,
  options: JudgeOptions,
  signatures?: Signatures,
): JudgedMessage {
  const { seq, arrivedMs, sensor, isAgain, data } = raw
  const sent = scanReadings(data, sensor, countAtLevel(options.level.current()))
  const items = sent ?? decodeRaw(data)
  if (isFault(items)) return { seq, arrivedMs, sensor, isAgain, items: [items] }
  const ofMessage = signatures?.get(seq)
  const isAsked = signatures !== undefined
  const isOfMany = isGateway(sensor)
  return {
    seq,
    arrivedMs,
    sensor,
    isAgain,
    items: items.map((item, i) => {
      const named = (isOfMany && (sent ? sent[i]?.sensorId : sensorNamed(item))) || sensor
      const place = { rawSeq: seq, item: i, sensor: named, arrivedMs, isAgain }
      const signature = isAsked ? { verdict: ofMessage?.get(i) } : undefined
      const judged = judgeItem(sent?.[i], item, place, options, signature)
      return isOfMany && 'reason' in judged ? { ...judged, sensor: named } : judged
    }),
  }
}

/** @returns the reading, or why it is refused; never throws, whatever the item is */
export const judge = (
  item: unknown,
  place: Place,
  options: JudgeOptions,
  signature?: Signature,
): Believed | RawFault => judgeItem(undefined, item, place, options, signature)

/**
 * What we cannot judge is refused and kept like the rest, and the items after it are judged.
 * @param sent what it says, where that was read from the bytes
 */
function judgeItem(
  sent: SentReading | undefined,
  item: unknown,
  place: Place,
  options: JudgeOptions,
  signature: Signature | undefined,
): Believed | RawFault {
  try {
    if (sent !== undefined) return judgeSent(sent, place, options, signature)
    if (!isRawReading(item)) return schemaFault()
    return judgeSent(sentIn(item, options), place, options, signature)
  } catch (error) {
    return { reason: 'not_judged', why: String(error).slice(0, 200) }
  }
}

function judgeSent(
  sent: Sent,
  place: Place,
  options: JudgeOptions,
  signature: Signature | undefined,
): Believed | RawFault {
  const sensor = options.sensorOf(place.sensor)
  if (sensor === undefined) return { reason: 'unknown_sensor', why: '' }
  const { sensorId: named, timeMs, timeFault } = sent
  if (named !== undefined && named !== sensor.id) {
    return { reason: 'sensor_mismatch', why: `the body names ${named.slice(0, 64)}` }
  }
  if (partitionOf(sensor.id) !== options.partition) {
    return { reason: 'wrong_partition', why: `belongs to ${partitionOf(sensor.id)}` }
  }
  if (timeFault !== undefined) return timeFault
  const signed = signature && signedOr(signature, sent, sensor)
  if (signed !== undefined && 'reason' in signed) return signed
  const judged = judgeValues(sent.values, {
    timeAssigned: sent.isTimeAssigned,
    usual: options.usual?.(),
  })
  if (judged.nothingLeft) return { reason: 'out_of_range', why: '' }
  if (timeMs < options.earliestMs) return { reason: 'too_old', why: '' }
  if (timeMs - place.arrivedMs > futureToleranceMs) {
    return { reason: 'future', why: `${Math.round((timeMs - place.arrivedMs) / 1000)} s ahead` }
  }
  const late = place.isAgain ? undefined : lateFault(sensor, timeMs, place, options)
  if (late !== undefined) return late
  const { values } = judged
  const believed: Believed = {
    rawSeq: place.rawSeq,
    item: place.item,
    sensor: sensor.id,
    area: siteAt(sensor, timeMs).area,
    timeMs,
    arrivedMs: place.arrivedMs,
    values,
    aqi: usAqiOf(pm25Of(values), pm10Of(values)),
    flags: judged.flags,
  }
  return signed === undefined ? believed : { ...believed, ...signed }
}

function signedOr(
  { verdict }: Signature,
  { sig }: Sent,
  { keys, mustSign }: RegisteredSensor,
): SignatureVerdict {
  if (sig === undefined || sig === null)
    return mustSign ? badSignature('it has no sig, and the registry requires one') : undefined
  if (keys === undefined) return badSignature('the registry has no public key of the sensor')
  return verdict ?? badSignature('its key was registered after it had arrived')
}

/**
 * Each late reading has an hour computed again, and a sensor's history back to raw rows until it is:
 * one credential must not do that to years of a city.
 */
function lateFault(
  sensor: RegisteredSensor,
  timeMs: number,
  { arrivedMs }: Place,
  { mayBeLate }: JudgeOptions,
): RawFault | undefined {
  if (timeMs < earliestOf(sensor)) return { reason: 'before_site', why: '' }
  if (isFresh(timeMs, arrivedMs) || mayBeLate(sensor.id, arrivedMs)) return undefined
  return { reason: 'too_many_late', why: '' }
}

const idOf: ReadonlyMap<string, number> = new Map(Object.entries(quantityIds))
const noValues: readonly null[] = basicNames.map(() => null)

/** What a reading says; of what the scan of the bytes takes, none has the last two. */
type Sent = SentReading & { readonly timeFault?: RawFault | undefined; readonly sig?: unknown }

/** What `scanReadings` would read from its bytes, if they were usual. */
export function sentIn(raw: RawReading, { level }: Pick<JudgeOptions, 'level'>): Sent {
  const { sensor_id: sensorId, timestamp, time_assigned: assigned, sig } = raw
  const time = parseIso(timestamp)
  return {
    sensorId,
    timeMs: 'wrong' in time ? Number.NaN : time.timeMs,
    isTimeAssigned: assigned === true,
    values: normalise(raw, countAtLevel(level.current())),
    timeFault: 'wrong' in time ? faultOfTime(time.wrong, timestamp) : undefined,
    sig,
  }
}

const faultOfTime = (wrong: 'invalid' | 'no_offset', timestamp: string): RawFault =>
  wrong === 'no_offset'
    ? { reason: 'no_offset', why: '' }
    : { reason: 'schema', why: `timestamp is not an ISO date-time: ${timestamp.slice(0, 40)}` }

/** @param count how many quantities are taken: the first of the table */
function normalise(raw: RawReading, count: number): Values {
  const values: (number | null)[] = noValues.slice()
  take(values, raw, count)
  if (raw.measurements !== undefined) take(values, raw.measurements, count)
  return trimmed(values)
}

/** What the last call finds wins. By the names sent: asking for each of the table costs twice the time. */
function take(
  values: (number | null)[],
  sent: Readonly<Record<string, unknown>>,
  count: number,
): void {
  for (const name in sent) {
    const id = idOf.get(name)
    const value = sent[name]
    if (id === undefined || id >= count || value === null) continue
    while (values.length < id) values.push(null)
    values[id] = typeof value === 'number' ? (toHundredths(value) ?? null) : null
  }
}
