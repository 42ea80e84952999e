import { countdown } from '../../parts/time/countdown.ts'
import { localTime } from '../../parts/time/local-time.ts'
import { format, texts } from '../../texts.ts'
import type { RowCheck } from './checked-rows.ts'
import { isWaiting } from './live-readings.ts'
import { proofOf, type Reading } from './sensor-data.ts'

type BadgeProps = {
  readonly reading: Reading
  readonly check: RowCheck | undefined
  readonly expectedMs: number | undefined
  /** Of the server. */
  readonly nowMs: number
}

/**
 * How the proof of a reading stands. Green only where this browser has checked the leaf: that it is in a
 * batch is the server's word, which an altered row has as well.
 */
export function ProofBadge({ reading, check, expectedMs, nowMs }: BadgeProps) {
  const { timestamp } = reading
  const { looks, label } = badgeOf(reading, check, expectedMs, nowMs)
  return (
    <a class={`badge proof-badge ${looks}`} href={proofOf(reading)}>
      {label}
      <span class="visually-hidden">
        , {texts.proof.badge.proofOf(localTime(Date.parse(timestamp)))}
      </span>
    </a>
  )
}

function badgeOf(
  reading: Reading,
  check: RowCheck | undefined,
  expectedMs: number | undefined,
  nowMs: number,
): { readonly looks: string; readonly label: string } {
  const { badge, testChainShort } = texts.proof
  const { status } = reading.blockchain
  if (status === 'mismatch') return { looks: 'error', label: badge.altered }
  if (isWaiting(reading)) {
    const left = expectedMs === undefined ? undefined : countdown(expectedMs, nowMs)
    const until = expectedMs === undefined ? '' : ` ${left ?? badge.anyMoment}`
    return { looks: '', label: `${badge.waiting}${until}` }
  }
  if (check === undefined) return { looks: '', label: badge.inBatch }
  if (check.state === 'checking') return { looks: '', label: badge.checkingOne }
  if (check.state === 'failed') return { looks: 'error', label: `✗ ${badge.failed}` }
  const label = `✓ ${badge.checked(format.number(check.batch))}`
  return check.isTestChain
    ? { looks: 'warn', label: `${label}, ${testChainShort}` }
    : { looks: 'ok', label }
}
