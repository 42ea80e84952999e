/**
 * The daily files of sensor.community (once luftdaten.info): `;`, one sensor per file, one reading
 * per row with a column per quantity. Times are UTC and have no offset.
 */
import type { QuantityName } from '../../core/air/quantities.ts'
import { type ArchiveFormat, NotThisFormat } from './archive-format.ts'
import { archiveQuantity } from './archive-quantities.ts'
import { findColumns, numberOf, placeOf, splitFields, timeOf } from './columns.ts'

const fixed = ['sensor_id', 'sensor_type', 'location', 'lat', 'lon', 'timestamp'] as const

export const sensorCommunity: ArchiveFormat = {
  about: 'daily CSV per sensor, one reading per row (sensor.community)',
  holds: 'readings',
  encoding: 'utf8',
  open(firstLine, { counts, emit }) {
    const header = splitFields(firstLine)
    const at = findColumns(header, fixed)
    if (header.includes('value_type'))
      throw new NotThisFormat('its rows hold one value each, as in the format sensors-africa')
    const cells = header.flatMap((name, index) =>
      fixed.some((known) => known === name) ? [] : [{ index, known: archiveQuantity(name) }],
    )
    return {
      line(text) {
        const fields = splitFields(text)
        const values: { [Name in QuantityName]?: number } = {}
        let count = 0
        let filled = 0
        for (const { index, known } of cells) {
          if ((fields[index] ?? '').trim() === '') continue
          filled += 1
          const value = numberOf(fields[index])
          if (known === undefined || value === undefined) continue
          values[known.quantity] = known.inUnit(value)
          count += 1
        }
        const sensor = fields[at.sensor_id] ?? ''
        const isReading = sensor !== '' && count > 0
        counts.rows += filled
        counts.values += isReading ? count : 0
        counts.unmapped += isReading ? filled - count : filled
        if (!isReading) return
        emit({
          sensor,
          place: placeOf(fields[at.lat] ?? '', fields[at.lon] ?? '', fields[at.location] ?? ''),
          values,
          ...timeOf(fields[at.timestamp] ?? ''),
        })
      },
      end() {},
    }
  },
}
