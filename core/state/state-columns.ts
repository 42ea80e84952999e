/**
 * The columns of a partition's state: typed arrays with one row per sensor, so that 100,000 sensors
 * are some 45 MB and a snapshot is a handful of copies. Fields that a reading touches together lie
 * together: the fold waits for memory more than for anything else, and a column for every field
 * would make it wait twice as long.
 */
import { mostValues } from '../air/values.ts'

/** `null` in a column of hundredths: no measured value comes near it. */
export const noValue = -(2 ** 31)
/** `null` in a column of indices. */
export const noAqi = -1

/** Places in a row of `times`: ms since the epoch unless noted otherwise; NaN is none. */
export const timeAt = {
  /** Of the newest accepted reading, −Infinity if there is none. */
  newestMs: 0,
  newestArrivedMs: 1,
  /** Not a time, but a number of the same size. */
  newestSeq: 2,
  /** The listening clock when the last fresh reading arrived, and the broker's time of that. */
  heardAt: 3,
  heardArrivedMs: 4,
  /** NaN unless offline. */
  offlineSinceMs: 5,
  /** The listening clock when a storm held the silence back; NaN unless held. */
  heldAt: 6,
} as const

/** Places in a row of `numbers`. */
export const numberAt = {
  flags: 0,
  /** Its area's place in `areas`. */
  area: 1,
  aqi: 2,
  /** The newest humidity that was not null, and how many in a row were equal to it. */
  humidity: 3,
  humidityRun: 4,
  /** `crossing.ts`: the previous fresh index, and the thresholds that have fired. */
  previousAqi: 5,
  firedBelow: 6,
  /**
   * The newest reading's values in hundredths, or `noValue`, to the end of the row: the only part
   * that grows with the table of quantities.
   */
  values: 7,
} as const

/** Five-minute slots in the uptime ring: the last 24 h, the running one, and some for clocks ahead. */
export const uptimeWords = 10
/** Clock hours in the hour ring: the last 24, and one for a sensor whose clock runs ahead. */
export const hourRing = 25

/** Places in a row of `checks`: what the rules of `pm-checks.ts` remember of a sensor. */
export const checkAt = {
  /** The newest PM2.5 and PM10 that were not null, in hundredths, or `noValue`. */
  pm25: 0,
  pm10: 1,
  /** How many readings in a row had the same of both, and the minute of the first. */
  run: 2,
  sinceMinute: 3,
  /** How many of the five are known. */
  recentCount: 4,
  /** A ring of the newest five PM2.5; the next goes to the place of the oldest. */
  recentNext: 5,
  recent: 6,
  /** The sensor's level (`sensor-level.ts`), and what speaks for a better one. */
  level: 11,
  betterLevel: 12,
  betterRun: 13,
  betterSinceMinute: 14,
  /** 1: the log's verdict is that it is unlike its neighbours (`unlike-neighbours.ts`). */
  unlike: 15,
} as const
export const recentLength = 5

/** Each column's kind of array and the entries of a row, in the order of a snapshot. */
export const layout = {
  times: { of: Float64Array, width: 7 },
  numbers: { of: Int32Array, width: numberAt.values + mostValues },
  /** `presence.ts` */
  status: { of: Uint8Array, width: 1 },
  /** `uptime.ts`: a ring of bits; the slot of `newestMs` is its newest. */
  uptimeBits: { of: Uint32Array, width: uptimeWords },
  /** `hour-sums.ts`: rings of pairs (pm25, pm10), sums in hundredths and how many values. */
  hourSums: { of: Int32Array, width: 2 * hourRing },
  hourCounts: { of: Uint16Array, width: 2 * hourRing },
  /** A row is a line of the processor's cache. */
  checks: { of: Int32Array, width: checkAt.unlike + 1 },
  /** How many readings of an hour have failed, and are not in its sums. */
  hourFails: { of: Uint16Array, width: hourRing },
} as const

