import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { InfluxCell } from './query.ts'

/** In the order of `readingOf`; time comes first of itself. */
export const readingFields = 'pm25, pm10, co2, temperature, humidity, aqi, flags, seq, area'

/**
 * @param cells time, `readingFields`, and the sensor where it is not given
 * @returns none for a row that is not of our making: every row of ours has all that is asked here
 */
export function readingOf(
  [
    timeMs,
    pm25,
    pm10,
    co2,
    temperature,
    humidity,
    aqi,
    flags,
    seq,
    area,
    id,
  ]: readonly InfluxCell[],
  sensor: string | InfluxCell | undefined = id,
): Reading[] {
  if (typeof timeMs !== 'number' || typeof flags !== 'number' || typeof seq !== 'number') return []
  if (typeof area !== 'string' || typeof sensor !== 'string') return []
  return [
    {
      // only canonical ids are ever written
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      sensor: sensor as SensorId,
      area,
      timeMs,
      pm25: hundredths(pm25),
      pm10: hundredths(pm10),
      co2: hundredths(co2),
      temperature: hundredths(temperature),
      humidity: hundredths(humidity),
      aqi: typeof aqi === 'number' ? aqi : null,
      flags,
      seq,
    },
  ]
}

/** Exact: a double holds 21 million units to far below a hundredth. */
const hundredths = (value: InfluxCell | undefined): number | null =>
  typeof value === 'number' ? Math.round(value * 100) : null
