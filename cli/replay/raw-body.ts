import { formatIso } from '../../core/iso-time.ts'
import type { ArchiveReading } from './archive-format.ts'

/** A reading of an archive as its sensor would have sent it. @param shiftMs 0: as it was */
export function rawBody(id: string, reading: ArchiveReading, shiftMs: number): string {
  const timestamp =
    shiftMs === 0 || reading.timeMs === undefined
      ? reading.timestamp
      : formatIso(reading.timeMs + shiftMs)
  return JSON.stringify({ sensor_id: id, timestamp, ...reading.values })
}
