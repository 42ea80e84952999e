/** How much of what earlier versions stored has hours and days of sensors, as the statistics job records it. */
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../core/iso-time.ts'
import { dayMs } from '../core/time.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { headerKey, parseSealed } from '../schemas/anchoring/batch-record.ts'
import { buckets } from '../schemas/subjects.ts'
import { systemKeys } from '../schemas/system-keys.ts'
import { parseRollupRecord } from './rollup-progress.ts'

export type StatisticsStatus = {
  /** From then on the hours and days of sensors are written; null: all are, or none was begun. */
  readonly sensors_from: string | null
  /** UTC days before it, back to the first batch; null: nothing is left, or there is no batch yet. */
  readonly days_left: number | null
}

export async function readStatisticsStatus(nc: NatsConnection): Promise<StatisticsStatus> {
  const kvm = new Kvm(nc)
  const [system, batches] = [await kvm.open(buckets.system), await kvm.open(buckets.batches)]
  const record = parseRollupRecord(await readEntry(system, systemKeys.rollup))
  const fromMs = record?.sensorsFromMs ?? 0
  if (fromMs === 0) return { sensors_from: null, days_left: null }
  const first = parseSealed(await readEntry(batches, headerKey(1)))?.header
  const isKnown = first !== undefined && first.count > 0
  return {
    sensors_from: formatIso(fromMs),
    days_left: isKnown ? Math.max(0, Math.ceil((fromMs - first.timeMinMs) / dayMs)) : null,
  }
}

export function statisticsLines({
  sensors_from: from,
  days_left: left,
}: StatisticsStatus): readonly string[] {
  if (from === null) return []
  const rest = left === null ? '' : `, about ${left} days are left`
  return [`statistics of sensors are made for the past, and are there from ${from} on${rest}`]
}
