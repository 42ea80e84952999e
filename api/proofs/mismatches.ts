import { Counter, type Registry } from 'prom-client'
import type { Reading } from '../../core/air/reading.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { BatchIndex } from '../../operate/proofs/batch-index.ts'
import type { MismatchWhy, Verdict } from '../../operate/proofs/prove-reading.ts'
import type { Logger } from '../../runtime/log.ts'
import { gaugeIn } from '../../runtime/metrics.ts'

export type Mismatches = {
  /** A row that is not what was anchored: a person must look at the database. */
  readonly report: (reading: Reading, verdict: Extract<Verdict, { status: 'mismatch' }>) => void
}

/** The alarm: a counter in the metrics, and a line of the log for each. */
export function countMismatches({
  registry,
  index,
  log,
}: {
  readonly registry: Registry
  readonly index: Pick<BatchIndex, 'faults'>
  readonly log: Pick<Logger, 'error'>
}): Mismatches {
  const counter = new Counter({
    name: 'airproof_api_mismatch_total',
    help: 'Readings asked for that are not what was anchored, by reason',
    labelNames: ['reason'],
    registers: [registry],
  })
  const reasons: readonly MismatchWhy[] = ['no_batch', 'not_in_log', 'header', 'leaf', 'blob']
  for (const reason of reasons) counter.inc({ reason }, 0)
  gaugeIn(registry)(
    'airproof_api_altered_batches',
    'Batches whose records do not fit themselves or their neighbours',
    () => index.faults(),
  )
  return {
    report: ({ sensor, timeMs, seq }, { why, index: batch, hash }) => {
      counter.inc({ reason: why })
      const where = { sensor, timestamp: formatIso(timeMs), seq, batch, hash }
      log.error({ reason: why, ...where }, 'a stored reading is not what was anchored')
    },
  }
}
