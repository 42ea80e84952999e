import type { WatchedBucket } from '../runtime/nats/watched-bucket.ts'
import type { RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import type { CredentialBook } from './credential-book.ts'

type Known = {
  readonly sensors: WatchedBucket<RegisteredSensor>
  readonly book: CredentialBook
}

/**
 * Ends the open connections of a sensor whose credential was revoked, deleted or replaced at once,
 * or whose entry is gone or names another device now.
 */
export function watchChanges({ sensors, book }: Known, kick: (id: string) => void): () => void {
  const devices = new Map<string, string>()
  const deviceOf = (id: string): string | undefined => {
    const sensor = sensors.get(id)
    return sensor && JSON.stringify(sensor.device ?? null)
  }
  for (const [id] of sensors.entries()) devices.set(id, deviceOf(id) ?? '')
  const known = new Set(book.ids())
  const stopBook = book.onChange((id) => {
    if (known.has(id) && !book.mayStay(id)) kick(id)
    if (book.has(id)) known.add(id)
    else known.delete(id)
  })
  const stopSensors = sensors.onChange(({ key: id }) => {
    const [before, now] = [devices.get(id), deviceOf(id)]
    if (before !== undefined && before !== now) kick(id)
    if (now === undefined) devices.delete(id)
    else devices.set(id, now)
  })
  return () => {
    stopBook()
    stopSensors()
  }
}
