/** The hours and days of areas, held against the rows of the store, and against the archive's where those were let go. */
import { isDeepStrictEqual } from 'node:util'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Findings } from '../../anchor/audit/findings.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import { ArchiveUnreadable } from '../../operate/archive/archive-unreadable.ts'
import { createRollupProgress, parseRollupRecord } from '../../operate/rollup-progress.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { areaStats } from '../../store/stat-fields.ts'
import type { AreaStats, BucketSize, Store } from '../../store/store.ts'
import { latestMs } from '../export/stored-rows.ts'
import { storedLog } from './stored-log.ts'

export type StatisticsSources = Pick<
  Store,
  'computeBuckets' | 'areaHours' | 'areaDays' | 'keptFromMs'
>
type Step = { readonly area: string; readonly size: BucketSize; readonly startMs: number }
type Span = Omit<Step, 'startMs'> & Period
type Period = { readonly fromMs: number; readonly toMs: number }

const stepMsOf = { hour: hourMs, day: dayMs } as const
/** The most steps that one query computes. */
const mostSteps = 24 * 31

/** What was measured before a time is only in the archive. */
export type LetGo = {
  readonly beforeMs: number
  /** The sources read it there. */
  readonly isAtHand: boolean
}

type Options = Period & {
  readonly store: StatisticsSources
  readonly letGo: LetGo
  /** Every area of a row or of the registry. */
  readonly names: ReadonlySet<string>
}

/** @param fromMs with `toMs` the span of all rows @returns in words, what was not compared */
export async function checkStatistics(
  nc: NatsConnection,
  { store, letGo, names, fromMs, toMs }: Options,
  findings: Findings,
): Promise<readonly string[]> {
  const unread = new Set<string>()
  const compare = async (span: Span): Promise<Step[]> => {
    try {
      return await differences(store, span)
    } catch (error) {
      if (!(error instanceof ArchiveUnreadable)) throw error
      // its run is a finding already
      unread.add(
        `statistics of ${formatIso(floorTo(span.fromMs, dayMs))} were not compared: ${error.message}`,
      )
      return []
    }
  }
  const steps: Step[] = []
  const look = async (at: (span: Span) => Promise<Step[]>, period: Period): Promise<void> => {
    for (const area of names)
      for (const size of ['hour', 'day'] as const)
        steps.push(...(await at({ area, size, ...period })))
  }
  const archivedMs = letGo.isAtHand ? Math.min(letGo.beforeMs, toMs) : -Infinity
  // all areas of a day: the archive's rows of it are read once
  for (let day = floorTo(fromMs, dayMs); day < archivedMs; day += dayMs)
    await look(compare, { fromMs: day, toMs: day + dayMs })
  await look(compare, { fromMs: Math.max(fromMs, archivedMs), toMs })
  await look((span) => withoutRows(store, span), { fromMs, toMs })
  const isAllCompared = letGo.beforeMs === 0 || letGo.isAtHand
  // after they were read: of what began before it the store may have dropped rows
  const keptFromMs = Math.max(
    (await store.keptFromMs()) ?? -Infinity,
    isAllCompared ? 0 : letGo.beforeMs,
  )
  const differing = steps.filter(({ startMs }) => startMs >= keptFromMs)
  const notes =
    differing.length === 0 ? [] : await tellDiffering(nc, { compare, differing }, findings)
  return [
    ...unread,
    ...(isAllCompared
      ? []
      : [
          `statistics of before ${formatIso(letGo.beforeMs)} were not compared: their rows are only in the archive`,
        ]),
    ...notes,
  ]
}

/** Only the pipeline's own record says which steps are unwritten; it writes them within minutes. */
const longestUnwrittenMs = dayMs
const unwrittenWords =
  'they are not those of its rows, and ended more than a day ago: the pipeline says that they are still to be written. Audit again when it has caught up'

type Differing = {
  readonly compare: (span: Span) => Promise<Step[]>
  readonly differing: readonly Step[]
}

