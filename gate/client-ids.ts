import { clientIdsOf } from '../core/device-topics.ts'
import type { BucketView } from '../runtime/nats/buckets/bucket-view.ts'
import type { RegisteredSensor } from '../schemas/devices/registered-sensor.ts'

/**
 * Which sensor a server's log means: over NATS it names the sensor's id, over MQTT the client id,
 * which may be another that the sensor's entry names. Follows the registry.
 * @returns the sensor's id; undefined: of no sensor, or of two, because the name does not say which
 */
export function indexClientIds(
  sensors: Omit<BucketView<RegisteredSensor>, 'entries'>,
): (name: string) => string | undefined {
  const sensorsOf = new Map<string, Set<string>>()
  const ownOf = new Map<string, string>()

  const keep = (id: string, sensor: RegisteredSensor | undefined): void => {
    const former = ownOf.get(id)
    if (former !== undefined) {
      const ids = sensorsOf.get(former)
      ids?.delete(id)
      if (ids?.size === 0) sensorsOf.delete(former)
      ownOf.delete(id)
    }
    const [, own] = sensor === undefined ? [] : clientIdsOf(id, sensor.device)
    if (own === undefined) return
    ownOf.set(id, own)
    sensorsOf.set(own, (sensorsOf.get(own) ?? new Set()).add(id))
  }
  for (const [id, sensor] of sensors.entriesNaming('device')) keep(id, sensor)
  sensors.onChange(({ key, value }) => keep(key, value))

  return (name) => {
    if (sensors.get(name) !== undefined) return name
    const [id, another] = sensorsOf.get(name) ?? []
    return another === undefined ? id : undefined
  }
}
