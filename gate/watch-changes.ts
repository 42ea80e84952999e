import type { BucketView } from '../runtime/nats/buckets/bucket-view.ts'
import type { RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import type { CredentialBook } from './credential-book.ts'

type Known = {
  readonly sensors: Pick<BucketView<RegisteredSensor>, 'onChange'>
  readonly book: Pick<CredentialBook, 'onChange' | 'mayStay'>
}

/**
 * Ends the open connections of a sensor whose credential was revoked, deleted or replaced at once,
 * or whose entry is gone or names another device now.
 */
export function watchChanges({ sensors, book }: Known, kick: (id: string) => void): () => void {
  const deviceOf = (sensor: RegisteredSensor | undefined): string | undefined =>
    sensor && JSON.stringify(sensor.device ?? null)
  const stopBook = book.onChange((id, isNew) => {
    if (!isNew && !book.mayStay(id)) kick(id)
  })
  const stopSensors = sensors.onChange(({ key: id, before, value }) => {
    if (before !== undefined && deviceOf(before) !== deviceOf(value)) kick(id)
  })
  return () => {
    stopBook()
    stopSensors()
  }
}
