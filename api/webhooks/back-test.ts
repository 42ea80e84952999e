/**
 * How often a webhook would have fired in the last 30 days. Rises are decided again from the stored readings
 * by the fold of the pipeline, so any threshold is counted; what the log decides by its clock (a silence) is
 * in EVENTS. Both are matched by the rules by which the notifier matches.
 */
import { setImmediate as soon } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { slugOf } from '../../core/air/area.ts'
import { qualityOf } from '../../core/air/quality-level.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { defaultAqiThreshold } from '../../core/air/thresholds.ts'
import type { EventKind } from '../../core/delivery/delivery.ts'
import { createWebhookIndex, type WebhookIndex } from '../../core/delivery/webhook-match.ts'
import { formatIso, formatIsoMs } from '../../core/iso-time.ts'
import { pastRises } from '../../core/state/past-rises.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import { matchEvent, matchRise } from '../../schemas/log/event.ts'
import type { Retention } from '../../schemas/retention.ts'
import type { WebhookFilters } from '../../schemas/webhooks/webhook.ts'
import type { Asker } from '../http/answer.ts'
import { type FairLineBounds, fairLine } from '../http/fair-line.ts'
import type { QueryStore } from '../http/query-store.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { noEvents, readPastEvents } from './past-events.ts'
import { type AskPage, mostReadings, readPastReadings } from './past-readings.ts'

type Options = {
  readonly nc: NatsConnection
  readonly board: Pick<SensorBoard, 'table'>
  readonly queryStore: QueryStore
  readonly retention: () => Retention
  /** Whether the batch of the reading with this number is final. */
  readonly isFinal: (seq: number) => boolean
  readonly nowMs: () => number
  /** Readings that are looked at. */
  readonly most?: number
}

export type Subscribed = { readonly events: readonly EventKind[]; readonly filters: WebhookFilters }

/** Why the numbers are not those of all 30 days. */
type LeftOut =
  /** There are too many: they are complete from `since` on. */
  | 'older'
  /** Readings before `since` are in the archive, which does not say when they arrived. */
  | 'archived'
  /** `unsure` rises depend on readings before the ones that were looked at. */
  | 'unsure'
  /** An earlier version stored some readings: if they came late, they are counted all the same. */
  | 'arrival'

export type BackTest = (subscribed: Subscribed, asker: Asker) => Promise<object>

/** What is counted from what. */
const countedFrom = {
  'aqi.high': 'rises',
  'aqi.critical': 'rises',
  'sensor.offline': 'log',
  'sensor.online': 'log',
  'sensor.quality': 'log',
  'reading.new': 'readings',
  'reading.anchored': 'readings',
} as const satisfies Record<EventKind, string>

const lookBackDays = 30
/** Clocks of sensors may be ahead. */
const aheadMs = hourMs
/** Of one sensor, where its threshold is not known at its first reading; and how many sensors. */
const olderReadings = 2_000
const mostUnknown = 200
/** Sensors of an area are read one by one, if they are this few. */
const mostOneByOne = 50
/** Readings that are folded before others get their turn. */
const foldedAtOnce = 2_000

/** Each holds up to 30 MB. */
const bounds: FairLineBounds = {
  running: 2,
  runningEach: 1,
  waiting: 32,
  waitingEach: 4,
  waitMs: 10_000,
  workMs: 15_000,
}

export function createBackTest(options: Options): BackTest {
  const line = fairLine(bounds)
  return (subscribed, asker) =>
    line({ share: asker.share(), gone: asker.gone() }, () => backTest(options, subscribed, asker))
}

