import type { QuantityName } from '../../core/air/quantities.ts'
import { formatIso } from '../../core/iso-time.ts'

/** One reading as an archive holds it, not yet judged. */
export type ArchiveReading = {
  /** The archive's own name of the sensor, or a whole id where the archive uses ids. */
  readonly sensor: string
  /** As written, with `Z` where the archive names no offset. */
  readonly timestamp: string
  /** undefined: not a time, which the pipeline refuses. */
  readonly timeMs: number | undefined
  /** Where the sensor was; undefined where the archive does not state it. */
  readonly place: Place | undefined
  readonly values: { readonly [Name in QuantityName]?: number }
  /** Where the archive holds whole messages: this one, to be sent as it is. */
  readonly message?: WholeMessage
}

export type WholeMessage = {
  /** Its bytes as `latin1` text, one letter per byte: invalid UTF-8 stays as it was. */
  readonly bytes: string
  /** The number of its readings: its items, or 1 where it will be refused whole. */
  readonly items: number
}

export type Place = {
  readonly lat: number
  readonly lon: number
  /** The archive's name of the place, '' where it has none. */
  readonly location: string
}

/** What has been read so far: rows = values of the readings + unmapped, always. */
export type RowCounts = {
  /**
   * Values in the file: one per row in a long format, one per filled cell in a wide one; or whole
   * readings.
   */
  rows: number
  /** Those that became a value of a reading; or readings in messages that can be sent. */
  values: number
  /**
   * Quantities that we have no name for, and what is not a number; or lines that cannot be sent.
   */
  unmapped: number
}

export const noRows = (): RowCounts => ({ rows: 0, values: 0, unmapped: 0 })

/** Takes the lines of one file in order; emits readings as they are complete. */
export type ArchiveParser = {
  readonly line: (text: string) => void
  readonly end: () => void
}

export type ParserOptions = {
  readonly counts: RowCounts
  readonly emit: (reading: ArchiveReading) => void
  /** The line just given cannot be sent. It is counted by the parser. */
  readonly unsendable: (why: string) => void
}

export type ArchiveFormat = {
  /** For the help of `replay`, in a line: what a file holds, and who publishes the format. */
  readonly about: string
  /**
   * `readings`: messages are made of them, under ids made of the archive's names, and they name the
   * places of their sensors. `messages`: they are sent as they are, to the sensors that they name.
   */
  readonly holds: 'readings' | 'messages'
  /** How its bytes become the lines given to the parser; `latin1` keeps every one of them. */
  readonly encoding: 'utf8' | 'latin1'
  /**
   * Opens a file of the format by its first line.
   * @throws NotThisFormat where the line shows that the file is something else
   */
  readonly open: (firstLine: string, options: ParserOptions) => ArchiveParser
}

export class NotThisFormat extends Error {
  override readonly name = 'NotThisFormat'
}

/** A reading of an archive as its sensor would have sent it. @param shiftMs 0: as it was */
export function rawBody(id: string, reading: ArchiveReading, shiftMs: number): string {
  const timestamp =
    shiftMs === 0 || reading.timeMs === undefined
      ? reading.timestamp
      : formatIso(reading.timeMs + shiftMs)
  return JSON.stringify({ sensor_id: id, timestamp, ...reading.values })
}
