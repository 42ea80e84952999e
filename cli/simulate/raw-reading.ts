import { deviceText } from '../../core/air/device-text.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { CitySensor } from './city.ts'
import type { Measured } from './measure.ts'

/** As the sensor sends it: some models flat, some with their values under `measurements`. */
export function rawReading(
  { id, index, signer }: CitySensor,
  timeMs: number,
  measured: Measured,
): string {
  const head = { sensor_id: id, timestamp: formatIso(timeMs) }
  // the texts of the numbers are those that JSON.stringify writes
  const texts = Object.entries(measured).map(([name, value]) => [name, String(value)] as const)
  const sig = signer && { sig: signer.sign(deviceText(id, timeMs, texts)) }
  return JSON.stringify(
    index % 2 === 0
      ? { ...head, ...measured, ...sig }
      : { ...head, measurements: measured, ...sig },
  )
}
