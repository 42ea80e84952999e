/**
 * What a sensor's own history says about a reading's particles. The rules of
 * version 1 (`quality-rules.ts`):
 *
 * - flat: 24 readings or more in a row have the same PM2.5 and PM10, over two hours or more;
 * - stuck: the same over six hours or more;
 * - zero: 12 readings or more in a row have no particle at all, over an hour or more;
 * - spike: PM2.5 is more than 50 µg/m³ above the median of the sensor's newest five, and more than
 *   three times as high.
 *
 * A sensor that the log calls unlike its neighbours (`unlike-neighbours.ts`) has that in its flags until
 * the log says otherwise.
 *
 * History is what was accepted as its sensor's newest, in the order of the log; what is judged by the
 * late lane is neither judged here nor part of it. After a gap of three hours, which a reading of any
 * quantity ends, it begins again.
 */
import { maskOf } from '../air/quality.ts'
import type { Reading } from '../air/reading.ts'
import { pm10Of, pm25Of } from '../air/values.ts'
import { hourMs, minuteMs } from '../time.ts'
import type { PartitionState } from './partition-state.ts'
import { checkAt, checksOf, newestMsOf, noValue, recentLength } from './state-columns.ts'

const longestGapMs = 3 * hourMs
const flatReadings = 24
const flatMinutes = 120
const stuckMinutes = 360
const zeroReadings = 12
const zeroMinutes = 60
const fewestRecent = 3
/** Hundredths of µg/m³. */
const spikeAbove = 5_000
const spikeTimes = 3

const flatMask = maskOf('pm_flat')
const stuckMask = maskOf('pm_stuck')
const zeroMask = maskOf('pm_zero')
const spikeMask = maskOf('pm_spike')
const unlikeMask = maskOf('pm_unlike_neighbours')

type Judged = Pick<Reading, 'timeMs' | 'values'>

const minuteOf = (timeMs: number): number => Math.floor(timeMs / minuteMs)

/** The flags of a reading that is about to become its sensor's newest. */
export function historyFlags(state: PartitionState, slot: number, reading: Judged): number {
  const pm25 = pm25Of(reading.values)
  const pm10 = pm10Of(reading.values)
  if (pm25 === null && pm10 === null) return 0
  const { checks } = state
  const row = checksOf(slot)
  if (isAfterGap(state, slot, reading.timeMs)) return 0
  return (
    flatFlags(checks, row, reading) |
    (isSpike(checks, row, pm25) ? spikeMask : 0) |
    (pm25 !== null && checks[row + checkAt.unlike] === 1 ? unlikeMask : 0)
  )
}

/** What the rules remember of it. Call it before the reading becomes its sensor's newest. */
export function keepHistory(state: PartitionState, slot: number, reading: Judged): void {
  const pm25 = pm25Of(reading.values)
  const pm10 = pm10Of(reading.values)
  const { checks } = state
  const row = checksOf(slot)
  if (isAfterGap(state, slot, reading.timeMs)) forget(checks, row)
  if (pm25 === null && pm10 === null) return
  if (!isSame(checks, row, pm25, pm10)) {
    checks[row + checkAt.run] = 1
    checks[row + checkAt.sinceMinute] = minuteOf(reading.timeMs)
  } else checks[row + checkAt.run]! += 1
  if (pm10 !== null) checks[row + checkAt.pm10] = pm10
  if (pm25 === null) return
  checks[row + checkAt.pm25] = pm25
  const count = checks[row + checkAt.recentCount] ?? 0
  const next = checks[row + checkAt.recentNext] ?? 0
  checks[row + checkAt.recent + next] = pm25
  checks[row + checkAt.recentCount] = count < recentLength ? count + 1 : recentLength
  checks[row + checkAt.recentNext] = next + 1 === recentLength ? 0 : next + 1
}

/** All that was remembered but the sensor's level. */
function forget(checks: Int32Array, row: number): void {
  checks[row + checkAt.pm25] = noValue
  checks[row + checkAt.pm10] = noValue
  checks[row + checkAt.recentCount] = 0
  checks[row + checkAt.recentNext] = 0
  checks[row + checkAt.unlike] = 0
}

const isAfterGap = (state: PartitionState, slot: number, timeMs: number): boolean =>
  timeMs - newestMsOf(state, slot) > longestGapMs

/** Where a sensor sends both in turn, what a reading lacks is neither the same nor another. */
const isSame = (
  checks: Int32Array,
  row: number,
  pm25: number | null,
  pm10: number | null,
): boolean =>
  (pm25 === null || pm25 === checks[row + checkAt.pm25]) &&
  (pm10 === null || pm10 === checks[row + checkAt.pm10])

function flatFlags(checks: Int32Array, row: number, { timeMs, values }: Judged): number {
  const pm25 = pm25Of(values)
  const pm10 = pm10Of(values)
  const run = (checks[row + checkAt.run] ?? 0) + 1
  if (run < zeroReadings || !isSame(checks, row, pm25, pm10)) return 0
  const minutes = minuteOf(timeMs) - (checks[row + checkAt.sinceMinute] ?? 0)
  const isZero = (pm25 ?? 0) === 0 && (pm10 ?? 0) === 0 && minutes >= zeroMinutes
  const zero = isZero ? zeroMask : 0
  if (run < flatReadings || minutes < flatMinutes) return zero
  return zero | (minutes < stuckMinutes ? flatMask : stuckMask)
}

/** Above the median: above more than half of them. The bound rises with each, so none is sorted. */
function isSpike(checks: Int32Array, row: number, pm25: number | null): boolean {
  if (pm25 === null || pm25 <= spikeAbove) return false
  const count = checks[row + checkAt.recentCount] ?? 0
  if (count < fewestRecent) return false
  let exceeded = 0
  for (let i = row + checkAt.recent; i < row + checkAt.recent + count; i++) {
    const recent = checks[i] ?? 0
    if (pm25 > recent + spikeAbove && pm25 > spikeTimes * recent) exceeded++
  }
  return exceeded > count >> 1
}
