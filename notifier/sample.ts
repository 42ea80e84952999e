/** What a test delivery says: an example of its kind, of a sensor that does not exist. */
import type { EventKind } from '../core/delivery/delivery.ts'
import { formatIsoMs } from '../core/iso-time.ts'
import { minuteMs } from '../core/time.ts'
import { criticalAqi, defaultAqiThreshold } from '../schemas/webhooks/webhook.ts'
import type { WebhookPayload } from '../schemas/webhooks/webhook-payload.ts'
import type { Happening } from './payload.ts'

const sensor = { sensor_id: 'NGR-LOS-TST-000', location: 'Test delivery, no real sensor' }
const hash = `0x${'0'.repeat(64)}`
const measurements = { pm25: 95.4, pm10: 130, co2: 420, temperature: 29.5, humidity: 70 }

/** @param id new for each test, so that a receiver does not take it for a repeat */
export const sampleOf = (kind: EventKind, atMs: number, id: string): Happening => ({
  id,
  payload: { event: kind, timestamp: formatIsoMs(atMs), data: dataOf(kind, atMs) },
})

function dataOf(kind: EventKind, atMs: number): WebhookPayload['data'] {
  switch (kind) {
    case 'aqi.high':
    case 'aqi.critical':
      return {
        ...sensor,
        aqi: kind === 'aqi.high' ? 176 : 312,
        measurements,
        aqi_category: kind === 'aqi.high' ? 'unhealthy' : 'hazardous',
        threshold: kind === 'aqi.high' ? defaultAqiThreshold : criticalAqi,
        previous_aqi: 140,
        hash,
      }
    case 'sensor.offline': {
      const last = formatIsoMs(atMs - 15 * minuteMs)
      return { ...sensor, last_reading: last, offline_since: last, silence_seconds: 900 }
    }
    case 'sensor.online':
      return { ...sensor, last_reading: formatIsoMs(atMs), downtime_seconds: 900 }
    case 'reading.new':
      return { ...sensor, aqi: 176, aqi_category: 'unhealthy', measurements, hash }
  }
}
