/**
 * The level of a sensor, as its fresh readings give it: it becomes worse with the first that is worse,
 * and better when twelve in a row, over an hour or more, were better. So a sensor that spikes now and
 * then is suspect all the time, and not twenty times a day.
 */
import { isFail, type QualityLevel, qualityLevels, qualityOf } from '../air/quality-level.ts'
import { minuteMs } from '../time.ts'
import type { PartitionState } from './partition-state.ts'
import { checkAt, checksOf } from './state-columns.ts'

const betterReadings = 12
const betterMinutes = 60

const rankOf = (flags: number): number =>
  flags === 0 ? 0 : isFail(flags) ? 2 : qualityLevels.indexOf(qualityOf(flags))

export const levelAt = (rank: number): QualityLevel => qualityLevels[rank] ?? 'good'

/** @param slot −1: a sensor that was never heard is good */
export const sensorLevelOf = (state: PartitionState, slot: number): QualityLevel =>
  levelAt(slot < 0 ? 0 : (state.checks[checksOf(slot) + checkAt.level] ?? 0))

/** Folds a fresh reading. @returns the level's place in `qualityLevels` */
export function foldLevel(
  { checks }: PartitionState,
  slot: number,
  timeMs: number,
  flags: number,
): number {
  const row = checksOf(slot)
  const level = checks[row + checkAt.level] ?? 0
  // most readings: nothing is wrong, and nothing was
  if (flags === 0 && level === 0) return 0
  const rank = rankOf(flags)
  if (rank >= level) {
    checks[row + checkAt.level] = rank
    checks[row + checkAt.betterRun] = 0
    return rank
  }
  const minute = Math.floor(timeMs / minuteMs)
  const run = (checks[row + checkAt.betterRun] ?? 0) + 1
  if (run === 1) checks[row + checkAt.betterSinceMinute] = minute
  const worst = Math.max(rank, run === 1 ? 0 : (checks[row + checkAt.betterLevel] ?? 0))
  checks[row + checkAt.betterRun] = run
  checks[row + checkAt.betterLevel] = worst
  const minutes = minute - (checks[row + checkAt.betterSinceMinute] ?? 0)
  if (run < betterReadings || minutes < betterMinutes) return level
  checks[row + checkAt.level] = worst
  checks[row + checkAt.betterRun] = 0
  return worst
}
