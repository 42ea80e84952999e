import type { SensorId } from '../../core/sensor-id.ts'
import type { WatchedBucket } from '../../runtime/watched-bucket.ts'
import type { RegisteredSensor } from '../../schemas/registered-sensor.ts'
import type { Device } from '../../schemas/sensor.ts'

type Registry = Pick<WatchedBucket<RegisteredSensor>, 'entries' | 'onChange'>

/**
 * Finds the sensor that is a device, by its kind and serial in capitals. Where two entries name the
 * same one, none is found: nobody could say whose reading it is.
 */
export function openDeviceIndex(
  sensors: Registry,
): Disposable & { readonly find: (kind: Device['kind'], serial: string) => SensorId | undefined } {
  const byDevice = new Map<string, Set<SensorId>>()
  const deviceOf = new Map<string, string>()
  const take = (key: string, sensor: RegisteredSensor | undefined): void => {
    const before = deviceOf.get(key)
    if (before !== undefined) {
      for (const id of byDevice.get(before) ?? []) if (id === key) byDevice.get(before)?.delete(id)
      if (byDevice.get(before)?.size === 0) byDevice.delete(before)
      deviceOf.delete(key)
    }
    if (sensor?.device === undefined) return
    const name = nameOf(sensor.device.kind, sensor.device.serial)
    deviceOf.set(key, name)
    const found = byDevice.get(name)
    if (found === undefined) byDevice.set(name, new Set([sensor.id]))
    else found.add(sensor.id)
  }
  for (const [key, sensor] of sensors.entries()) take(key, sensor)
  const stop = sensors.onChange(({ key, value }) => take(key, value))
  return {
    find: (kind, serial) => {
      const found = byDevice.get(nameOf(kind, serial))
      return found?.size === 1 ? found.values().next().value : undefined
    },
    [Symbol.dispose]: () => stop(),
  }
}

const nameOf = (kind: string, serial: string): string => `${kind} ${serial.toUpperCase()}`
