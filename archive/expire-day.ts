/** Deletes a day's readings from the store, as far as the archive has each of them as the store has it. */
import { nOfSeq, partitionOfSeq, type Reading } from '../core/air/reading.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import { sameValues } from '../core/air/values.ts'
import { dayMs } from '../core/time.ts'
import { dayName } from '../operate/archive/archive-layout.ts'
import { rowsOf } from '../operate/archive/check-archive-run.ts'
import type { ArchivedRow } from '../operate/archive/reading-columns.ts'
import type { RunFile } from '../operate/archive/run-manifest.ts'
import { MustAct } from '../runtime/exit.ts'
import type { Store, UpTo } from '../store/store.ts'

export type DayOptions = {
  readonly folder: string
  readonly dayStartMs: number
  /** Of this day, in every run that has one. */
  readonly files: readonly RunFile[]
  /** The last number of each partition that the archive has. */
  readonly n: readonly number[]
  readonly store: Pick<Store, 'range' | 'signature' | 'deleteReadings'>
  /** Between two deletions, so that the store's writers have their turn. */
  readonly pause: (ms: number) => Promise<void>
  readonly stop: AbortSignal
}

/** `left` are not in the archive, or not all that is known of them is. */
export type DayDone = { readonly deleted: number; readonly left: number }

/** Rows of one deletion: some 100 ms of the store's writer. */
const mostRows = 10_000
const leastPauseMs = 20

/**
 * A reading with leaf 1 stays: the archive has neither its area nor its flags. Where a sensor has readings that
 * came late and are not archived yet, all of its day waits for them.
 * @throws MustAct the store has a reading otherwise than the archive: it is not deleted
 */
export async function expireDay(options: DayOptions): Promise<DayDone> {
  const { dayStartMs, store, pause, stop } = options
  let group: UpTo[] = []
  let [rows, deleted, left] = [0, 0, 0]
  const flush = async (): Promise<void> => {
    if (group.length === 0) return
    const startedMs = performance.now()
    await store.deleteReadings(group, dayStartMs, dayStartMs + dayMs)
    deleted += rows
    group = []
    rows = 0
    await pause(Math.max(leastPauseMs, performance.now() - startedMs))
  }
  for await (const { sensor, archived } of sensorsOf(options)) {
    stop.throwIfAborted()
    const stored = await storedRows(sensor, options)
    const mustStay = stored.some((row) => row.leafVersion !== 2 || isLater(row, options))
    if (mustStay || stored.length === 0) {
      left += stored.length
      continue
    }
    for (const reading of stored) await assertArchived(reading, archived.get(reading.seq), store)
    group.push({ sensor, lastSeq: stored.reduce((most, { seq }) => Math.max(most, seq), 0) })
    rows += stored.length
    if (rows >= mostRows) await flush()
  }
  await flush()
  return { deleted, left }
}

const isLater = ({ seq }: Reading, { n }: DayOptions): boolean =>
  nOfSeq(seq) > (n[partitionOfSeq(seq)] ?? 0)

async function assertArchived(
  reading: Reading,
  row: ArchivedRow | undefined,
  store: Pick<Store, 'signature'>,
): Promise<void> {
  const { sensor, timeMs, seq } = reading
  const which = `the reading ${seq} of ${sensor} at ${new Date(timeMs).toISOString()}`
  if (row === undefined || !isSame(reading, row))
    throw new MustAct(
      `no more is deleted: the store has ${which}, and the archive ${row === undefined ? 'does not have it' : 'has it otherwise'}. \`airproof audit\` says more`,
    )
  if (reading.device === undefined || row.signature !== undefined) return
  if ((await store.signature(sensor, timeMs)) !== undefined)
    throw new MustAct(
      `no more is deleted: the archive does not have the signature of ${which}, and the store has it`,
    )
}

function isSame(stored: Reading, { reading }: ArchivedRow): boolean {
  return (
    reading.leafVersion === 2 &&
    reading.sensor === stored.sensor &&
    reading.timeMs === stored.timeMs &&
    reading.area === stored.area &&
    reading.flags === stored.flags &&
    reading.aqi === stored.aqi &&
    reading.device === stored.device &&
    sameValues(reading.values, stored.values)
  )
}

const pageRows = 5_000

async function storedRows(
  sensor: SensorId,
  { store, dayStartMs }: DayOptions,
): Promise<readonly Reading[]> {
  const readings: Reading[] = []
  const end = dayStartMs + dayMs
  for (let from = dayStartMs; from < end; ) {
    const page = await store.range(sensor, from, end, pageRows, 'asc')
    readings.push(...page)
    const last = page.at(-1)
    from = last === undefined || page.length < pageRows ? end : last.timeMs + 1
  }
  return readings
}

type SensorRows = {
  readonly sensor: SensorId
  /** By number. */
  readonly archived: ReadonlyMap<number, ArchivedRow>
}

/** The day's files side by side: each is sorted by sensor. */
async function* sensorsOf({ folder, files, dayStartMs }: DayOptions): AsyncGenerator<SensorRows> {
  const readers = files.map((file) => rowsOf(folder, file))
  try {
    const heads = await Promise.all(readers.map(async (reader) => (await reader.next()).value))
    for (;;) {
      let sensor: SensorId | undefined
      for (const head of heads) {
        const of = head?.reading.sensor
        if (of !== undefined && (sensor === undefined || of < sensor)) sensor = of
      }
      if (sensor === undefined) return
      const archived = new Map<number, ArchivedRow>()
      for (const [at, reader] of readers.entries())
        for (let head = heads[at]; head?.reading.sensor === sensor; heads[at] = head) {
          archived.set(head.reading.seq, head)
          head = (await reader.next()).value
          if (head !== undefined && head.reading.sensor < sensor)
            throw new MustAct(`a file of ${dayName(dayStartMs)} in the archive is not sorted`)
        }
      yield { sensor, archived }
    }
  } finally {
    for (const reader of readers) await reader.return(undefined)
  }
}
