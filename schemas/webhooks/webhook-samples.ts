/** An example of the body of each kind of event, of a sensor that does not exist. */
import { criticalAqi, defaultAqiThreshold } from '../../core/air/thresholds.ts'
import type { EventKind } from '../../core/delivery/delivery.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { minuteMs } from '../../core/time.ts'
import type { PayloadOf, WebhookPayload } from './webhook-payload.ts'

const sensor = { sensor_id: 'NGR-LOS-TST-000', location: 'Test delivery, no real sensor' }
const hash = `0x${'0'.repeat(64)}`
const measurements = { pm25: 95.4, pm10: 130, co2: 420, temperature: 29.5, humidity: 70 }
const quality: Pick<PayloadOf<'reading.new'>['data'], 'quality' | 'quality_level'> = {
  quality: [],
  quality_level: 'good',
}
const rise = { ...sensor, previous_aqi: 140, hash, ...quality }
// by the scale of 2024
const high = { measurements, aqi: 179, aqi_category: 'unhealthy' } as const
const critical = {
  measurements: { ...measurements, pm25: 231 },
  aqi: 312,
  aqi_category: 'hazardous',
} as const

type Samples = {
  readonly [Kind in EventKind]: (timestamp: string, atMs: number) => PayloadOf<Kind>
}

const samples: Samples = {
  'aqi.high': (timestamp) => ({
    event: 'aqi.high',
    timestamp,
    data: { ...rise, ...high, threshold: defaultAqiThreshold },
  }),
  'aqi.critical': (timestamp) => ({
    event: 'aqi.critical',
    timestamp,
    data: { ...rise, ...critical, threshold: criticalAqi },
  }),
  'sensor.offline': (timestamp, atMs) => {
    const last = formatIsoMs(atMs - 15 * minuteMs)
    const data = { ...sensor, last_reading: last, offline_since: last, silence_seconds: 900 }
    return { event: 'sensor.offline', timestamp, data }
  },
  'sensor.online': (timestamp) => ({
    event: 'sensor.online',
    timestamp,
    data: { ...sensor, last_reading: timestamp, downtime_seconds: 900 },
  }),
  'reading.new': (timestamp) => ({
    event: 'reading.new',
    timestamp,
    data: { ...sensor, ...high, hash, ...quality },
  }),
  'sensor.quality': (timestamp) => ({
    event: 'sensor.quality',
    timestamp,
    data: {
      ...sensor,
      quality_level: 'fail',
      previous_level: 'suspect',
      quality: ['pm_stuck'],
      reading_timestamp: timestamp,
      measurements,
      hash,
    },
  }),
  'reading.anchored': (timestamp, atMs) => ({
    event: 'reading.anchored',
    timestamp,
    data: {
      ...sensor,
      reading_timestamp: formatIsoMs(atMs - 15 * minuteMs),
      seq: 1,
      hash,
      batch_index: 1,
      merkle_root: hash,
      tx_hash: hash,
      block_number: 1,
      block_hash: hash,
      chain_id: 1,
      contract: `0x${'0'.repeat(40)}`,
      proof_url: 'https://example.org/proof',
    },
  }),
}

export const samplePayload = (kind: EventKind, atMs: number): WebhookPayload =>
  samples[kind](formatIsoMs(atMs), atMs)
