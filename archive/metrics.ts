import { Gauge, type Registry } from 'prom-client'
import { secondMs } from '../core/time.ts'
import type { Catalogue } from '../operate/archive/catalogue.ts'
import { filesOf } from '../operate/archive/catalogue.ts'

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
  return {
    tell: (catalogue: Catalogue): void => {
      run.set(catalogue.runs.length)
      batch.set(catalogue.end.batch)
      bytes.set(filesOf(catalogue).reduce((sum, file) => sum + file.bytes, 0))
      const complete = catalogue.complete_until
      if (complete !== null) until.set(Date.parse(complete) / secondMs)
      trouble.set(0)
    },
    hasTrouble: (): void => trouble.set(1),
  }
}
