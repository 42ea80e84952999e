/** Readings from the files of an archive, in the orders of the store. Memory is bounded by what is kept of files. */
import type { SensorId } from '../../core/air/sensor-id.ts'
import { dayMs, floorTo } from '../../core/time.ts'
import { type Cursor, givenUp, type Order } from '../../store/store.ts'
import type { OldRows } from '../../store/with-expired.ts'
import { refuse } from '../exports/check-run.ts'
import type { ArchiveFile, ArchiveFiles } from './archive-files.ts'
import { dayStart } from './archive-layout.ts'
import type { RowSpan } from './parquet-table.ts'
import { type ArchivedRow, placeOfColumn, readingColumns, readRow } from './reading-columns.ts'
import type { RunFile } from './run-manifest.ts'
import type { Slice } from './table-slices.ts'
import { weightedCache } from './weighted-cache.ts'

/** Rows that are unpacked at once: one page of most columns. */
const blockRows = 8_192
const keptBytes = 96 * 2 ** 20
/** 4 bytes a row. */
const keptTimes = 32 * 2 ** 20
/** A sensor in a file each. */
const keptRuns = 300_000

const allPlaces = readingColumns.map((_, place) => place)
const [sensorAt, timeAt] = [placeOfColumn('sensor_id'), placeOfColumn('timestamp')]

/** A sensor's rows in a file. */
type Run = { readonly sensor: string; readonly start: number; readonly end: number }
type Block = { readonly start: number; readonly slice: Slice }

export function openArchivedReadings(files: ArchiveFiles): OldRows<ArchivedRow> {
  const blocks = weightedCache<Block>(keptBytes, ({ slice }) => slice.bytes)
  const directories = weightedCache<readonly Run[]>(keptRuns, (runs) => Math.max(1, runs.length))
  const times = weightedCache<Uint32Array>(keptTimes, ({ byteLength }) => byteLength)

  const blockAt = (file: ArchiveFile, row: number): Promise<Block> => {
    const span = blockOf(file.groups, row)
    return blocks.get(`${file.id} ${span.start}`, async () => ({
      start: span.start,
      slice: await file.read(allPlaces, span),
    }))
  }
  const rowAt = async (file: ArchiveFile, { path }: RunFile, row: number): Promise<ArchivedRow> => {
    const { start, slice } = await blockAt(file, row)
    return readRow(slice, row - start, `row ${row + 1} of ${path}`)
  }
  const directoryOf = (file: ArchiveFile, listed: RunFile): Promise<readonly Run[]> =>
    directories.get(file.id, () => readDirectory(file, listed))
  const timesOf = (file: ArchiveFile, listed: RunFile): Promise<Uint32Array> =>
    times.get(file.id, () => readTimes(file, listed))

  /** The first row of a sensor's run at or after a time. */
  const firstFrom = async (file: ArchiveFile, run: Run, timeMs: number): Promise<number> => {
    let [low, high] = [run.start, run.end]
    while (low < high) {
      const middle = (low + high) >>> 1
      const { start, slice } = await blockAt(file, middle)
      const at = slice.cell(timeAt, middle - start)
      if (typeof at === 'number' && at < timeMs) low = middle + 1
      else high = middle
    }
    return low
  }
  /** Of one sensor in one file, at most `limit` from the end where the order begins. */
  const ofSensor = async (
    file: ArchiveFile,
    listed: RunFile,
    { sensor, fromMs, toMs, limit, order }: SensorQuery,
  ): Promise<readonly ArchivedRow[]> => {
    const run = runOfSensor(await directoryOf(file, listed), sensor)
    if (run === undefined) return []
    const first = await firstFrom(file, run, fromMs)
    const last = await firstFrom(file, run, toMs)
    const [start, end] =
      order === 'asc'
        ? [first, Math.min(last, first + limit)]
        : [Math.max(first, last - limit), last]
    const rows: ArchivedRow[] = []
    for (let row = start; row < end; row++) rows.push(await rowAt(file, listed, row))
    return rows
  }

  return {
    range: async (sensor, fromMs, toMs, limit, order, signal) => {
      const query = { sensor, fromMs, toMs, limit, order }
      const rows: ArchivedRow[] = []
      for (const day of await daysOf(files, { fromMs, toMs, order })) {
        if (rows.length >= limit) break
        const ofDay: ArchivedRow[] = []
        for (const listed of day) {
          mustBeWanted(signal)
          ofDay.push(
            ...(await files.use(listed, readingColumns, (file) => ofSensor(file, listed, query))),
          )
        }
        rows.push(...ofDay.toSorted(inOrder(order)))
      }
      return rows.slice(0, Math.max(0, limit))
    },
    rangeAll: async (fromMs, toMs, limit, cursor, order, signal) => {
      const rows: ArchivedRow[] = []
      const period = withinCursor({ fromMs, toMs, order }, cursor)
      for (const day of await daysOf(files, period)) {
        if (rows.length >= limit) break
        const parts: Part[] = []
        for (const listed of day) {
          mustBeWanted(signal)
          const part = await files.use(listed, readingColumns, async (file) => ({
            listed,
            dayMs: dayStart(listed.day),
            runs: await directoryOf(file, listed),
            times: await timesOf(file, listed),
          }))
          parts.push(part)
        }
        const chosen = choose(parts, period, cursor, limit - rows.length)
        const ofDay: ArchivedRow[] = []
        for (const [listed, wanted] of Map.groupBy(chosen, ({ part }) => part.listed)) {
          mustBeWanted(signal)
          const inFile = wanted.map(({ row }) => row).toSorted((a, b) => a - b)
          await files.use(listed, readingColumns, async (file) => {
            for (const row of inFile) ofDay.push(await rowAt(file, listed, row))
          })
        }
        rows.push(...ofDay.toSorted(inOrder(order)))
      }
      return rows.slice(0, Math.max(0, limit))
    },
  }
}

