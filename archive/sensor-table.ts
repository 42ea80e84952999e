/** The registry as a table: one row for each sensor and site, with what everyone may know about it. */
import type { NatsConnection } from '@nats-io/transport-node'
import { type SensorRow, timeOf } from '../operate/archive/sensor-columns.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { checkOf } from '../schemas/check.ts'
import { type SensorEntry, sensorSchema } from '../schemas/devices/sensor.ts'
import { buckets } from '../schemas/subjects.ts'

const isEntry = checkOf<SensorEntry>(sensorSchema)

/**
 * By sensor, then oldest site first; retired sensors too: their readings stay. As in the API a site is
 * published when it begins, and an address while the sensor is there: a person may live there after.
 */
export async function sensorRows(
  nc: NatsConnection,
  nowMs: number = Date.now(),
): Promise<readonly SensorRow[]> {
  const parse = (value: unknown): SensorEntry | undefined => (isEntry(value) ? value : undefined)
  await using bucket = await watchBucket(nc, buckets.sensors, parse, { isReadOnly: true })
  const sensors = [...bucket.entries()].map(([, sensor]) => sensor)
  return sensors
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .flatMap((sensor) => {
      const begun = sensor.sites.filter(({ from }, at) => at === 0 || (timeOf(from) ?? 0) <= nowMs)
      return begun.map((site, at) => ({
        sensor,
        site,
        until: timeOf(begun[at + 1]?.from),
        isPresent: at === begun.length - 1,
      }))
    })
}