async function backTest(options: Options, subscribed: Subscribed, asker: Asker): Promise<object> {
  const { events, filters } = subscribed
  const nowMs = options.nowMs()
  const fromMs = nowMs - lookBackDays * dayMs
  const archivedMs = options.retention().rawBeforeMs ?? 0
  const isFrom = (what: string): boolean => events.some((kind) => countedFrom[kind] === what)
  const ask: AskPage = (page) =>
    options.queryStore(asker, (store, signal) => page(store.within(signal)))
  // a filter's id is canonical: `judge-wanted.ts`
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const sensor = filters.sensor_id as SensorId | undefined
  const [log, readings] = await Promise.all([
    isFrom('log') ? readPastEvents(options.nc, sensor, fromMs) : noEvents(options.nc, fromMs),
    isFrom('rises') || isFrom('readings')
      ? readPastReadings(
          ask,
          {
            sensors: sensorsOf(filters, options.board),
            fromMs: Math.max(fromMs, archivedMs),
            toMs: nowMs + aheadMs,
          },
          options.most ?? mostReadings,
        )
      : undefined,
  ])
  const sinceMs = Math.max(fromMs, readings?.sinceMs ?? fromMs, log.sinceMs)
  const index = indexOf(subscribed)
  const counted = counter(events, sinceMs)
  for (const { event, atMs } of log.events)
    if (event.kind !== 'rise') matchEvent(event, index, (_, kind) => counted.add(kind, atMs))

  const unknown = { left: mostUnknown }
  let [unsure, folded] = [0, 0]
  const bySensor = readings?.bySensor ?? new Map<SensorId, readonly Reading[]>()
  for (const [id, rows] of bySensor) {
    for (const row of rows)
      matchReading(row, index, options.isFinal, (kind) => counted.add(kind, row.timeMs))
    if (!isFrom('rises')) continue
    const rises = await sureRises({ id, rows, index, sinceMs, archivedMs, unknown, ask })
    unsure += rises.unsure
    for (const { kind, atMs } of rises.sure) counted.add(kind, atMs)
    folded += rows.length
    if (folded < foldedAtOnce) continue
    folded = 0
    await soon()
  }
  const all = [...bySensor.values()].flat()
  // a network that is younger than 30 days has no days before its first
  const begunMs = all.reduce((ms, { timeMs }) => Math.min(ms, timeMs), log.begunMs)
  const isOfEarlier = all.some(({ leafVersion }) => leafVersion !== 2)
  const leftOut: LeftOut[] = [
    ...(sinceMs > Math.max(fromMs, archivedMs) ? (['older'] as const) : []),
    ...(readings !== undefined && archivedMs > fromMs ? (['archived'] as const) : []),
    ...(unsure > 0 ? (['unsure'] as const) : []),
    ...(isOfEarlier ? (['arrival'] as const) : []),
  ]
  const shownFromMs = Math.max(sinceMs, begunMs)
  return {
    since: formatIsoMs(shownFromMs),
    until: formatIsoMs(nowMs),
    looked: { readings: readings?.looked ?? 0, events: log.events.length },
    ...counted.result(shownFromMs, nowMs),
    unsure,
    left_out: leftOut,
  }
}

type Unsure = {
  readonly id: SensorId
  /** In the order of their numbers. */
  readonly rows: readonly Reading[]
  readonly index: WebhookIndex
  readonly sinceMs: number
  readonly archivedMs: number
  /** Sensors whose older readings may still be asked for. */
  readonly unknown: { left: number }
  readonly ask: AskPage
}

/** With the readings before them, where a rise depends on those. */
async function sureRises(sensor: Unsure): Promise<Rises> {
  const { id, rows, index, sinceMs, archivedMs, unknown, ask } = sensor
  const rises = risesOf(rows, index, { isWhole: false, sinceMs })
  if (rises.unsure === 0 || unknown.left === 0) return rises
  unknown.left--
  const firstMs = rows.reduce((ms, { timeMs }) => Math.min(ms, timeMs), Infinity)
  const older = await ask((store) => store.range(id, archivedMs, firstMs, olderReadings, 'desc'))
  const isWhole = archivedMs === 0 && older.length < olderReadings
  const all = [...older, ...rows].toSorted((a, b) => a.seq - b.seq)
  return risesOf(all, index, { isWhole, sinceMs })
}

