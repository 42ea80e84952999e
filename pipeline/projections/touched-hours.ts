/**
 * What statistics need of a message of the log: the hours of its readings, with their sensors and areas.
 * Much less than its readings, thousands of messages can wait for the store, and each is read while it is
 * at hand (`rows-at-hand.ts`).
 */
import type { SensorId } from '../../core/air/sensor-id.ts'
import { floorTo, hourMs } from '../../core/time.ts'
import { cellAt, type PackedReadings } from '../../store/packed-readings.ts'

export type TouchedHours = ReadonlyMap<
  number,
  { readonly sensors: ReadonlySet<SensorId>; readonly areas: ReadonlySet<string> }
>

/** By the start of the hour. */
export function touchedBy({ sensors, areas, cells, width }: PackedReadings): TouchedHours {
  const newHour = () => ({
    sensors: new Set<SensorId>(),
    areas: new Set<string>(),
    // which are in the sets: a mark takes a tenth of the time of looking up a name
    hasSensor: new Uint8Array(sensors.length),
    hasArea: new Uint8Array(areas.length),
  })
  const hours = new Map<number, ReturnType<typeof newHour>>()
  let start = Number.NaN
  let hour = newHour()
  for (let at = 0; at < cells.length; at += width) {
    const timeMs = cells[at + cellAt.timeMs]!
    // most readings of a message are of the same hour
    if (!(timeMs >= start && timeMs < start + hourMs)) {
      start = floorTo(timeMs, hourMs)
      hour = hours.get(start) ?? newHour()
      hours.set(start, hour)
    }
    const sensor = cells[at + cellAt.sensor]!
    const area = cells[at + cellAt.area]!
    if (hour.hasSensor[sensor] === 0) hour.sensors.add(sensors[sensor]!)
    if (hour.hasArea[area] === 0) hour.areas.add(areas[area]!)
    hour.hasSensor[sensor] = hour.hasArea[area] = 1
  }
  return hours
}

/** How much memory it takes: names in it. */
export const sizeOfTouched = (hours: TouchedHours): number =>
  hours.values().reduce((sum, { sensors, areas }) => sum + sensors.size + areas.size, 0)
