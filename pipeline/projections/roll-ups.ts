/**
 * Statistics: a projection of the log into hour and day rows, by one process at a time.
 *
 * Every reading makes its hour of its sensor, of its area, and of the whole network, dirty; a dirty hour is
 * computed from raw rows once it is over, and again whenever a late reading makes it dirty again.
 * A message of the log is read when it is new, and counts only when the store holds it. KV `system`, key
 * `rollup`, says how far the log counts and which hours were dirty then: after a crash the log is read
 * from there, so an hour may be computed twice and none is forgotten.
 *
 * What an earlier version stored has no hours and days of sensors, or they were made by other rules, as
 * those of areas were: they are made in the pauses between rounds, a day at a time, the newest first
 * (`sensor-rows.ts`).
 */

import type { KV } from '@nats-io/kv'
import { wholeNetwork } from '../../core/air/area.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import { readEntry } from '../../runtime/nats/buckets/read-entry.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { fewestCounted } from '../../store/hour-values.ts'
import { statRules } from '../../store/stat-fields.ts'
import type { AreaStats, BucketSize } from '../../store/store.ts'
import type { ReadRows } from '../read-rows.ts'
import { markSensor, marksOf, type SensorMarks, takeOver, tasksOf } from './sensor-marks.ts'
import { pastDays, type SensorRowsStore, writeSensors } from './sensor-rows.ts'
import { sizeOfTouched, type TouchedHours, touchedBy } from './touched-hours.ts'

type Read = { readonly partition: number; readonly seq: number; readonly touched: TouchedHours }
type Dirty = Map<string, Set<number>>
type Pair = readonly [area: string, startMs: number]

/** What KV `system`, key `rollup` holds. */
export type RollUpRecord = {
  /** READINGS sequence read so far. */
  readonly position: number
  /** Hours that were not yet computed then. */
  readonly dirty: readonly Pair[]
  readonly dirtyDays: readonly Pair[]
  /**
   * From there on the hours and days of sensors are written, apart from the dirty ones; 0: all are.
   * Absent: an earlier version wrote the record, or there is none yet.
   */
  readonly sensorsFromMs?: number
  /** Those that `sensorsFromMs` is true of: what other rules made is made again. */
  readonly rules?: number
}

export type RollUpOptions = {
  readonly store: SensorRowsStore
  readonly kv: KV
  readonly readRows: ReadRows
  /** Resolves when the store holds everything of a partition up to a sequence. */
  readonly stored: (partition: number, seq: number, stop: AbortSignal) => Promise<void>
  readonly nowMs: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly onFailure: (error: unknown) => void
  readonly stop: AbortSignal
}

const roundMs = 5_000
const retryMs = 1_000
/** Of the time of a round at most this is spent on the past. */
const pastMs = roundMs / 2
/** No more is marked until a round when this many hours are dirty. */
const maxDirty = 50_000
/** Between two looks at what was read, and at the store. */
const settleMs = 500
/** Names of sensors and areas, of messages that are not in the store yet: about 5 MB. Then reading waits. */
const mostWaiting = 100_000
/** Neighbouring dirty hours are computed by one query, over gaps of at most this. */
const gapSteps = 6
const longestSpanSteps = 24 * 31

const sizeOf = (dirty: Dirty): number =>
  [...dirty.values()].reduce((sum, { size }) => sum + size, 0)

const pairsOf = (dirty: Dirty): Pair[] =>
  [...dirty].flatMap(([area, starts]) => [...starts].map((start): Pair => [area, start]))

const dirtyOf = (pairs: readonly Pair[]): Dirty => {
  const dirty: Dirty = new Map()
  for (const [area, start] of pairs) mark(dirty, area, start)
  return dirty
}

function mark(dirty: Dirty, area: string, startMs: number): void {
  const starts = dirty.get(area)
  if (starts === undefined) dirty.set(area, new Set([startMs]))
  else starts.add(startMs)
}

/** Takes out what is over; what still runs stays. */
function takeClosed(dirty: Dirty, stepMs: number, nowMs: number): Dirty {
  const closed: Dirty = new Map()
  for (const [area, starts] of dirty) {
    for (const start of starts) {
      if (start + stepMs > nowMs) continue
      starts.delete(start)
      mark(closed, area, start)
    }
    if (starts.size === 0) dirty.delete(area)
  }
  return closed
}

type Span = { readonly fromMs: number; readonly toMs: number }

/** Neighbouring steps as few spans. */
export function spansOf(starts: Iterable<number>, stepMs: number): readonly Span[] {
  const spans: { fromMs: number; toMs: number }[] = []
  for (const start of [...starts].toSorted((a, b) => a - b)) {
    const last = spans.at(-1)
    const joins =
      last !== undefined &&
      start - last.toMs <= gapSteps * stepMs &&
      start + stepMs - last.fromMs <= longestSpanSteps * stepMs
    if (joins) last.toMs = start + stepMs
    else spans.push({ fromMs: start, toMs: start + stepMs })
  }
  return spans
}

const isPairs = (value: unknown): value is readonly Pair[] =>
  Array.isArray(value) && value.every((pair) => Array.isArray(pair) && typeof pair[0] === 'string')

const isRecord = (value: unknown): value is RollUpRecord =>
  typeof value === 'object' &&
  value !== null &&
  'position' in value &&
  typeof value.position === 'number' &&
  'dirty' in value &&
  isPairs(value.dirty) &&
  'dirtyDays' in value &&
  isPairs(value.dirtyDays) &&
  (!('sensorsFromMs' in value) || typeof value.sensorsFromMs === 'number')

