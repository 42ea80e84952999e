/** A registry in memory, as a process has it: entries as bytes, and a view of them. */
import { AreaClaims } from '../../api/live/area-claims.ts'
import type { Outline } from '../../api/live/area-directory.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { openView, type RowView } from '../../runtime/nats/buckets/bucket-view.ts'
import { PackedEntries } from '../../runtime/nats/buckets/packed-entries.ts'
import { parseAnySensor, type RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import { buckets } from '../../schemas/subjects.ts'

export type RegisteredView = RowView<RegisteredSensor> & {
  /** @param entry undefined: it is deleted */
  readonly put: (key: string, entry: SensorEntry | undefined, writtenMs?: number) => void
}

export function registeredView(rules = sensorIdRules()): RegisteredView {
  const entries = new PackedEntries()
  const { view, beforeChange } = openView({
    bucket: buckets.sensors,
    entries,
    parse: (value, key, _writtenMs, isFine) => parseAnySensor(value, rules, key, isFine),
    isMain: true,
  })
  let revision = 0
  return {
    ...view,
    put: (key, entry, writtenMs = 0) => {
      const report = beforeChange(key)
      entries.set({
        key,
        kind: entry === undefined ? 'deleted' : 'fine',
        revision: ++revision,
        timeMs: writtenMs,
        value: new TextEncoder().encode(entry === undefined ? '' : JSON.stringify(entry)),
      })
      report()
    },
  }
}

/** What the API knows of all sensors. */
export function outlineOf(sensors: readonly Pick<RegisteredSensor, 'id' | 'sites'>[]): Outline {
  const claims = new AreaClaims()
  for (const sensor of sensors) claims.add(sensor)
  return { claims: claims.counts, region: claims.region(() => []) }
}
