import type { BucketView } from '../runtime/nats/buckets/bucket-view.ts'
import type { RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import type { Device } from '../schemas/devices/sensor.ts'

export type DeviceMatch = RegisteredSensor | 'unknown_device' | 'ambiguous_device'

/** Which sensor a device is, by the serial that its topics or its messages name. */
export type DeviceIndex = {
  /** `ambiguous_device`: two entries claim it, and a message does not say which of them it is. */
  readonly find: (kind: Device['kind'], serial: string) => DeviceMatch
}

/** Follows the registry for as long as the process lives. */
export function indexDevices(sensors: Omit<BucketView<RegisteredSensor>, 'entries'>): DeviceIndex {
  const idsOf = new Map<string, Set<string>>()
  const keyOf = new Map<string, string>()

  const keep = (id: string, sensor: RegisteredSensor | undefined): void => {
    const former = keyOf.get(id)
    if (former !== undefined) {
      const ids = idsOf.get(former)
      ids?.delete(id)
      if (ids?.size === 0) idsOf.delete(former)
      keyOf.delete(id)
    }
    if (sensor?.device === undefined) return
    const key = nameOf(sensor.device.kind, sensor.device.serial)
    keyOf.set(id, key)
    idsOf.set(key, (idsOf.get(key) ?? new Set()).add(id))
  }
  for (const [id, sensor] of sensors.entriesNaming('device')) keep(id, sensor)
  sensors.onChange(({ key, value }) => keep(key, value))

  return {
    find: (kind, serial) => {
      const [id, another] = idsOf.get(nameOf(kind, serial)) ?? []
      if (another !== undefined) return 'ambiguous_device'
      return (id === undefined ? undefined : sensors.get(id)) ?? 'unknown_device'
    },
  }
}

const nameOf = (kind: string, serial: string): string => `${kind} ${serial}`
