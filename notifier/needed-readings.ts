import {
  kindOfBits,
  type Ledger,
  sequenceOf,
  slotStates,
  stateOf,
} from '../core/delivery/ledger.ts'

/**
 * The oldest message of READINGS that a delivery, made or to be made, needs; undefined: none does.
 * What is given up is listed for as long as it is kept, and needs nothing. The trimming keeps what
 * is needed for seven days (`anchor/trim.ts`): a delivery that waits longer finds nothing, and dies.
 * @param matched how far readings have become records; 0: no webhook wants any
 */
export function neededReadings(ledger: Ledger, matched: number): number | undefined {
  // what is not matched yet is needed too, also while we are away
  let oldest = matched > 0 ? matched + 1 : Number.POSITIVE_INFINITY
  for (const { behind } of ledger.hooks.values())
    if (behind.readings > 0) oldest = Math.min(oldest, behind.readings)
  for (let slot = 0; slot < ledger.top; slot++) {
    if (stateOf(ledger, slot) !== slotStates.pending) continue
    if (kindOfBits(ledger.bits[slot] ?? 0) !== 'reading.new') continue
    oldest = Math.min(oldest, sequenceOf(ledger, slot))
  }
  return Number.isFinite(oldest) ? oldest : undefined
}
