import { secondMs } from '../core/time.ts'
import { bytesOf, type Catalogue } from '../operate/archive/catalogue.ts'
import { Gauge, type Registry } from '../runtime/prometheus.ts'
import type { Retention } from '../schemas/retention.ts'

export type ArchiveMetrics = ReturnType<typeof archiveMetrics>

/** What an operator watches of the archive. */
export function archiveMetrics(registry: Registry) {
  const registers = [registry]
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers })
  const run = gauge('airproof_archive_run', 'Number of the last run')
  const batch = gauge('airproof_archive_batch', 'Index of the last batch in the archive')
  const bytes = gauge('airproof_archive_bytes', 'Bytes of all files of the archive')
  const until = gauge(
    'airproof_archive_complete_timestamp_seconds',
    'Everything that was accepted before this time is in the archive',
  )
  const trouble = gauge('airproof_archive_trouble', '1 while the next run cannot be made')
  const rawBefore = gauge(
    'airproof_retention_raw_before_timestamp_seconds',
    'Readings measured before this time may be in the archive only',
  )
  const hindered = gauge(
    'airproof_retention_trouble',
    '1 while nothing is deleted because the archive does not prove it',
  )
  return {
    show: (catalogue: Catalogue): void => {
      run.set(catalogue.runs.length)
      batch.set(catalogue.end.batch)
      bytes.set(bytesOf(catalogue))
      const complete = catalogue.complete_until
      if (complete !== null) until.set(Date.parse(complete) / secondMs)
      trouble.set(0)
    },
    hasTrouble: (): void => trouble.set(1),
    expired: (retention: Retention | undefined, why: string | null): void => {
      hindered.set(why === null ? 0 : 1)
      if (typeof retention?.rawBeforeMs === 'number')
        rawBefore.set(retention.rawBeforeMs / secondMs)
    },
  }
}
