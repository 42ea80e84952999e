/** How far the archive goes, as the process that archives reports it. */
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../core/iso-time.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { retentionIn } from '../runtime/nats/retention.ts'
import { type ArchiveReport, parseArchiveReport } from '../schemas/archive-report.ts'
import type { Retention } from '../schemas/retention.ts'
import { buckets } from '../schemas/subjects.ts'
import { systemKeys, tasks } from '../schemas/system-keys.ts'

export type ArchiveStatus = ArchiveReport & {
  /** What may be gone from the store and from BLOBS, as the record of retention says. */
  readonly expired: Retention
  /** The process that archives; null: none does. */
  readonly worker: string | null
}

/** @returns null: no process has ever archived */
export async function readArchiveStatus(nc: NatsConnection): Promise<ArchiveStatus | null> {
  const kvm = new Kvm(nc)
  const [system, leases] = [await kvm.open(buckets.system), await kvm.open(buckets.leases)]
  const [report, lease] = await Promise.all([
    readEntry(system, systemKeys.archive).then(parseArchiveReport),
    leases.get(tasks.archive),
  ])
  if (report === undefined) return null
  return {
    ...report,
    expired: await retentionIn(system),
    worker: lease?.operation === 'PUT' ? lease.string() : null,
  }
}

/** One line; and one more for what keeps it from going on. */
export function archiveLines(archive: ArchiveStatus | null): readonly string[] {
  if (archive === null) return []
  const { run, batch, complete_until, bytes = 0, trouble, trouble_since, worker } = archive
  const until = complete_until ? `complete up to ${complete_until}, ` : 'no day is complete yet, '
  const covered =
    run === undefined || run === 0
      ? 'nothing is archived yet'
      : `${until}batch ${batch}; ${(bytes / 1e6).toFixed(1)} MB`
  return [
    `archive    ${covered}${worker === null ? '; no process archives now' : ''}`,
    ...(trouble === null ? [] : [`ALARM      archive since ${trouble_since}: ${trouble}`]),
    ...retentionLines(archive).map((line) => `retention  ${line}`),
    ...(archive.retention?.trouble ? [`ALARM      retention: ${archive.retention.trouble}`] : []),
  ]
}

/** What is gone, and why not more; nothing where everything stays and nothing is gone. */
export function retentionLines({ expired, retention }: ArchiveStatus): readonly string[] {
  const { rawBeforeMs, blobsBeforeBatch } = expired
  const gone = [
    ...(rawBeforeMs === null ? [] : [`readings before ${formatIso(rawBeforeMs)}`]),
    ...(blobsBeforeBatch === null ? [] : [`leaves before batch ${blobsBeforeBatch}`]),
  ]
  if (retention === undefined && gone.length === 0) return []
  const { readings = 0, batches = 0, left = 0, unused_bytes: unused } = retention ?? {}
  return [
    gone.length === 0
      ? 'nothing is deleted yet'
      : `${gone.join(' and ')} are in the archive only (${readings} readings, ${batches} batches deleted)`,
    ...(retention === undefined ? ['it is switched off now: nothing more is deleted'] : []),
    ...(left > 0
      ? [`${left} older readings stay in the store: the archive has not all of them`]
      : []),
    ...(unused
      ? [`${(unused / 1e6).toFixed(1)} MB of the store's file are free for new readings`]
      : []),
    ...(retention?.waits ? [retention.waits] : []),
  ]
}