/** @returns in words, how many are excused */
async function tellDiffering(
  nc: NatsConnection,
  { compare, differing }: Differing,
  findings: Findings,
): Promise<readonly string[]> {
  const unwritten = await unwrittenSteps(nc)
  if (unwritten === undefined) {
    findings.add(
      'statistics',
      undefined,
      'it is not known how far they are computed, so they cannot be held against the rows: is `airproof pipeline` running?',
    )
    return []
  }
  const nowMs = Date.now()
  let excused = 0
  for (const { area, size, startMs } of differing) {
    const toMs = startMs + stepMsOf[size]
    const isUnwritten = unwritten(area, size, startMs)
    if (isUnwritten && toMs > nowMs - longestUnwrittenMs) {
      excused++
      continue
    }
    // the statistics may have been written since they were looked at
    if ((await compare({ area, size, fromMs: startMs, toMs })).length === 0) continue
    const why = isUnwritten ? unwrittenWords : 'they are not those of its rows'
    findings.add('statistics', undefined, `${area}, ${size} of ${formatIso(startMs)}: ${why}`)
  }
  if (excused === 0) return []
  return [
    `${excused} statistics of hours and days are not those of their rows, and were not compared: they are not over, or the pipeline says that they are still to be written`,
  ]
}

/** The steps of the span of which the store holds other statistics than its rows give. */
async function differences(
  store: StatisticsSources,
  { area, size, fromMs, toMs }: Span,
): Promise<Step[]> {
  const stepMs = stepMsOf[size]
  const read = size === 'hour' ? store.areaHours : store.areaDays
  const found: Step[] = []
  for (let start = floorTo(fromMs, stepMs); start < toMs; start += mostSteps * stepMs) {
    const end = Math.min(start + mostSteps * stepMs, floorTo(toMs - 1, stepMs) + stepMs)
    const [kept, made] = await Promise.all([
      read(area, start, end),
      store.computeBuckets(area, start, end, size),
    ])
    // failed readings are in what an earlier version wrote, until it is made again
    const isOld = kept.some(({ failed }) => failed === null)
    const madeThen = isOld ? await store.computeBuckets(area, start, end, size, 'all') : []
    const byStart = (list: readonly AreaStats[]) => new Map(list.map((one) => [one.startMs, one]))
    const [keptBy, madeBy, madeThenBy] = [byStart(kept), byStart(made), byStart(madeThen)]
    for (const startMs of new Set([...keptBy.keys(), ...madeBy.keys()])) {
      const stats = keptBy.get(startMs)
      const wanted = (stats?.failed === null ? madeThenBy : madeBy).get(startMs)
      if (!isSame(stats, wanted)) found.push({ area, size, startMs })
    }
  }
  return found
}

/** An earlier version wrote fewer statistics: those that it left out are not compared. */
function isSame(kept: AreaStats | undefined, made: AreaStats | undefined): boolean {
  if (kept === undefined || made === undefined) return kept === made
  const head = { ...made, failed: kept.failed === null ? null : made.failed }
  const then = areaStats(made.area, head, (field) => {
    const stats = made.fields[field]
    const isOlder = kept.fields[field].q25 === null
    return isOlder ? { ...stats, sd: null, q02: null, q25: null, q75: null } : stats
  })
  return isDeepStrictEqual(kept, then)
}

/** The steps before and after all rows of which the store holds statistics. @param span of the rows */
async function withoutRows(
  store: StatisticsSources,
  { area, size, fromMs, toMs }: Span,
): Promise<Step[]> {
  const stepMs = stepMsOf[size]
  const read = size === 'hour' ? store.areaHours : store.areaDays
  const isEmpty = fromMs >= toMs
  const expected = isEmpty
    ? await read(area, 0, latestMs)
    : [
        ...(await read(area, 0, floorTo(fromMs, stepMs))),
        ...(await read(area, floorTo(toMs - 1, stepMs) + stepMs, latestMs)),
      ]
  return expected.map(({ startMs }) => ({ area, size, startMs }))
}

/** Whether the statistics of a step are still to be written, or written again; undefined: not known. */
async function unwrittenSteps(
  nc: NatsConnection,
): Promise<((area: string, size: BucketSize, startMs: number) => boolean) | undefined> {
  const nowMs = Date.now()
  const progress = createRollupProgress()
  const entry = await (await new Kvm(nc).open(buckets.system)).get(systemKeys.rollup)
  progress.record(entry?.operation === 'PUT' ? parseRollupRecord(entry.json()) : undefined)
  for await (const { seq, message } of storedLog(nc, progress.position() + 1))
    progress.note(seq, message.readings)
  if (progress.unwritten(wholeNetwork, 'hour') === 'all') return undefined
  return (area, size, startMs) => {
    const unwritten = progress.unwritten(area, size)
    return startMs + stepMsOf[size] > nowMs || unwritten === 'all' || unwritten.has(startMs)
  }
}
