import { nOfSeq } from '../../core/air/reading.ts'
import { rejectedSubject } from '../../schemas/subjects.ts'
import type { RefusedRow } from '../../store/store.ts'
import type { Log } from '../log/commit.ts'
import { keepRejected } from './keep-rejected.ts'

const longestWhy = 500
const encoder = new TextEncoder()

/** Lists the rows that the store will never take: they stay accepted, and a person should look. */
export async function listRefusedRows(
  log: Log,
  partition: number,
  refused: readonly RefusedRow[],
): Promise<void> {
  for (const { row, why } of refused) {
    const subject = rejectedSubject('store_refused', partition, nOfSeq(row.seq), 0, row.sensor)
    const bytes = encoder.encode(JSON.stringify(row))
    try {
      await keepRejected(log, subject, { bytes, sensor: row.sensor, why: why.slice(0, longestWhy) })
    } catch (error) {
      // stopped before NATS took it: the row is refused, and listed, again at the next start
      if (log.stop.aborted) return
      throw error
    }
  }
}