type Period = { readonly fromMs: number; readonly toMs: number; readonly order: Order }
type SensorQuery = Period & { readonly sensor: SensorId; readonly limit: number }

/** The files of each day of a period that has some, in its order. */
async function daysOf(
  files: ArchiveFiles,
  { fromMs, toMs, order }: Period,
): Promise<readonly (readonly RunFile[])[]> {
  const { days, filesOf } = await files.now()
  const within = days.filter((day) => day + dayMs > fromMs && day < toMs)
  return (order === 'asc' ? within : within.toReversed()).map(filesOf)
}

function mustBeWanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw givenUp()
}

const bySensor = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const inOrder =
  (order: Order) =>
  ({ reading: a }: ArchivedRow, { reading: b }: ArchivedRow): number =>
    (order === 'asc' ? a.timeMs - b.timeMs : b.timeMs - a.timeMs) || bySensor(a.sensor, b.sensor)

function blockOf(groups: readonly RowSpan[], row: number): RowSpan {
  const group = groups.find(({ end }) => row < end) ?? { start: row, end: row }
  const start = group.start + floorTo(row - group.start, blockRows)
  return { start, end: Math.min(group.end, start + blockRows) }
}

/** @throws Refusal if the rows are not by sensor */
async function readDirectory(
  { groups, read }: ArchiveFile,
  { path }: RunFile,
): Promise<readonly Run[]> {
  const runs: { readonly sensor: string; readonly start: number; end: number }[] = []
  for (const span of groups) {
    const { cell } = await read([sensorAt], span)
    for (let row = span.start; row < span.end; row++) {
      const sensor = cell(sensorAt, row - span.start)
      const last = runs.at(-1)
      if (last !== undefined && sensor === last.sensor) last.end = row + 1
      else if (typeof sensor === 'string' && (last === undefined || sensor > last.sensor))
        runs.push({ sensor, start: row, end: row + 1 })
      else refuse(`${path} is not sorted by sensor`)
    }
  }
  return runs
}

