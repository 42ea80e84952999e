/**
 * What a partition's worker decides, as messages ready to be committed. The state is changed on
 * the way, so a decided message must be committed, or the process must end: nothing else reads the
 * state, and the next start rebuilds it from the log.
 */

import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { droppedMask, maskOf, stuckAfter } from '../../core/air/quality.ts'
import { type Reading, seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { fewestValues, humidityOf, sameValues } from '../../core/air/values.ts'
import {
  applyLate,
  applyNewer,
  createOutcome,
  humidityRun,
} from '../../core/state/apply-reading.ts'
import type { LeafVersion } from '../../core/state/border.ts'
import { someInside } from '../../core/state/crossing.ts'
import { listenAt } from '../../core/state/evolve.ts'
import type {
  ArrivedReading,
  Deferred,
  LogEvent,
  LogMessage,
  NeighbourVerdict,
  Refused,
} from '../../core/state/log-message.ts'
import {
  compareToNewest,
  findSlot,
  type PartitionState,
  slotOf,
} from '../../core/state/partition-state.ts'
import { historyFlags } from '../../core/state/pm-checks.ts'
import { isFresh } from '../../core/state/presence.ts'
import { type RulesVersion, rulesNow } from '../../core/state/quality-rules.ts'
import { levelAt } from '../../core/state/sensor-level.ts'
import { isGateway } from '../../schemas/devices/application.ts'
import type { DayBook, FreshBook } from './day-books.ts'
import type { Believed, ItemFault, JudgedMessage } from './judge.ts'

export type Decider = {
  readonly state: PartitionState
  readonly worker: string
  /** Sorted: a rise becomes an event only if one of them was crossed. */
  readonly thresholds: () => readonly number[]
  /** Lets the silence of a sensor be watched. */
  readonly watch: (slot: number) => void
  readonly mayBeFresh: FreshBook
  /** The same book as `judge` has. */
  readonly mayBeLate: DayBook
  /** Whether what is refused of a sensor is listed item by item. */
  readonly mayList: DayBook
  /** Counts what is not. */
  readonly onNotListed: (reason: Refused['reason']) => void
  /** Of the readings of the next message. */
  readonly leafVersion: () => LeafVersion
}

export const maxReadings = 2_000
const maxMessageBytes = 480 * 1024
const maxSensorLength = 128

const stuckMask = maskOf('humidity_stuck')

type Draft = {
  readonly leafVersion: LeafVersion
  readonly readings: ArrivedReading[]
  readonly events: LogEvent[]
  readonly held: SensorId[]
  readonly deferred: Deferred[]
  readonly refused: Refused[]
  readonly duplicates: Map<SensorId, number>
  readonly neighbours?: readonly NeighbourVerdict[]
  bytes: number
}

const emptyDraft = ({ leafVersion }: Decider): Draft => ({
  leafVersion: leafVersion(),
  readings: [],
  events: [],
  held: [],
  deferred: [],
  refused: [],
  duplicates: new Map(),
  bytes: 0,
})

/** What is written for leaf 1 an older airproof may read, which has no rules. */
const rulesOf = ({ leafVersion }: Draft): RulesVersion => (leafVersion === 2 ? rulesNow : 0)

type Counters = Pick<LogMessage, 'rawLast' | 'rawLastTimeMs' | 'nLast' | 'lateTo' | 'listenedMs'>

function close({ state, worker }: Decider, draft: Draft, counters: Counters): LogMessage {
  const { leafVersion, readings, events, held, deferred, refused, duplicates } = draft
  const { neighbours = [] } = draft
  return {
    partition: state.partition,
    worker,
    ...counters,
    readings,
    events,
    held,
    deferred,
    refused,
    duplicates: [...duplicates],
    ...(leafVersion === 2 ? { leafVersion, rules: rulesNow } : {}),
    ...(neighbours.length > 0 ? { neighbours } : {}),
  }
}

/**
 * Decides as many of the judged messages as fit one READINGS message, at least one of them.
 * @param lateTo what the late lane has judged so far  @param listenedMs the listening clock now
 * @returns the message, and how many of `messages` it covers
 */
export function decideBatch(
  decider: Decider,
  messages: readonly JudgedMessage[],
  { lateTo, listenedMs }: { readonly lateTo: number; readonly listenedMs: number },
): { readonly message: LogMessage; readonly covered: number } {
  const { state } = decider
  const draft = emptyDraft(decider)
  listenAt(state, listenedMs, rulesOf(draft))
  let n = state.n
  let covered = 0
  for (const message of messages) {
    if (covered > 0 && !fits(draft, message)) break
    for (let item = 0; item < message.items.length; item++) {
      const judged = message.items[item]
      if (judged === undefined) continue
      if ('reason' in judged) refuse(decider, draft, message, faultAt(message, item, judged))
      else n += decideOne(decider, draft, message, judged, n + 1)
    }
    covered++
  }
  const last = messages[covered - 1]
  const message = close(decider, draft, {
    rawLast: last?.seq ?? state.rawLast,
    rawLastTimeMs: last?.arrivedMs ?? state.rawLastTimeMs,
    nLast: n,
    lateTo,
    listenedMs,
  })
  return { message, covered }
}

/** @returns how many numbers it took: 1 if the reading was accepted, else 0 */
function decideOne(
  decider: Decider,
  draft: Draft,
  from: JudgedMessage,
  reading: Believed,
  n: number,
): 0 | 1 {
  const { state } = decider
  const known = findSlot(state, reading.sensor)
  const place = known === -1 ? 'newer' : compareToNewest(state, known, reading)
  draft.bytes += rowBytes(reading)
  const tooMany = from.isAgain ? undefined : boundOf(decider, known, place, reading)
  if (tooMany !== undefined) {
    refuse(decider, draft, from, refusedAs(reading, tooMany))
    return 0
  }
  switch (place) {
    case 'newer':
      accept(decider, draft, reading, n)
      return 1
    case 'older':
      draft.deferred.push(reading)
      return 0
    case 'duplicate':
      countDuplicate(draft, reading.sensor)
      return 0
    case 'conflict':
      refuse(decider, draft, from, refusedAs(reading, 'conflict'))
      return 0
  }
}

/** Which bound of the day a fresh reading is beyond; those that came late are counted as they are judged. */
function boundOf(
  { mayBeFresh, mayBeLate }: Decider,
  slot: number,
  place: ReturnType<typeof compareToNewest>,
  { sensor, timeMs, arrivedMs }: Believed,
): 'too_many_fresh' | 'too_many_late' | undefined {
  if (!isFresh(timeMs, arrivedMs)) return undefined
  if (place === 'older') return mayBeLate(sensor, arrivedMs) ? undefined : 'too_many_late'
  // the first of all has no slot yet
  if (place !== 'newer' || slot === -1 || mayBeFresh(slot, sensor, arrivedMs)) return undefined
  return 'too_many_fresh'
}

const outcome = createOutcome()

function accept(decider: Decider, draft: Draft, believed: Believed, n: number): void {
  const { state } = decider
  const slot = slotOf(state, believed.sensor)
  const isStuck = humidityRun(state, slot, humidityOf(believed.values)) >= stuckAfter
  const seq = seqOf(state.partition, n)
  let flags = isStuck ? believed.flags | stuckMask : believed.flags
  if (state.rules !== 0) flags |= historyFlags(state, slot, believed)
  const reading = numbered(believed, seq, flags, draft.leafVersion)
  applyNewer(state, slot, reading, seq, outcome)
  decider.watch(slot)
  const place = draft.readings.push(reading) - 1
  if (outcome.cameOnline) {
    draft.bytes += eventBytes.online
    draft.events.push({ kind: 'online', place, offlineSinceMs: outcome.offlineSinceMs })
  }
  const { from, to, previousAqi } = outcome
  if (outcome.rise && someInside(decider.thresholds(), from, to)) {
    draft.bytes += eventBytes.rise
    draft.events.push({ kind: 'rise', place, from, to, previousAqi })
  }
  if (outcome.level !== outcome.levelWas) {
    draft.bytes += eventBytes.quality
    const [from, to] = [levelAt(outcome.levelWas), levelAt(outcome.level)]
    draft.events.push({ kind: 'quality', place, from, to })
  }
  keepPartial(draft, believed)
}

function numbered(
  believed: Deferred,
  seq: number,
  flags: number,
  leafVersion: LeafVersion,
): ArrivedReading {
  const { sensor, area, timeMs, arrivedMs, values, aqi, device, signed } = believed
  if (leafVersion === 1) return { sensor, area, timeMs, arrivedMs, values, aqi, flags, seq }
  // one literal: V8 keeps what is added to an object later outside of it
  const reading = { sensor, area, timeMs, arrivedMs, values, aqi, flags, seq, leafVersion }
  return device === undefined || signed === undefined ? reading : { ...reading, device, signed }
}

const isPartial = ({ flags }: Pick<Believed, 'flags'>): boolean => (flags & droppedMask) !== 0

/** A value was dropped: the reading counts, and what it said is kept. */
function keepPartial(draft: Draft, reading: Believed): void {
  if (!isPartial(reading)) return
  draft.bytes += refusedBytes(reading.sensor, '')
  draft.refused.push(refusedAs(reading, 'partial'))
}

const refusedAs = (
  reading: Believed,
  reason: 'conflict' | 'partial' | 'too_many_fresh' | 'too_many_late' | 'too_old',
): Refused => ({
  rawSeq: reading.rawSeq,
  item: reading.item,
  reason,
  sensor: reading.sensor,
  why: '',
})

const faultSensor = (message: JudgedMessage, fault: ItemFault): string =>
  (fault.sensor ?? message.sensor).slice(0, maxSensorLength)

const faultAt = (message: JudgedMessage, item: number, fault: ItemFault): Refused => ({
  rawSeq: message.seq,
  item,
  reason: fault.reason,
  sensor: faultSensor(message, fault),
  why: fault.why,
})

/**
 * Lists what is refused. A message of a kilobyte holds 500 items, and each is listed in the log: a
 * sensor that is refused that much is listed once per message, or the log would grow 50-fold.
 */
function refuse(decider: Decider, draft: Draft, from: JudgedMessage, refused: Refused): void {
  const { sensor, why, reason, rawSeq } = refused
  const mayList = from.isAgain || decider.mayList(sensor, from.arrivedMs)
  if (!mayList && draft.refused.at(-1)?.rawSeq === rawSeq) {
    decider.onNotListed(reason)
    return
  }
  draft.bytes += refusedBytes(sensor, why)
  draft.refused.push(refused)
}

function countDuplicate(draft: Draft, sensor: SensorId): void {
  draft.duplicates.set(sensor, (draft.duplicates.get(sensor) ?? 0) + 1)
}

/** No row is longer: numbers of at most 16 digits, and text that JSON may escape. */
const rowBytes = ({ sensor, area, values, signed }: Deferred): number =>
  150 +
  sensor.length +
  area.length * 6 +
  (values.length - fewestValues) * valueBytes +
  (signed === undefined ? 0 : signedBytes(signed))
/** Its place, algorithm, hash, key and signature; and the text, which JSON may escape. */
const signedBytes = ({ publicKey, signature, text }: DeviceSignature): number =>
  120 + publicKey.length + signature.length + Buffer.byteLength(JSON.stringify(text))
/** Of each value beyond the basic five: no hard range has more digits. */
const valueBytes = 11
/** No event of a reading is longer. */
const eventBytes = { rise: 68, online: 63, quality: 65 } as const
/** Both texts may be a stranger's, who may have chosen what grows sixfold in JSON. */
const refusedBytes = (sensor: string, why: string): number =>
  64 + Buffer.byteLength(JSON.stringify(sensor)) + Buffer.byteLength(JSON.stringify(why))

/** With all that a reading may bring about, except that its sensor comes online. */
const mostBytes = (reading: Deferred): number =>
  rowBytes(reading) +
  eventBytes.rise +
  eventBytes.quality +
  (isPartial(reading) ? refusedBytes(reading.sensor, '') : 0)

function fits(draft: Draft, message: JudgedMessage): boolean {
  const count = draft.readings.length + draft.deferred.length + message.items.length
  if (count > maxReadings) return false
  // a sensor comes online once in a message
  const comeOnline = isGateway(message.sensor) ? message.items.length : 1
  let bytes = draft.bytes + comeOnline * eventBytes.online
  for (const item of message.items) {
    bytes += 'reason' in item ? refusedBytes(faultSensor(message, item), item.why) : mostBytes(item)
  }
  return bytes <= maxMessageBytes
}

/** Whether the verdicts on both fit one message. */
export const fitTogether = (some: readonly Deferred[], more: readonly Deferred[]): boolean =>
  some.length + more.length <= maxReadings && lateBytes(some) + lateBytes(more) <= maxMessageBytes

const lateBytes = (deferred: readonly Deferred[]): number =>
  deferred.reduce((sum, one) => sum + mostBytes(one), 0)

/** What the late lane found out about one deferred reading. */
export type LateVerdict = {
  readonly deferred: Deferred
  readonly verdict: 'accepted' | 'duplicate' | 'conflict' | 'too_old'
}

/**
 * Compares deferred readings with what is stored under their keys and with each other.
 * @param stored in the order of `deferred`; 'unknown' where the values of an accepted row are lost, 'unasked'
 * where only the archive knows whether there is one, and cannot be read
 */
export function judgeLate(
  deferred: readonly Deferred[],
  stored: readonly (Reading | 'unknown' | 'unasked' | undefined)[],
): readonly LateVerdict[] {
  const seen = new Map<string, Reading | Deferred | 'unknown' | 'unasked'>()
  return deferred.map((one, i) => {
    const key = `${one.sensor} ${one.timeMs}`
    const known = seen.get(key) ?? stored[i]
    if (known === undefined) {
      seen.set(key, one)
      return { deferred: one, verdict: 'accepted' }
    }
    if (known === 'unasked') return { deferred: one, verdict: 'too_old' }
    const isRepeat = known === 'unknown' || sameValues(known.values, one.values)
    return { deferred: one, verdict: isRepeat ? 'duplicate' : 'conflict' }
  })
}

/** No longer than a row: as many as are judged together fit one message. */
const archiveAway = 'only the archive could know it, and it cannot be read'

/** The late lane's verdicts as a message: accepted readings repair statistics, and raise no event. */
export function decideLate(
  decider: Decider,
  verdicts: readonly LateVerdict[],
  { lateTo, listenedMs }: { readonly lateTo: number; readonly listenedMs: number },
): LogMessage {
  const { state } = decider
  const draft = emptyDraft(decider)
  listenAt(state, listenedMs, rulesOf(draft))
  let n = state.n
  for (const { deferred, verdict } of verdicts) {
    switch (verdict) {
      case 'accepted': {
        const seq = seqOf(state.partition, ++n)
        const reading = numbered(deferred, seq, deferred.flags, draft.leafVersion)
        applyLate(state, slotOf(state, reading.sensor), reading)
        draft.readings.push(reading)
        keepPartial(draft, deferred)
        break
      }
      case 'duplicate':
        countDuplicate(draft, deferred.sensor)
        break
      case 'conflict':
        draft.refused.push(refusedAs(deferred, 'conflict'))
        break
      case 'too_old':
        draft.refused.push({ ...refusedAs(deferred, 'too_old'), why: archiveAway })
        break
    }
  }
  const { rawLast, rawLastTimeMs } = state
  return close(decider, draft, { rawLast, rawLastTimeMs, nLast: n, lateTo, listenedMs })
}

/** What a tick found: silences to report or to hold, and verdicts on neighbours; empty, it is the heartbeat of a quiet partition. */
export function decideTick(
  decider: Decider,
  found: {
    readonly events: readonly LogEvent[]
    readonly held: readonly SensorId[]
    readonly neighbours?: readonly NeighbourVerdict[]
  },
  { lateTo, listenedMs }: { readonly lateTo: number; readonly listenedMs: number },
): LogMessage {
  const { rawLast, rawLastTimeMs, n: nLast } = decider.state
  listenAt(decider.state, listenedMs)
  const { neighbours = [] } = found
  const draft: Draft = {
    ...emptyDraft(decider),
    events: [...found.events],
    held: [...found.held],
    neighbours,
  }
  return close(decider, draft, { rawLast, rawLastTimeMs, nLast, lateTo, listenedMs })
}

/** The partition's mark (`core/state/border.ts`). */
export const decideMark = (
  decider: Decider,
  counters: { readonly lateTo: number; readonly listenedMs: number },
): LogMessage => ({
  ...decideTick(decider, { events: [], held: [] }, counters),
  leafVersion: 2,
  isMark: true,
})
