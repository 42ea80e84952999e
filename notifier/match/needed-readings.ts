import { type Cursors, sourceNames, sourceOf } from '../../core/delivery/delivery.ts'
import { sourceRows } from '../../core/delivery/event-kinds.ts'
import {
  kindOfBits,
  type Ledger,
  sequenceOf,
  slotStates,
  stateOf,
} from '../../core/delivery/ledger.ts'

/**
 * The oldest message of READINGS that a delivery, existing or still to be matched, needs;
 * undefined: none. A dead delivery is listed while it is stored, and needs nothing. Trimming keeps
 * needed messages for seven days (`anchor/trim.ts`): a delivery that waits longer has no reading,
 * and dies.
 * @param cursors up to where each source has been matched; 0: nothing is, so everything is needed
 */
export function neededReadings(ledger: Ledger, cursors: Cursors): number | undefined {
  let oldest = Number.POSITIVE_INFINITY
  for (const source of sourceNames) {
    const cursor = cursors[source]
    if (!sourceRows[source].holdsReadings) continue
    // messages that are not matched yet are needed too, also while no process matches
    if (cursor !== undefined) oldest = Math.min(oldest, cursor + 1)
    for (const { behind } of ledger.hooks.values())
      oldest = Math.min(oldest, behind.get(source) ?? oldest)
  }
  for (let slot = 0; slot < ledger.top; slot++) {
    if (stateOf(ledger, slot) !== slotStates.pending) continue
    const source = sourceOf(kindOfBits(ledger.bits[slot] ?? 0))
    if (sourceRows[source].holdsReadings) oldest = Math.min(oldest, sequenceOf(ledger, slot))
  }
  return Number.isFinite(oldest) ? oldest : undefined
}
