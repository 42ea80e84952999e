import type { AirIndex } from '../../core/air/index/air-index.ts'
import type { Reading } from '../../core/air/reading.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { uptime24h } from '../../core/state/uptime.ts'
import type { Entry } from './sensor-now.ts'
import { isOnline, newestMs, newestReading } from './sensor-now.ts'

/** Uptime, and the newest reading's time (null if it never sent one). */
export function vitalsOf(
  entry: Entry,
  nowMs: number,
): { readonly last_reading: string | null; readonly uptime_24h: number } {
  const { state, slot, cadenceMs, firstMs } = entry
  const timeMs = newestMs(entry)
  return {
    last_reading: timeMs === -Infinity ? null : formatIsoMs(timeMs),
    uptime_24h: uptime24h(state, slot, nowMs, cadenceMs, firstMs),
  }
}

/** A sensor as every list has it. */
export function sensorJson(
  entry: Entry,
  index: AirIndex,
  nowMs: number,
  newest: Reading | undefined = newestReading(entry),
) {
  const { area, lat, lon, address } = entry.site
  return {
    id: entry.id,
    area,
    location: { lat, lon, address },
    status: isOnline(entry) ? 'online' : 'offline',
    ...vitalsOf(entry, nowMs),
    aqi: newest === undefined ? null : index.ofReading(newest),
  }
}

/**
 * The same in ASCII: text joined from such parts has one byte per character and is not encoded
 * again.
 */
export const sensorText = (entry: Entry, index: AirIndex, nowMs: number): string =>
  asciiJson(sensorJson(entry, index, nowMs))

const beyondAscii = /[\u007f-\uffff]/g
const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

export const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(beyondAscii, escaped)
