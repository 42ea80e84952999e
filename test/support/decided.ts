/** Readings and judged messages for tests of what the pipeline decides, without a server. */

import { nOfSeq } from '../../core/air/reading.ts'
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import type { LeafVersion } from '../../core/state/border.ts'
import { closeMessage } from '../../core/state/evolve.ts'
import type { LogMessage, Refused } from '../../core/state/log-message.ts'
import { createState } from '../../core/state/partition-state.ts'
import {
  createDayBook,
  createFreshBook,
  mostFreshADay,
  mostLateADay,
  mostListedADay,
} from '../../pipeline/decide/day-books.ts'
import { type Decider, decideBatch } from '../../pipeline/decide/decide.ts'
import type { Believed, JudgedMessage } from '../../pipeline/decide/judge.ts'
import { thresholdsInUse } from '../../pipeline/decide/thresholds.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { encodeReadings } from '../../schemas/log/readings-message.ts'
import { type Over, valued } from './readings.ts'

export const partition = 5

/** Ids that all belong to the partition of these tests. */
export function idsOf(count: number, digits = 5): SensorId[] {
  const ids: SensorId[] = []
  for (let i = 0; ids.length < count; i++) {
    const id = `NGR-LOS-IKJ-${String(i).padStart(digits, '0')}` as SensorId
    if (partitionOf(id) === partition) ids.push(id)
  }
  return ids
}

export const startMs = Date.UTC(2026, 0, 15)

export const believed = (over: Over<Believed> & Pick<Believed, 'sensor'>): Believed =>
  valued({
    rawSeq: 0,
    item: 0,
    area: 'Ikeja',
    timeMs: startMs,
    arrivedMs: over.timeMs ?? startMs,
    pm25: 1_850,
    aqi: 69,
    flags: 0,
    ...over,
  })

/** One raw message of these items, numbered. */
export const judgedMessage = (seq: number, items: JudgedMessage['items']): JudgedMessage => {
  const [first] = items
  const isReading = first !== undefined && 'timeMs' in first
  return {
    seq,
    arrivedMs: isReading ? first.arrivedMs : startMs,
    sensor: isReading ? first.sensor : 'stranger',
    isAgain: false,
    items: items.map((one, item) => ('reason' in one ? one : { ...one, rawSeq: seq, item })),
  }
}

export type Desk = {
  readonly decider: Decider
  /** Everything committed so far. */
  readonly log: readonly LogMessage[]
  /** Refused, and counted only. */
  readonly notListed: readonly Refused['reason'][]
  readonly commit: (message: LogMessage) => LogMessage
  /** Decides and commits the messages, as many commits as it takes. */
  readonly decide: (messages: readonly JudgedMessage[], listenedMs?: number) => LogMessage[]
}

/** A worker's decisions and commits without the worker; its log is a list. */
export function openDesk({
  thresholds = [150, 300],
  watch = () => undefined,
  mostFresh = mostFreshADay,
  mostLate = mostLateADay,
  mostListed = mostListedADay,
  leafVersion = 1,
}: {
  thresholds?: readonly number[]
  watch?: (slot: number) => void
  mostFresh?: number
  mostLate?: number
  mostListed?: number
  leafVersion?: LeafVersion
} = {}): Desk {
  const notListed: Refused['reason'][] = []
  const decider: Decider = {
    state: createState(partition),
    worker: 'test-1',
    thresholds: () => thresholdsInUse(thresholds),
    watch,
    mayBeFresh: createFreshBook(() => mostFresh, mostFresh),
    mayBeLate: createDayBook(mostLate),
    mayList: createDayBook(mostListed),
    leafVersion: () => leafVersion,
    onNotListed: (reason) => void notListed.push(reason),
  }
  const log: LogMessage[] = []
  const commit = (message: LogMessage): LogMessage => {
    closeMessage(decider.state, message, log.push(message))
    return message
  }
  return {
    decider,
    log,
    notListed,
    commit,
    decide: (messages, listenedMs = decider.state.listenedMs) => {
      const made: LogMessage[] = []
      for (let at = 0; at < messages.length; ) {
        const left = messages.slice(at)
        const { message, covered } = decideBatch(decider, left, { lateTo: 0, listenedMs })
        made.push(commit(message))
        at += covered
      }
      return made
    },
  }
}

export const numbersIn = (log: readonly LogMessage[]): number[] =>
  log.flatMap(({ readings }) => readings.map(({ seq }) => nOfSeq(seq)))

export const encodedBytes = (message: LogMessage): number =>
  encodeReadings(message, newestLevel).length
