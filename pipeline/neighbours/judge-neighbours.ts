/**
 * Judges which sensors are unlike their neighbours, by one process at a time: follows READINGS, folds it
 * into two hours of sums (`core/state/two-hours.ts`), and each ten minutes of the readings' own time, or
 * when more came of them, reports to the workers which sensors are unlike. It stores nothing: after a crash the next one reads the last hours
 * of the log again. What it reports is decided by the messages up to a sequence that the verdict names, and
 * by where the registry says that the sensors were.
 */
import { setImmediate as soon } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { quantityIds } from '../../core/air/quantities.ts'
import {
  createTwoHours,
  dueEnd,
  keepPm25,
  stepMs,
  type TwoHours,
  windowMs,
} from '../../core/state/two-hours.ts'
import {
  compareNeighbours,
  type OutdoorPlace,
  type Unlike,
} from '../../core/state/unlike-neighbours.ts'
import { futureToleranceMs } from '../../core/time.ts'
import { firstSince } from '../../runtime/nats/stored-message.ts'
import { type RegisteredSensor, sinceAt, siteAt } from '../../schemas/devices/registered-sensor.ts'
import { readingsStream } from '../../schemas/subjects.ts'
import { cellAt, orNull, type PackedReadings } from '../../store/packed-readings.ts'
import type { ReadRows } from '../read-rows.ts'
import type { Judged } from './reports.ts'

export type NeighbourOptions = {
  readonly nc: NatsConnection
  readonly readRows: ReadRows
  readonly sensors: () => Iterable<RegisteredSensor>
  readonly report: (judged: Judged) => void
  readonly onTrimmed: (sinceMs: number) => void
  readonly nowMs: () => number
  /** A clock that never jumps, ms. */
  readonly monotonicMs: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly onFailure: (error: unknown) => void
}

const retryMs = 1_000
const roundMs = 2_000
/** Judging rests for this many times as long as it took: it has a hundredth of a core at most. */
const restTimes = 100
/** Compared in one turn of the event loop: about 3 ms. */
const comparedAtOnce = 100

/** Runs until `stop`; every failure is tried again, from the log. */
export async function judgeNeighbours(options: NeighbourOptions, stop: AbortSignal): Promise<void> {
  const { onFailure, pause } = options
  while (!stop.aborted) {
    try {
      await judgeFromLog(options, stop)
    } catch (error) {
      if (stop.aborted) return
      onFailure(error)
      await pause(retryMs)
    }
  }
}

async function judgeFromLog(options: NeighbourOptions, stopping: AbortSignal): Promise<void> {
  const { readRows, sensors, report, pause, monotonicMs } = options
  const { state, fromSeq, lastSeq } = await beginning(options)
  let readingsTo = 0
  const failed = new AbortController()
  const stop = AbortSignal.any([stopping, failed.signal])

  const readOn = async (): Promise<void> => {
    for await (const { seq, rows } of readRows(fromSeq, stop)) {
      keepRows(state, rows)
      readingsTo = seq
    }
  }

  const judgeOn = async (): Promise<void> => {
    while (!stop.aborted) {
      const startedMs = monotonicMs()
      // what the log had when we began was judged by the task before this one
      const endMs = readingsTo < lastSeq ? undefined : dueEnd(state)
      if (endMs !== undefined) {
        // what is folded meanwhile does not change what is compared
        const to = readingsTo
        const unlike = await unlikeAt(state, outdoorPlaces(sensors(), endMs), endMs)
        if (stop.aborted) return
        report({ endMs, readingsTo: to, unlike })
      }
      await pause(Math.max(roundMs, restTimes * (monotonicMs() - startedMs)))
    }
  }

  try {
    await Promise.all([readOn(), judgeOn()])
  } finally {
    // one of the two failed: the other must not go on with a state that is given up
    failed.abort()
  }
}

function keepRows(state: TwoHours, { sensors, cells, width }: PackedReadings): void {
  const pm25At = cellAt.values + quantityIds.pm25
  for (let at = 0; at < cells.length; at += width)
    keepPm25(
      state,
      sensors[cells[at + cellAt.sensor]!]!,
      cells[at + cellAt.timeMs]!,
      orNull(cells[at + pm25At]!),
      cells[at + cellAt.flags]!,
    )
}

type Beginning = {
  readonly state: TwoHours
  readonly fromSeq: number
  /** The end of the log now. */
  readonly lastSeq: number
}

/** Where the last two hours of the log begin, or what is left of them. */
async function beginning({ nc, nowMs, onTrimmed }: NeighbourOptions): Promise<Beginning> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const wantedMs = nowMs() - windowMs - futureToleranceMs - 2 * stepMs
  const { state } = await manager.streams.info(readingsStream)
  const { first_seq: first, last_seq: lastSeq, messages } = state
  const fromSeq = (await firstSince(nc, readingsStream, wantedMs)) ?? lastSeq + 1
  // a network that is younger: all that it ever accepted is there
  if (fromSeq <= 1) return { state: createTwoHours(), fromSeq, lastSeq }
  const oldestMs = messages === 0 ? nowMs() : Date.parse(state.first_ts)
  if (fromSeq > first || oldestMs <= wantedMs)
    return { state: createTwoHours(wantedMs + futureToleranceMs), fromSeq, lastSeq }
  onTrimmed(oldestMs)
  return { state: createTwoHours(oldestMs + futureToleranceMs), fromSeq, lastSeq }
}

/** Where sensors measure the air outdoors, and since when. */
export function* outdoorPlaces(
  sensors: Iterable<RegisteredSensor>,
  atMs: number,
): Generator<OutdoorPlace> {
  for (const sensor of sensors) {
    if (sensor.about?.indoor === true) continue
    const { lat, lon } = siteAt(sensor, atMs)
    yield { sensor: sensor.id, lat, lon, sinceMs: sinceAt(sensor, atMs) }
  }
}

async function unlikeAt(
  state: TwoHours,
  places: Iterable<OutdoorPlace>,
  endMs: number,
): Promise<readonly Unlike[]> {
  const comparison = compareNeighbours(state, places, endMs)
  const unlike: Unlike[] = []
  for (let index = 0; index < comparison.count; index++) {
    const found = comparison.of(index)
    if (found !== undefined) unlike.push(found)
    if (index % comparedAtOnce === comparedAtOnce - 1) await soon()
  }
  return unlike
}
