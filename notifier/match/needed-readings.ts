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
 * The oldest message of READINGS that a delivery, made or to be made, needs; undefined: none does.
 * What is given up is listed for as long as it is kept, and needs nothing. The trimming keeps what
 * is needed for seven days (`anchor/trim.ts`): a delivery that waits longer finds nothing, and dies.
 * @param cursors how far each source has become records; 0: nothing has, and all is needed
 */
export function neededReadings(ledger: Ledger, cursors: Cursors): number | undefined {
  let oldest = Number.POSITIVE_INFINITY
  for (const source of sourceNames) {
    const cursor = cursors[source]
    if (!sourceRows[source].holdsReadings) continue
    // what is not matched yet is needed too, also while no process matches
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
