/** Where each sensor was at what time, by the archive's table of sensors. */
import type { ArchiveFile } from './archive-files.ts'
import { sensorColumns } from './sensor-columns.ts'

/** undefined: the table does not have the sensor. */
export type SensorSites = (sensor: string, timeMs: number) => string | undefined

const [idAt, fromAt, areaAt] = ['sensor_id', 'from', 'area'].map((name) =>
  sensorColumns.findIndex((column) => column.name === name),
)

type Site = { readonly fromMs: number; readonly area: string }

/** @param file with `sensorColumns` @throws Refusal */
export async function sitesOf({ groups, read }: ArchiveFile): Promise<SensorSites> {
  const bySensor = new Map<string, Site[]>()
  const places = [idAt ?? 0, fromAt ?? 0, areaAt ?? 0] as const
  for (const span of groups) {
    const { cell } = await read(places, span)
    for (let row = 0; row < span.end - span.start; row++) {
      const [id, from, area] = places.map((place) => cell(place, row))
      if (typeof id !== 'string' || typeof area !== 'string') continue
      const site = { fromMs: typeof from === 'number' ? from : 0, area }
      const others = bySensor.get(id)
      if (others === undefined) bySensor.set(id, [site])
      else others.push(site)
    }
  }
  return (sensor, timeMs) => {
    const sites = bySensor.get(sensor) ?? []
    return (sites.findLast(({ fromMs }) => fromMs <= timeMs) ?? sites[0])?.area
  }
}
