/**
 * The rises of stored readings, decided again by the fold of the pipeline (`apply-reading.ts`). What came
 * before the first of them may not be known: whatever it was, the truth is between a fold in which no
 * threshold had fired and one in which all had, and the two soon agree.
 */
import type { Reading } from '../air/reading.ts'
import { applyNewer, createOutcome } from './apply-reading.ts'
import { listenAt } from './evolve.ts'
import { createState, type PartitionState, slotOf } from './partition-state.ts'
import { freshMs } from './presence.ts'
import { rulesNow } from './quality-rules.ts'
import { newestMsOf, numberAt, numbersOf } from './state-columns.ts'

export type PastRise = {
  readonly reading: Reading
  /** The thresholds t with `from ≤ t < to` fired, unless what is not known had fired them before. */
  readonly from: number
  readonly to: number
  /** Those with `t ≥ sureFrom` fired, whatever came before. */
  readonly sureFrom: number
}

type Known = {
  /** There is no older reading of the sensor. */
  readonly isWhole: boolean
}

/** Above every threshold. */
const allFired = 500

/** @param readings of one sensor, in the order of their numbers */
export function* pastRises(readings: readonly Reading[], { isWhole }: Known): Generator<PastRise> {
  const [first] = readings
  if (first === undefined) return
  const slot = 0
  const [none, all] = [createState(0, 1), createState(0, 1)]
  for (const state of [none, all]) slotOf(state, first.sensor)
  if (!isWhole) {
    all.numbers[numbersOf(slot) + numberAt.previousAqi] = allFired
    all.numbers[numbersOf(slot) + numberAt.firedBelow] = allFired
  }
  for (const reading of readings) {
    // the late lane accepted it, which fires nothing
    if (reading.timeMs <= newestMsOf(none, slot)) continue
    const from = fold(none, slot, reading)
    const sureFrom = fold(all, slot, reading)
    if (from !== undefined && reading.aqi !== null)
      yield { reading, from, to: reading.aqi, sureFrom: sureFrom ?? reading.aqi }
  }
}

const outcome = createOutcome()

/** @returns from which threshold on it fired; undefined: it did not */
function fold(state: PartitionState, slot: number, reading: Reading): number | undefined {
  const { timeMs, isBackfill } = reading
  // readings with leaf 1 were judged without rules (`decide.ts`)
  listenAt(state, 0, reading.leafVersion === 2 ? rulesNow : 0)
  // of when it arrived only whether it was fresh is stored, and only that counts
  const arrivedMs = isBackfill === true ? timeMs + freshMs + 1 : timeMs
  applyNewer(state, slot, { ...reading, arrivedMs }, reading.seq, outcome)
  return outcome.rise ? outcome.from : undefined
}
