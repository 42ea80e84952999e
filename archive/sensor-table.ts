/** The registry as a table: one row for each sensor and site, with what everyone may know about it. */
import type { NatsConnection } from '@nats-io/transport-node'
import { parseIso } from '../core/iso-time.ts'
import type { Cell, Column } from '../operate/archive/parquet-table.ts'
import { watchBucket } from '../runtime/nats/watched-bucket.ts'
import { checkOf } from '../schemas/check.ts'
import { type SensorEntry, type Site, sensorSchema } from '../schemas/devices/sensor.ts'
import { buckets } from '../schemas/subjects.ts'

type SensorRow = { readonly sensor: SensorEntry; readonly site: Site; readonly until: Cell }

const timeOf = (text: string | undefined): number | null => {
  const verdict = text === undefined ? undefined : parseIso(text)
  return verdict !== undefined && 'timeMs' in verdict ? verdict.timeMs : null
}

export const sensorColumns: readonly Column<SensorRow>[] = [
  { name: 'sensor_id', kind: 'text', isNeeded: true, of: ({ sensor }) => sensor.id },
  { name: 'from', kind: 'time', of: ({ site }) => timeOf(site.from) },
  { name: 'until', kind: 'time', of: ({ until }) => until },
  { name: 'area', kind: 'text', of: ({ site }) => site.area },
  { name: 'lat', kind: 'number', of: ({ site }) => site.lat },
  { name: 'lon', kind: 'number', of: ({ site }) => site.lon },
  { name: 'address', kind: 'text', of: ({ site }) => site.address },
  { name: 'cadence_seconds', kind: 'int', of: ({ sensor }) => sensor.cadence_seconds },
  { name: 'retired_at', kind: 'time', of: ({ sensor }) => timeOf(sensor.retired_at) },
  { name: 'make', kind: 'text', of: ({ sensor }) => sensor.make ?? null },
  { name: 'model', kind: 'text', of: ({ sensor }) => sensor.model ?? null },
  { name: 'indoor', kind: 'flag', of: ({ sensor }) => sensor.indoor ?? null },
  { name: 'height_m', kind: 'number', of: ({ sensor }) => sensor.height_m ?? null },
  { name: 'licence', kind: 'text', of: ({ sensor }) => sensor.licence ?? null },
  { name: 'owner', kind: 'text', of: ({ sensor }) => sensor.owner ?? null },
]

const isEntry = checkOf<SensorEntry>(sensorSchema)

/** By sensor, then oldest site first; retired sensors too: their readings stay. */
export async function sensorRows(nc: NatsConnection): Promise<readonly SensorRow[]> {
  const parse = (value: unknown): SensorEntry | undefined => (isEntry(value) ? value : undefined)
  await using bucket = await watchBucket(nc, buckets.sensors, parse, { isReadOnly: true })
  const sensors = [...bucket.entries()].map(([, sensor]) => sensor)
  return sensors
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .flatMap((sensor) =>
      sensor.sites.map((site, at) => ({ sensor, site, until: timeOf(sensor.sites[at + 1]?.from) })),
    )
}
