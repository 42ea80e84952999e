/**
 * Makes the raw reading of what a device sent, published as its sensor. What the pipeline
 * would refuse in any case is refused here, where the sender still receives the reason.
 */

import { fromHundredths, toHundredths } from '../../core/air/hundredths.ts'
import { hardRanges, type QuantityName, quantityNames } from '../../core/air/quantities.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import { formatIso } from '../../core/iso-time.ts'
import { futureToleranceMs } from '../../core/time.ts'
import { earliestOf, type RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { RawReading } from '../../schemas/log/raw-reading.ts'
import type { MappedFields } from '../devices/mapped.ts'

export type ItemFault = {
  readonly code: 'too_old' | 'before_site' | 'future' | 'out_of_range'
  readonly field: string
  readonly why: string
}

/** @returns why no reading of this time is believed, or undefined */
export function timeFault(
  timeMs: number,
  {
    nowMs,
    earliestMs,
    sensor,
  }: {
    readonly nowMs: number
    readonly earliestMs: number
    readonly sensor: RegisteredSensor
  },
): ItemFault | undefined {
  const field = 'timestamp'
  if (timeMs < earliestMs)
    return {
      code: 'too_old',
      field,
      why: `${formatIso(timeMs)} is before ${formatIso(earliestMs)}: the clock was never set`,
    }
  if (timeMs < earliestOf(sensor))
    return {
      code: 'before_site',
      field,
      why: `${formatIso(timeMs)} is more than a day before ${sensor.id} was at its first site`,
    }
  if (timeMs - nowMs > futureToleranceMs)
    return {
      code: 'future',
      field,
      why: `${formatIso(timeMs)} is ${Math.round((timeMs - nowMs) / 1000)} s from now: set the clock`,
    }
  return undefined
}

/**
 * Only where no value is believable; where some are, the pipeline drops the others and stores the
 * original.
 */
export function rangeFault(fields: MappedFields): ItemFault | undefined {
  const named = quantityNames.flatMap((name) => {
    const value = fields[name]
    return value === undefined ? [] : [{ name, value }]
  })
  if (named.length === 0 || named.some(({ name, value }) => isBelievable(name, value)))
    return undefined
  return {
    code: 'out_of_range',
    field: named.map(({ name }) => name).join(', '),
    why: `no value is believable: ${named.map(({ name, value }) => `${name} ${value}`).join(', ')}`,
  }
}

function isBelievable(name: QuantityName, value: number): boolean {
  const hundredths = toHundredths(value)
  const { low, high } = hardRanges[name]
  return hundredths !== undefined && hundredths >= low && hundredths <= high
}

/** With two decimals, like every reading. */
export function rawItem(fields: MappedFields, timeMs: number, timeAssigned: boolean): RawReading {
  const item: { [Name in QuantityName]?: number } = {}
  for (const name of quantityNames) {
    const hundredths = toHundredths(fields[name] ?? Number.NaN)
    if (hundredths !== undefined) item[name] = fromHundredths(hundredths)
  }
  const timestamp = formatIso(timeMs)
  return timeAssigned ? { timestamp, ...item, time_assigned: true } : { timestamp, ...item }
}

/**
 * The time of a reading whose device has no clock. Two messages of a sensor may arrive within a
 * millisecond, and a reading is named by its sensor and time, so each gets a time of its own.
 */
export function arrivalClock(nowMs: () => number, most = 100_000): (sensor: string) => number {
  const last = new BoundedMap<string, number>(most)
  return (sensor) => {
    const timeMs = Math.max(nowMs(), (last.get(sensor) ?? 0) + 1)
    last.set(sensor, timeMs)
    return timeMs
  }
}
