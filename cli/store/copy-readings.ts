import type { Reading } from '../../core/air/reading.ts'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs, floorTo } from '../../core/time.ts'
import { isWithin, type StoredUpTo } from '../../operate/store-copy.ts'
import { MustAct } from '../../runtime/exit.ts'
import { isSame } from '../../store/influx/influx.ts'
import type { Store, StoreRow } from '../../store/store.ts'
import { mergeRows } from './merge.ts'

export type CopyOptions = {
  readonly source: Store
  readonly target: Store
  /** What is copied and compared; later numbers are left to the log. */
  readonly bound: StoredUpTo
  /** Runs a piece of the work again while a store is away. */
  readonly insist: <T>(work: () => Promise<T>) => Promise<T>
  /** After each day. */
  readonly onDay: (done: CopiedRows & { readonly startMs: number }) => void
}

export type CopiedRows = {
  readonly compared: number
  readonly written: number
}

/** The source has no longer, or never had, a row of the target. */
export class SourceLacks extends MustAct {}

/** Signatures asked for at once. */
const signaturesAtOnce = 32
const endOfTimeMs = Date.UTC(2200, 0, 1)

/**
 * Copies day by day what the target lacks, and compares each day row by row after it; a day that is
 * the same on both sides is only read. So it may be killed and run again at any time.
 * @throws MustAct where the two differ otherwise: nothing of ours is written over
 */
export async function copyReadings(options: CopyOptions): Promise<CopiedRows> {
  const { source, target, insist, onDay } = options
  let [compared, written] = [0, 0]
  for (let day = await insist(() => nextDay(options, 0)); day !== undefined; ) {
    const span = { fromMs: day, toMs: day + dayMs }
    const copied = await insist(() => copyDay(options, span))
    if (copied.missing > 0) {
      const after = await insist(() => compareDay(source, target, options.bound, span))
      if (after.missing > 0)
        throw new MustAct(
          `${after.missing} readings of ${formatIso(day).slice(0, 10)} were written and are not there: does the bucket have a retention, or does something else delete from it? Run the same command again`,
        )
    }
    compared += copied.rows
    written += copied.missing
    onDay({ compared, written, startMs: day })
    const next = day + dayMs
    // days follow one another; only over a gap both are asked for the next
    day = copied.rows > 0 ? next : await insist(() => nextDay(options, next))
  }
  return { compared, written }
}

async function nextDay(
  { source, target }: Pick<CopyOptions, 'source' | 'target'>,
  fromMs: number,
): Promise<number | undefined> {
  const first = await Promise.all(
    [source, target].map((store) => store.rangeAll(fromMs, endOfTimeMs, 1, undefined, 'asc')),
  )
  const times = first.flat().map(({ timeMs }) => floorTo(timeMs, dayMs))
  return times.length === 0 ? undefined : Math.min(...times)
}

type Span = { readonly fromMs: number; readonly toMs: number }
type Compared = { readonly rows: number; readonly missing: number }

async function copyDay({ source, target, bound }: CopyOptions, span: Span): Promise<Compared> {
  const { batchRows, lanes } = target.writing
  let waiting: Reading[] = []
  const write = async (): Promise<void> => {
    const rows = await signed(source, waiting)
    waiting = []
    const batches = Array.from({ length: Math.ceil(rows.length / batchRows) }, (_, at) =>
      rows.slice(at * batchRows, (at + 1) * batchRows),
    )
    const [refused] = (await Promise.all(batches.map(target.writeBatch))).flat()
    if (refused !== undefined)
      throw new MustAct(
        `the other store refuses the reading of ${nameOf(refused.row)}: ${refused.why}`,
      )
  }
  const compared = await compareDay(source, target, bound, span, (row) => {
    waiting.push(row)
    return waiting.length >= batchRows * lanes ? write() : undefined
  })
  await write()
  return compared
}

/** @throws MustAct a row of the target is another one, or the source lacks it */
async function compareDay(
  source: Store,
  target: Store,
  bound: StoredUpTo,
  span: Span,
  onMissing?: (row: Reading) => Promise<void> | undefined,
): Promise<Compared> {
  let [rows, missing] = [0, 0]
  await mergeRows(source, target, span, ({ from, to }) => {
    if (to !== undefined && from === undefined && isWithin(bound, to))
      throw new SourceLacks(
        `the store that is copied to has the reading of ${nameOf(to)}, which the other one lacks: it holds the readings of something else. Name an empty one`,
      )
    if (from === undefined || !isWithin(bound, from)) return undefined
    rows++
    if (to === undefined) {
      missing++
      return onMissing?.(from)
    }
    if (!isSame(from, to))
      throw new MustAct(
        `the two stores have different readings of ${nameOf(from)}: what is copied to must be empty, or a former copy`,
      )
    return undefined
  })
  return { rows, missing }
}

const nameOf = ({ sensor, timeMs }: Reading): string => `${sensor} at ${formatIso(timeMs)}`

async function signed(source: Store, rows: readonly Reading[]): Promise<readonly StoreRow[]> {
  const whole: StoreRow[] = [...rows]
  const places = rows.flatMap((row, at) => (row.device === undefined ? [] : [at]))
  for (let from = 0; from < places.length; from += signaturesAtOnce)
    await Promise.all(
      places.slice(from, from + signaturesAtOnce).map(async (at) => {
        const row = rows[at]!
        const signature = await source.signature(row.sensor, row.timeMs)
        if (signature !== undefined) whole[at] = { ...row, signed: signature }
      }),
    )
  return whole
}
