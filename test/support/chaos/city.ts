/** A made-up city: sensors over all partitions, and what they would measure. */
import type { NatsConnection } from '@nats-io/transport-node'
import { fromHundredths } from '../../../core/air/hundredths.ts'
import { type SensorId, sensorIdRules } from '../../../core/air/sensor-id.ts'
import type { NamedValues } from '../../../core/air/values.ts'
import { dayMs } from '../../../core/time.ts'
import { importSensors, newEntry, openRegistry } from '../../../operate/sensor-registry.ts'
import { ensureStreams } from '../../../runtime/nats/streams/streams.ts'

const rules = sensorIdRules()
const districts = ['IKJ', 'LEK', 'SUR', 'YAB', 'APA']

export const cityOf = (sensors: number): readonly SensorId[] =>
  Array.from(
    { length: sensors },
    (_, i) =>
      `NGR-LOS-${districts[i % districts.length]}-${String(i).padStart(4, '0')}` as SensorId,
  )

/** Makes the streams and registers the sensors, as an operator would before the first reading. */
export async function registerCity(
  nc: NatsConnection,
  ids: readonly SensorId[],
  { cadenceSeconds = 300 } = {},
): Promise<void> {
  await ensureStreams(nc)
  const registry = await openRegistry(nc, rules)
  const nowMs = Date.now()
  await importSensors(
    registry,
    ids.map((id, i) =>
      newEntry({
        id,
        area: `Area ${i % 7}`,
        lat: 6.5,
        lon: 3.4,
        address: `${i} Test Road`,
        cadenceSeconds,
        fromMs: nowMs - 400 * dayMs,
        nowMs,
      }),
    ),
  )
}

/** Believable values, now and then above the lines that raise an event. */
export function measure(random: () => number): NamedValues {
  const whole = (low: number, high: number): number => low + Math.floor(random() * (high - low))
  const pm25 = random() < 0.1 ? whole(15_000, 40_000) : whole(200, 6_000)
  return {
    pm25,
    pm10: Math.floor(pm25 * 1.5),
    co2: random() < 0.2 ? null : whole(40_000, 200_000),
    temperature: whole(2_000, 3_500),
    humidity: whole(4_000, 9_500),
  }
}

const inUnits = (value: number | null = null): number | null =>
  value === null ? null : fromHundredths(value)

/** A reading as a sensor sends it, some 150 bytes. */
export const bodyOf = (sensor: string, timeMs: number, values: NamedValues): string =>
  JSON.stringify({
    sensor_id: sensor,
    timestamp: new Date(timeMs).toISOString(),
    pm25: inUnits(values.pm25),
    pm10: inUnits(values.pm10),
    co2: inUnits(values.co2),
    temperature: inUnits(values.temperature),
    humidity: inUnits(values.humidity),
  })
