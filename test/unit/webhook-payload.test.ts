import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { toHundredths } from '../../core/air/hundredths.ts'
import { usAqiOf } from '../../core/air/index/us-epa.ts'
import { occurrenceOfEvent } from '../../notifier/sources/payload.ts'
import type { AirEvent } from '../../schemas/log/event.ts'
import { payloadSchemas } from '../../schemas/webhooks/webhook-payload.ts'
import { samplePayload } from '../../schemas/webhooks/webhook-samples.ts'

const rise: AirEvent = {
  id: '12-0',
  kind: 'rise',
  sensor_id: 'NGR-LOS-IKJ-001',
  timestamp: '2026-01-31T08:00:00.000Z',
  area: 'Ikeja',
  address: '1 Ikeja Road',
  from: 90,
  to: 115,
  previous_aqi: 90,
  reading: {
    seq: 12,
    timestamp: '2026-01-31T08:00:00.000Z',
    measurements: { pm25: 41.2, pm10: null, co2: null, temperature: null, humidity: null },
    aqi: 115,
    quality: [],
    hash: `0x${'0'.repeat(64)}`,
  },
}

test.each([
  ['as its owner wrote it', 100, 100.5, 100.5],
  ['whole as it is', 100, 100, 100],
  ['as it was matched, if it has changed since', 100, 120, 100],
  ['as it was matched, if the owner has given none', 150, undefined, 150],
])('the threshold of a rise is reported %s', (_how, matched, own, reported) => {
  const occurrence = occurrenceOfEvent(rise, 'aqi.high', matched, own)
  expect(occurrence?.payload.data).toMatchObject({ threshold: reported, aqi: 115 })
  expect(new Ajv().validate(payloadSchemas['aqi.high'], occurrence?.payload)).toBe(true)
})

test.each(['aqi.high', 'aqi.critical', 'reading.new'] as const)(
  'the index of the example of %s is that of its measurements',
  (kind) => {
    const { data } = samplePayload(kind, 0)
    if (!('aqi' in data)) throw new Error('it has no index')
    const { pm25, pm10 } = data.measurements
    expect(usAqiOf(toHundredths(pm25 ?? 0) ?? null, toHundredths(pm10 ?? 0) ?? null)).toBe(data.aqi)
  },
)
