import { formatIso } from '../../core/iso-time.ts'
import type { CitySensor } from './city.ts'
import type { Measured } from './measure.ts'

/** As the sensor sends it: some models flat, some with their values under `measurements`. */
export function rawReading({ id, index }: CitySensor, timeMs: number, measured: Measured): string {
  const head = { sensor_id: id, timestamp: formatIso(timeMs) }
  return JSON.stringify(
    index % 2 === 0 ? { ...head, ...measured } : { ...head, measurements: measured },
  )
}
