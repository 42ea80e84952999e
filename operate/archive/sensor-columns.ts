import { parseIso } from '../../core/iso-time.ts'
import type { SensorEntry, Site } from '../../schemas/devices/sensor.ts'
import type { Cell, Column } from './parquet-table.ts'

/** Of the archive's table of sensors: a sensor at one of its sites. */
export type SensorRow = {
  readonly sensor: SensorEntry
  readonly site: Site
  readonly until: Cell
  readonly isPresent: boolean
}

export const timeOf = (text: string | undefined): number | null => {
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
  { name: 'address', kind: 'text', of: ({ site, isPresent }) => (isPresent ? site.address : null) },
  { name: 'cadence_seconds', kind: 'int', of: ({ sensor }) => sensor.cadence_seconds },
  { name: 'retired_at', kind: 'time', of: ({ sensor }) => timeOf(sensor.retired_at) },
  { name: 'make', kind: 'text', of: ({ sensor }) => sensor.make ?? null },
  { name: 'model', kind: 'text', of: ({ sensor }) => sensor.model ?? null },
  { name: 'indoor', kind: 'flag', of: ({ sensor }) => sensor.indoor ?? null },
  { name: 'height_m', kind: 'number', of: ({ sensor }) => sensor.height_m ?? null },
  { name: 'licence', kind: 'text', of: ({ sensor }) => sensor.licence ?? null },
  { name: 'owner', kind: 'text', of: ({ sensor }) => sensor.owner ?? null },
]
