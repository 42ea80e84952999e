/** The task of neighbours and a worker, without processes between them. */

import type { LogMessage } from '../../core/state/log-message.ts'
import { createTwoHours, dueEnd, keepReading, type TwoHours } from '../../core/state/two-hours.ts'
import {
  compareNeighbours,
  type OutdoorPlace,
  type Unlike,
} from '../../core/state/unlike-neighbours.ts'
import { decideTick } from '../../pipeline/decide/decide.ts'
import { neighbourVerdicts } from '../../pipeline/decide/neighbour-verdicts.ts'
import type { Desk } from './decided.ts'

/** All that are unlike, as the task finds them a slice at a time. */
export function unlikeAt(
  state: TwoHours,
  places: Iterable<OutdoorPlace>,
  endMs: number,
): readonly Unlike[] {
  const comparison = compareNeighbours(state, places, endMs)
  return Array.from({ length: comparison.count }, (_, index) => comparison.of(index)).filter(
    (one) => one !== undefined,
  )
}

/** Folds what the desk committed since the last call, and has it commit the verdicts that are due. */
export function openNeighbours(
  { decider, log, commit }: Desk,
  places: () => Iterable<OutdoorPlace>,
): () => readonly LogMessage[] {
  const state = createTwoHours()
  let folded = 0
  return () => {
    const made: LogMessage[] = []
    for (const message of log.slice(folded)) {
      folded++
      for (const reading of message.readings) keepReading(state, reading)
      const endMs = dueEnd(state)
      if (endMs === undefined) continue
      const unlike = unlikeAt(state, places(), endMs)
      const neighbours = neighbourVerdicts(decider.state, { endMs, readingsTo: folded, unlike })
      if (neighbours.length === 0) continue
      const { lateTo, listenedMs } = decider.state
      const found = { events: [], held: [], neighbours }
      made.push(commit(decideTick(decider, found, { lateTo, listenedMs })))
    }
    return made
  }
}
