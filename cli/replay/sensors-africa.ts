/**
 * The monthly archives of sensors.AFRICA: `;`, one value per row. The rows of one sensor and
 * timestamp make one reading; they may be apart, so a reading stays open for a while.
 */
import type { QuantityName } from '../../core/air/quantities.ts'
import type { ArchiveFormat, ArchiveParser, ParserOptions, Place } from './archive-format.ts'
import { archiveQuantity } from './archive-quantities.ts'
import { findColumns, numberOf, placeOf, splitFields, timeOf } from './columns.ts'

const columnNames = [
  'sensor_id',
  'location',
  'lat',
  'lon',
  'timestamp',
  'value_type',
  'value',
] as const

/** Readings open at once: rows of a reading that are further apart make two readings. */
export const openReadings = 10_000

type Open = {
  readonly sensor: string
  readonly timestamp: string
  readonly place: Place | undefined
  readonly values: { [Name in QuantityName]?: number }
}

export const sensorsAfrica: ArchiveFormat = {
  about: 'monthly CSV, one value per row (sensors.AFRICA)',
  holds: 'readings',
  encoding: 'utf8',
  open: (firstLine, options) =>
    longParser(findColumns(splitFields(firstLine), columnNames), options),
}

function longParser(
  at: Readonly<Record<(typeof columnNames)[number], number>>,
  { counts, emit }: ParserOptions,
): ArchiveParser {
  // Insertion order is age. A key has several open readings where the archive repeats its rows.
  const open = new Map<string, Open[]>()
  let size = 0

  const close = (key: string, readings: readonly Open[]): void => {
    open.delete(key)
    size -= readings.length
    for (const reading of readings) emit({ ...reading, ...timeOf(reading.timestamp) })
  }

  return {
    line(text) {
      const fields = splitFields(text)
      const field = (name: (typeof columnNames)[number]): string => fields[at[name]] ?? ''
      counts.rows += 1
      const known = archiveQuantity(field('value_type'))
      const number = numberOf(field('value'))
      if (known === undefined || number === undefined || field('sensor_id') === '') {
        counts.unmapped += 1
        return
      }
      counts.values += 1
      const { quantity } = known
      const value = known.inUnit(number)
      const key = `${field('sensor_id')};${field('timestamp')}`
      const siblings = open.get(key) ?? []
      const lacking = siblings.find((reading) => reading.values[quantity] === undefined)
      if (lacking !== undefined) {
        lacking.values[quantity] = value
        return
      }
      siblings.push({
        sensor: field('sensor_id'),
        timestamp: field('timestamp'),
        place: placeOf(field('lat'), field('lon'), field('location')),
        values: { [quantity]: value },
      })
      open.set(key, siblings)
      size += 1
      for (const [oldest, readings] of open) {
        if (size <= openReadings) break
        close(oldest, readings)
      }
    },
    end() {
      for (const [key, readings] of open) close(key, readings)
    },
  }
}
