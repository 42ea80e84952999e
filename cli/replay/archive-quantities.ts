import type { QuantityName } from '../../core/air/quantities.ts'

/** What Luftdaten-type archives call our quantities; they count in the same units. */
export const archiveQuantities: ReadonlyMap<string, QuantityName> = new Map([
  ['P1', 'pm10'],
  ['P2', 'pm25'],
  ['temperature', 'temperature'],
  ['humidity', 'humidity'],
])
