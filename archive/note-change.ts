/** Retention is a setting, not a command: a change of it is written into the operators' log by the process that obeys it. */
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../core/iso-time.ts'
import { operatorHere, writeOperatorEntry } from '../operate/operator-log.ts'
import { inWords } from '../runtime/exit.ts'
import type { Logger } from '../runtime/log.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { parseArchiveReport } from '../schemas/archive-report.ts'
import { systemKeys } from '../schemas/system-keys.ts'
import type { ArchiveConfig } from './config.ts'

type Options = Pick<ArchiveConfig, 'rawDays' | 'blobDays'> & {
  /** Bucket `system`. */
  readonly system: KV
  readonly nowMs: () => number
  readonly log: Logger
}

/**
 * Before this process reports its own settings: what the one before it obeyed is in that report. Killed
 * between the two, the change is in the log twice.
 */
export async function noteChange(
  nc: NatsConnection,
  { rawDays, blobDays, system, nowMs, log }: Options,
  stop: AbortSignal,
): Promise<void> {
  const former = parseArchiveReport(await readEntry(system, systemKeys.archive, null))?.retention
  const [raw, blob] = [former?.raw_days ?? null, former?.blob_days ?? null]
  const days = { raw_days: rawDays ?? null, blob_days: blobDays ?? null }
  if (days.raw_days === raw && days.blob_days === blob) return
  const entry = {
    at: formatIso(nowMs()),
    who: operatorHere(),
    what: 'retention',
    details: { ...days, former_raw_days: raw, former_blob_days: blob },
  }
  try {
    await writeOperatorEntry(nc, entry, stop)
  } catch (error) {
    // an older users.conf does not allow it: what the operator wants is done all the same
    log.warn({ entry }, `the change of retention is not in \`audit-log\`: ${inWords(error)}`)
  }
}