function indexOf({ events, filters }: Subscribed): WebhookIndex {
  const index = createWebhookIndex()
  index.put({
    number: 1,
    events,
    sensor: filters.sensor_id,
    area: filters.area,
    threshold: Math.floor(filters.aqi_threshold ?? defaultAqiThreshold),
    minQuality: filters.min_quality,
  })
  return index
}

/** @returns undefined: all, or too many to be read one by one */
function sensorsOf(
  { sensor_id: sensor, area }: WebhookFilters,
  board: Options['board'],
): readonly SensorId[] | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- canonical, as above
  if (sensor !== undefined) return [sensor as SensorId]
  if (area === undefined) return undefined
  const slug = slugOf(area)
  const table = board.table()
  const there = new Set<SensorId>()
  for (const name of table.claims.counts.keys())
    if (slugOf(name) === slug) for (const { id } of table.stays(name)) there.add(id)
  return there.size > mostOneByOne ? undefined : [...there]
}

const placeOf = ({ sensor, area, flags }: Reading) => ({ sensor, area, level: qualityOf(flags) })

/** As sources `readings` and `anchored` of the notifier match it. */
function matchReading(
  reading: Reading,
  index: WebhookIndex,
  isFinal: (seq: number) => boolean,
  on: (kind: EventKind) => void,
): void {
  if (reading.isBackfill === true) return
  const place = placeOf(reading)
  index.match('reading.new', place, 0, () => on('reading.new'))
  if (index.wants('anchored') && isFinal(reading.seq))
    index.match('reading.anchored', place, 0, () => on('reading.anchored'))
}

type Rises = {
  readonly sure: readonly { readonly kind: EventKind; readonly atMs: number }[]
  readonly unsure: number
}

/** @param rows of one sensor, in the order of their numbers */
function risesOf(
  rows: readonly Reading[],
  index: WebhookIndex,
  { isWhole, sinceMs }: { readonly isWhole: boolean; readonly sinceMs: number },
): Rises {
  const sure: { kind: EventKind; atMs: number }[] = []
  let most = 0
  for (const { reading, from, to, sureFrom } of pastRises(rows, { isWhole })) {
    if (reading.timeMs < sinceMs) continue
    const place = placeOf(reading)
    matchRise({ from, to }, place, index, () => most++)
    matchRise({ from: sureFrom, to }, place, index, (_, kind) =>
      sure.push({ kind, atMs: reading.timeMs }),
    )
  }
  return { sure, unsure: most - sure.length }
}

/** Counts by kind, and by day of UTC. */
function counter(events: readonly EventKind[], sinceMs: number) {
  const counts: Partial<Record<EventKind, number>> = {}
  for (const kind of events) counts[kind] = 0
  const days = new Map<string, number>()
  return {
    add: (kind: EventKind, atMs: number): void => {
      if (atMs < sinceMs) return
      counts[kind] = (counts[kind] ?? 0) + 1
      const day = formatIso(atMs).slice(0, 10)
      days.set(day, (days.get(day) ?? 0) + 1)
    },
    result: (fromMs: number, nowMs: number) => ({
      counts,
      total: Object.values(counts).reduce((sum, count) => sum + count, 0),
      days: datesBetween(fromMs, nowMs).map((date) => ({ date, count: days.get(date) ?? 0 })),
    }),
  }
}

/** Of UTC, both included; the 31st day back, of which a part is looked at, is left out. */
function datesBetween(fromMs: number, toMs: number): readonly string[] {
  const firstMs = floorTo(fromMs, dayMs)
  const count = Math.round((floorTo(toMs, dayMs) - firstMs) / dayMs) + 1
  const dates = Array.from({ length: count }, (_, i) => formatIso(firstMs + i * dayMs).slice(0, 10))
  return dates.slice(-lookBackDays)
}