/** The rows of a sensor never heard; in the other columns they are zeros. */
const noTimes = [-Infinity, Number.NaN, 0, Number.NaN, Number.NaN, Number.NaN, Number.NaN]
const noNumbers = [0, 0, noAqi, noValue, 0, noAqi, 0].concat(
  Array.from({ length: mostValues }, () => noValue),
)

export type ColumnName = keyof typeof layout
export type Columns = {
  times: Float64Array<ArrayBuffer>
  numbers: Int32Array<ArrayBuffer>
  status: Uint8Array<ArrayBuffer>
  uptimeBits: Uint32Array<ArrayBuffer>
  hourSums: Int32Array<ArrayBuffer>
  hourCounts: Uint16Array<ArrayBuffer>
  checks: Int32Array<ArrayBuffer>
  hourFails: Uint16Array<ArrayBuffer>
}

// Object.keys is typed string[]; the cast only names the strings
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const columnNames = Object.keys(layout) as ColumnName[]

const { times, numbers, status, uptimeBits, hourSums, hourCounts, checks, hourFails } = layout

/** Rows for sensors never heard. @param capacity how many */
export const emptyColumns = (capacity: number): Columns =>
  filled(
    {
      times: new Float64Array(capacity * times.width),
      numbers: new Int32Array(capacity * numbers.width),
      status: new Uint8Array(capacity * status.width),
      uptimeBits: new Uint32Array(capacity * uptimeBits.width),
      hourSums: new Int32Array(capacity * hourSums.width),
      hourCounts: new Uint16Array(capacity * hourCounts.width),
      checks: new Int32Array(capacity * checks.width),
      hourFails: new Uint16Array(capacity * hourFails.width),
    },
    0,
  )

/**
 * The content of `columns`, with room for `capacity` sensors. Their memory moves: the arrays passed
 * in are empty afterwards, and there is no garbage to collect.
 */
export function grown(columns: Columns, capacity: number): Columns {
  const moved = <Name extends ColumnName>(name: Name): ArrayBuffer => {
    const { of, width } = layout[name]
    return columns[name].buffer.transfer(capacity * width * of.BYTES_PER_ELEMENT)
  }
  const before = columns.status.length
  return filled(
    {
      times: new Float64Array(moved('times')),
      numbers: new Int32Array(moved('numbers')),
      status: new Uint8Array(moved('status')),
      uptimeBits: new Uint32Array(moved('uptimeBits')),
      hourSums: new Int32Array(moved('hourSums')),
      hourCounts: new Uint16Array(moved('hourCounts')),
      checks: new Int32Array(moved('checks')),
      hourFails: new Uint16Array(moved('hourFails')),
    },
    before,
  )
}

/** New memory is zeros: sets the rows in which zero has another meaning, from slot `from` on. */
function filled(columns: Columns, from: number): Columns {
  for (let slot = from; slot < columns.status.length; slot++) {
    columns.times.set(noTimes, slot * times.width)
    columns.numbers.set(noNumbers, slot * numbers.width)
    columns.checks[slot * checks.width + checkAt.pm25] = noValue
    columns.checks[slot * checks.width + checkAt.pm10] = noValue
  }
  return columns
}

/** @param place of `timeAt` */
export const timeOf = (columns: Columns, slot: number, place: number): number =>
  columns.times[slot * times.width + place] ?? Number.NaN
export const setTime = (columns: Columns, slot: number, place: number, value: number): void => {
  columns.times[slot * times.width + place] = value
}

/** Time of the newest accepted reading, −Infinity if there is none. */
export const newestMsOf = (columns: Columns, slot: number): number =>
  columns.times[slot * times.width + timeAt.newestMs] ?? -Infinity

/** Where the row of a slot begins in `numbers`. */
export const numbersOf = (slot: number): number => slot * numbers.width

/** Where the row of a slot begins in `checks`. */
export const checksOf = (slot: number): number => slot * checks.width
