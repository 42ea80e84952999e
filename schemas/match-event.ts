/** Which webhooks an event of the log concerns: for deliveries, and for what would have been one. */
import { levelOfNames } from '../core/air/quality-level.ts'
import { criticalAqi } from '../core/air/thresholds.ts'
import type { EventPlace, Matched, WebhookIndex } from '../core/delivery/webhook-match.ts'
import type { AirEvent } from './log/event.ts'

export function matchEvent(event: AirEvent, index: WebhookIndex, on: Matched): void {
  const place = { sensor: event.sensor_id, area: event.area }
  switch (event.kind) {
    case 'rise':
      return matchRise(event, { ...place, level: levelOfNames(event.reading.quality) }, index, on)
    case 'online':
      return index.match('sensor.online', place, 0, on)
    case 'offline':
      return index.match('sensor.offline', place, 0, on)
    case 'quality':
      return index.match('sensor.quality', place, 0, on)
  }
}

export function matchRise(
  event: { readonly from: number; readonly to: number },
  place: EventPlace,
  index: WebhookIndex,
  on: Matched,
): void {
  index.rise(place, event, on)
  if (event.from <= criticalAqi && criticalAqi < event.to) index.match('aqi.critical', place, 0, on)
}