async function readRecord(kv: KV): Promise<RollUpRecord> {
  // an operator deletes the entry to have all statistics computed again; it is then empty
  const value = await readEntry(kv, systemKeys.rollup)
  return isRecord(value) ? value : { position: 0, dirty: [], dirtyDays: [] }
}

/** Runs until `stop`; every failure is tried again. */
export async function runRollUps(options: RollUpOptions): Promise<void> {
  const { onFailure, pause, stop } = options
  while (!stop.aborted) {
    try {
      await rollUpFrom(await readRecord(options.kv), options)
    } catch (error) {
      if (stop.aborted) return
      onFailure(error)
      await pause(retryMs)
    }
  }
}

async function rollUpFrom(record: RollUpRecord, options: RollUpOptions): Promise<void> {
  const { store, kv, readRows, stored, nowMs, pause } = options
  const hours = dirtyOf(record.dirty)
  const days = dirtyOf(record.dirtyDays)
  const sensorHours = marksOf(record.dirty.map(([, start]) => start))
  const sensorDays = marksOf(record.dirtyDays.map(([, start]) => start))
  const madeFromMs = record.rules === statRules ? record.sensorsFromMs : undefined
  let sensorsFromMs = madeFromMs ?? floorTo(nowMs(), dayMs) + dayMs
  const past = pastDays({ store, nowMs, fromMs: sensorsFromMs })
  let position = record.position
  /** In the order of the log; none of it counts yet. */
  const read: Read[] = []
  let waiting = 0
  let written = JSON.stringify(record)
  const failed = new AbortController()
  const stop = AbortSignal.any([options.stop, failed.signal])

  /** Killed before: the hour is read from its readings, and is dirty still. */
  const keepValues = async (area: string, rows: readonly AreaStats[]): Promise<void> => {
    for (const { readings, startMs } of rows)
      if (readings >= fewestCounted) await store.keepHourValues(area, startMs)
  }

  const compute = async (closed: Dirty, stepMs: number, size: BucketSize): Promise<void> => {
    const write = size === 'hour' ? store.writeAreaHours : store.writeAreaDays
    for (const [area, starts] of closed) {
      for (const { fromMs, toMs } of spansOf(starts, stepMs)) {
        const rows = await store.computeBuckets(area, fromMs, toMs, size)
        if (rows.length > 0) await write(rows)
        if (size === 'hour') await keepValues(area, rows)
      }
    }
  }

  const computeSensors = async (
    marks: SensorMarks,
    stepMs: number,
    size: BucketSize,
  ): Promise<void> => {
    for (const { sensors, starts } of tasksOf(marks)) {
      const those = sensors === 'all' ? (await store.names()).sensors : sensors
      for (const span of spansOf(starts, stepMs)) await writeSensors(store, those, span, size)
    }
  }

  const round = async (): Promise<void> => {
    const at = position
    const closedHours = takeClosed(hours, hourMs, nowMs())
    const closedDays = takeClosed(days, dayMs, nowMs())
    const overHours = takeOver(sensorHours, hourMs, nowMs())
    const overDays = takeOver(sensorDays, dayMs, nowMs())
    const left = { dirty: pairsOf(hours), dirtyDays: pairsOf(days) }
    await compute(closedHours, hourMs, 'hour')
    await compute(closedDays, dayMs, 'day')
    await computeSensors(overHours, hourMs, 'hour')
    await computeSensors(overDays, dayMs, 'day')
    sensorsFromMs = await past.work(nowMs() + pastMs)
    const made = { sensorsFromMs, rules: statRules }
    const next = JSON.stringify({ position: at, ...left, ...made } satisfies RollUpRecord)
    if (next === written) return
    await kv.put(systemKeys.rollup, next)
    written = next
  }

  const readOn = async (): Promise<void> => {
    for await (const { partition, seq, rows } of readRows(position + 1, stop)) {
      const touched = touchedBy(rows)
      read.push({ partition, seq, touched })
      waiting += sizeOfTouched(touched)
      while (waiting > mostWaiting && !stop.aborted) await pause(settleMs)
      if (stop.aborted) return
    }
  }

  const settleOn = async (): Promise<void> => {
    while (!stop.aborted) {
      for (let next = read.shift(); next !== undefined; next = read.shift()) {
        const { partition, seq, touched } = next
        if (touched.size > 0) await stored(partition, seq, stop)
        if (stop.aborted) return
        markTouched(touched)
        waiting -= sizeOfTouched(touched)
        position = seq
        while (sizeOf(hours) > maxDirty && !stop.aborted) await pause(settleMs)
      }
      await pause(settleMs)
    }
  }

  const markTouched = (touched: TouchedHours): void => {
    for (const [hour, { sensors, areas }] of touched) {
      const day = floorTo(hour, dayMs)
      for (const sensor of sensors) {
        markSensor(sensorHours, sensor, hour)
        markSensor(sensorDays, sensor, day)
      }
      for (const name of [...areas, wholeNetwork]) {
        mark(hours, name, hour)
        mark(days, name, day)
      }
    }
  }

  const roundsOn = async (): Promise<void> => {
    while (!stop.aborted) {
      await round()
      await pause(roundMs)
    }
  }

  try {
    await Promise.all([readOn(), settleOn(), roundsOn()])
  } finally {
    // one of them failed: the others must not go on with a state that is given up
    failed.abort()
  }
}
