/**
 * Receipts: after each commit that settles readings of a sensor whose registry entry has `receipts`,
 * the sensor receives the time up to which the log holds its readings. An MQTT acknowledgement does
 * not prove storage; a receipt does. It is a plain publish after the commit and is not stored: if one
 * is lost, or the process dies before it is sent, the next commit sends another, and a repeat of the
 * reading causes such a commit. Receipts are idempotent.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { findSlot, type PartitionState } from '../../core/state/partition-state.ts'
import { newestMsOf } from '../../core/state/state-columns.ts'
import { ackSubject } from '../../schemas/subjects.ts'

/** Readings of one sensor that one commit settled; what is deferred is settled by a later one. */
export type Settled = { stored: number; refused: number }

/** @returns by sensor, only those that asked for receipts */
export function settledBy(
  { readings, duplicates, refused }: Pick<LogMessage, 'readings' | 'duplicates' | 'refused'>,
  wanting: ReadonlySet<string>,
): ReadonlyMap<string, Settled> {
  const settled = new Map<string, Settled>()
  if (wanting.size === 0) return settled
  const of = (sensor: string): Settled => {
    const known = settled.get(sensor) ?? { stored: 0, refused: 0 }
    settled.set(sensor, known)
    return known
  }
  for (const { sensor } of readings) if (wanting.has(sensor)) of(sensor).stored++
  for (const [sensor, count] of duplicates) if (wanting.has(sensor)) of(sensor).stored += count
  for (const { sensor, reason } of refused)
    if (reason !== 'partial' && wanting.has(sensor)) of(sensor).refused++
  return settled
}

type TellerOptions = {
  readonly nc: Pick<NatsConnection, 'publish' | 'isClosed'>
  readonly state: PartitionState
  readonly wanting: ReadonlySet<string>
}

/** @returns to be called when a message is committed and folded into the state. Never waits. */
export function receiptSender({
  nc,
  state,
  wanting,
}: TellerOptions): (message: Pick<LogMessage, 'readings' | 'duplicates' | 'refused'>) => void {
  const newestOf = (sensor: string): string | null => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only looked up
    const slot = findSlot(state, sensor as SensorId)
    const newestMs = slot === -1 ? Number.NEGATIVE_INFINITY : newestMsOf(state, slot)
    return Number.isFinite(newestMs) ? formatIso(newestMs) : null
  }
  return (message) => {
    for (const [sensor, { stored, refused }] of settledBy(message, wanting)) {
      // a connection that is being closed takes nothing: the next start tells it again
      if (nc.isClosed()) return
      const receipt = { timestamp: newestOf(sensor), stored, refused }
      nc.publish(ackSubject(sensor), JSON.stringify(receipt))
    }
  }
}
