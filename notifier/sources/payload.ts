/**
 * The body of a delivery, from the messages of the streams: built again for each attempt, with the
 * same bytes each time, even if the registry or the webhook was changed meanwhile.
 */
import { createHash } from 'node:crypto'
import { usCategoryOf } from '../../core/air/index/us-bands.ts'
import { namesOf } from '../../core/air/quality.ts'
import { levelOfNames, qualityOf } from '../../core/air/quality-level.ts'
import { criticalAqi } from '../../core/air/thresholds.ts'
import { measurementsOf } from '../../core/air/values.ts'
import type { EventKind } from '../../core/delivery/delivery.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { type Keccak, leafOf } from '../../core/proof/leaf.ts'
import { proofUrl } from '../../core/proof/proof-path.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import type { AnchoredEvent } from '../../schemas/anchoring/batch-record.ts'
import { type RegisteredSensor, siteAt } from '../../schemas/devices/registered-sensor.ts'
import type { AirEvent } from '../../schemas/log/event.ts'
import type { RiseData, WebhookPayload } from '../../schemas/webhooks/webhook-payload.ts'

/** What happened, as an id and the payload of a body. */
export type Occurrence = {
  /** The id in EVENTS, or the seq of a reading. */
  readonly id: string
  readonly payload: WebhookPayload
}

/** `webhook-id`: the same for every attempt, after every crash, and however the delivery was caused. */
export function deliveryId(
  { id }: Pick<Occurrence, 'id'>,
  kind: EventKind,
  webhook: string,
): string {
  const hash = createHash('sha256').update(`${id}\n${kind}\n${webhook}`).digest()
  return `msg_${base32(hash)}`
}

const digits = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648 base 32, lower case, without padding. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    for (; bits >= 5; bits -= 5) text += digits[(held >> (bits - 5)) & 31] ?? ''
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + (digits[(held << (5 - bits)) & 31] ?? '') : text
}

/**
 * @param ownThreshold of the webhook as it is now; ignored if it has changed since the match
 * @returns undefined if the event is not of the kind, so that no delivery of it is possible
 */
export function occurrenceOfEvent(
  event: AirEvent,
  kind: EventKind,
  detail: number,
  ownThreshold?: number,
): Occurrence | undefined {
  const { id, timestamp } = event
  switch (event.kind) {
    case 'rise': {
      if (kind !== 'aqi.high' && kind !== 'aqi.critical') return undefined
      const threshold = kind === 'aqi.high' ? reportedThreshold(detail, ownThreshold) : criticalAqi
      return { id, payload: { event: kind, timestamp, data: riseData(event, threshold) } }
    }
    case 'offline': {
      if (kind !== 'sensor.offline') return undefined
      const data = {
        sensor_id: event.sensor_id,
        location: event.address,
        last_reading: event.last_reading,
        offline_since: event.offline_since,
        silence_seconds: event.silence_seconds,
      }
      return { id, payload: { event: kind, timestamp, data } }
    }
    case 'quality': {
      if (kind !== 'sensor.quality') return undefined
      const { reading } = event
      const data = {
        sensor_id: event.sensor_id,
        location: event.address,
        quality_level: event.level,
        previous_level: event.previous_level,
        quality: reading.quality,
        reading_timestamp: reading.timestamp,
        measurements: reading.measurements,
        hash: reading.hash,
      }
      return { id, payload: { event: kind, timestamp, data } }
    }
    case 'online': {
      if (kind !== 'sensor.online') return undefined
      const data = {
        sensor_id: event.sensor_id,
        location: event.address,
        last_reading: event.reading.timestamp,
        downtime_seconds: event.downtime_seconds,
      }
      return { id, payload: { event: kind, timestamp, data } }
    }
  }
}

/** An index is an integer, so 100.5 is matched as 100; it is reported as the owner wrote it. */
const reportedThreshold = (matched: number, own = matched): number =>
  Math.floor(own) === matched ? own : matched

function riseData(event: Extract<AirEvent, { kind: 'rise' }>, threshold: number): RiseData {
  const { reading } = event
  // a rise always has an index
  const aqi = reading.aqi ?? event.to
  return {
    sensor_id: event.sensor_id,
    aqi,
    location: event.address,
    measurements: reading.measurements,
    aqi_category: usCategoryOf(aqi),
    threshold,
    previous_aqi: event.previous_aqi,
    hash: reading.hash,
    quality: reading.quality,
    quality_level: levelOfNames(reading.quality),
  }
}

export function occurrenceOfReading(
  reading: ArrivedReading,
  sensor: RegisteredSensor | undefined,
  keccak: Keccak,
): Occurrence {
  const data = {
    sensor_id: reading.sensor,
    location: locationOf(reading, sensor),
    aqi: reading.aqi,
    aqi_category: reading.aqi === null ? null : usCategoryOf(reading.aqi),
    measurements: measurementsOf(reading.values),
    hash: hashOf(reading, keccak),
    quality: namesOf(reading.flags),
    quality_level: qualityOf(reading.flags),
  }
  const timestamp = formatIsoMs(reading.timeMs)
  return { id: String(reading.seq), payload: { event: 'reading.new', timestamp, data } }
}

type Anchor = {
  readonly keccak: Keccak
  /** The event of the batch that holds the reading. */
  readonly event: AnchoredEvent
  readonly publicUrl: string
}

/** The event is that the block became final; its time is the block's. */
export function occurrenceOfAnchored(
  reading: ArrivedReading,
  sensor: RegisteredSensor | undefined,
  { keccak, event, publicUrl }: Anchor,
): Occurrence {
  const hash = hashOf(reading, keccak)
  const data = {
    sensor_id: reading.sensor,
    location: locationOf(reading, sensor),
    reading_timestamp: formatIsoMs(reading.timeMs),
    seq: reading.seq,
    hash,
    batch_index: event.index,
    merkle_root: event.root,
    tx_hash: event.tx,
    block_number: event.block,
    block_hash: event.block_hash,
    chain_id: event.chain_id,
    contract: event.contract,
    proof_url: proofUrl(publicUrl, reading, hash),
  }
  const payload = { event: 'reading.anchored', timestamp: event.timestamp, data } as const
  return { id: String(reading.seq), payload }
}

const locationOf = ({ timeMs }: ArrivedReading, sensor: RegisteredSensor | undefined): string =>
  sensor === undefined ? '' : siteAt(sensor, timeMs).address

const hashOf = (reading: ArrivedReading, keccak: Keccak): string =>
  `0x${Buffer.from(leafOf(reading, keccak)).toString('hex')}`

export const bodyOf = ({ payload }: Occurrence): Uint8Array => Buffer.from(JSON.stringify(payload))