/** Of each row, from the beginning of its day. @throws Refusal if one is of another day */
async function readTimes({ groups, read }: ArchiveFile, { path, day, rows }: RunFile) {
  const times = new Uint32Array(rows)
  const startMs = dayStart(day)
  for (const group of groups)
    for (let start = group.start; start < group.end; start += blockRows) {
      const end = Math.min(group.end, start + blockRows)
      const { cell } = await read([timeAt], { start, end })
      for (let row = start; row < end; row++) {
        const timeMs = cell(timeAt, row - start)
        const sinceMs = typeof timeMs === 'number' ? timeMs - startMs : -1
        if (!(sinceMs >= 0 && sinceMs < dayMs))
          refuse(`row ${row + 1} of ${path} is of another day`)
        times[row] = sinceMs
      }
    }
  return times
}

function runOfSensor(runs: readonly Run[], sensor: string): Run | undefined {
  let [low, high] = [0, runs.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((runs[middle]?.sensor ?? '') < sensor) low = middle + 1
    else high = middle
  }
  return runs[low]?.sensor === sensor ? runs[low] : undefined
}

type Part = {
  readonly listed: RunFile
  readonly dayMs: number
  readonly runs: readonly Run[]
  readonly times: Uint32Array
}
type Chosen = { readonly part: Part; readonly row: number }

function withinCursor({ fromMs, toMs, order }: Period, cursor: Cursor | undefined): Period {
  if (cursor === undefined) return { fromMs, toMs, order }
  return order === 'asc'
    ? { fromMs: Math.max(fromMs, cursor.timeMs), toMs, order }
    : { fromMs, toMs: Math.min(toMs, cursor.timeMs + 1), order }
}

/**
 * The first `limit` rows of a day in the order, and those of the same millisecond as the last one: a time is
 * looked for that leaves that number, because to merge a thousand sensors row by row would take longer.
 */
function choose(
  parts: readonly Part[],
  { fromMs, toMs, order }: Period,
  cursor: Cursor | undefined,
  limit: number,
): readonly Chosen[] {
  const spans = parts.flatMap((part) =>
    part.runs.map((run) => {
      // within the cursor's own millisecond only the sensors after it are left
      const isPast = cursor !== undefined && run.sensor <= cursor.sensor
      const from = isPast && order === 'asc' ? Math.max(fromMs, cursor.timeMs + 1) : fromMs
      const to = isPast && order === 'desc' ? Math.min(toMs, cursor.timeMs) : toMs
      return { part, start: place(part, run, from), end: place(part, run, to) }
    }),
  )
  const cut = (timeMs: number) =>
    spans.map(({ part, start, end }) => {
      const at = place(part, { start, end: Math.max(start, end) }, timeMs)
      return order === 'asc' ? { part, start, end: at } : { part, start: at, end }
    })
  const count = (timeMs: number): number =>
    cut(timeMs).reduce((sum, { start, end }) => sum + Math.max(0, end - start), 0)
  const dayFrom = Math.max(fromMs, parts[0]?.dayMs ?? fromMs)
  const dayTo = Math.min(toMs, (parts[0]?.dayMs ?? toMs) + dayMs)
  // the shortest part of the day that has as many as are wanted
  let [low, high] = [dayFrom, dayTo]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (order === 'asc') {
      if (count(middle) >= limit) high = middle
      else low = middle + 1
    } else if (count(middle + 1) >= limit) low = middle + 1
    else high = middle
  }
  return cut(low).flatMap(({ part, start, end }) =>
    Array.from({ length: Math.max(0, end - start) }, (_, at) => ({ part, row: start + at })),
  )
}

/** The first row of a run at or after a time. */
function place(
  { times, dayMs: startMs }: Part,
  { start, end }: { readonly start: number; readonly end: number },
  timeMs: number,
): number {
  const sinceMs = timeMs - startMs
  let [low, high] = [start, end]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((times[middle] ?? 0) < sinceMs) low = middle + 1
    else high = middle
  }
  return low
}
