import type { NeighbourVerdict } from '../../core/state/log-message.ts'
import { findSlot, type PartitionState } from '../../core/state/partition-state.ts'
import { checkAt, checksOf } from '../../core/state/state-columns.ts'
import type { NeighbourReport } from '../../schemas/log/neighbour-report.ts'

/** Of one message of the log, so that it has a bound; the rest follows with the next tick. */
export const mostVerdicts = 300

/** What of the report differs from the state, `mostVerdicts` at most; none: the log has all of it. */
export function neighbourVerdicts(
  state: PartitionState,
  { endMs, readingsTo, unlike }: Pick<NeighbourReport, 'endMs' | 'readingsTo' | 'unlike'>,
): readonly NeighbourVerdict[] {
  const reported = new Map(unlike.map(({ sensor, among }) => [sensor, among]))
  const isUnlike = (slot: number): boolean => state.checks[checksOf(slot) + checkAt.unlike] === 1
  const verdicts: NeighbourVerdict[] = []
  for (const [sensor, among] of reported) {
    const slot = findSlot(state, sensor)
    if (slot !== -1 && !isUnlike(slot)) verdicts.push({ sensor, endMs, readingsTo, among })
  }
  for (const [slot, sensor] of state.ids.entries()) {
    if (isUnlike(slot) && !reported.has(sensor))
      verdicts.push({ sensor, endMs, readingsTo, among: [] })
  }
  return verdicts.slice(0, mostVerdicts)
}
