import type { Logger } from '../runtime/log.ts'
import type { Store } from '../store/store.ts'
import { listRefusedRows } from './copies/refused-rows.ts'
import type { Log } from './log/commit.ts'
import type { PipelineMetrics } from './metrics.ts'
import type { Partitions } from './partitions.ts'
import { type StoreWriter, startStoreWriter } from './projections/store-writer.ts'
import type { ReadRows } from './read-rows.ts'

type Options = {
  readonly store: Store
  readonly readRows: ReadRows
  readonly log: Log
  readonly logger: Logger
  readonly metrics: PipelineMetrics
  /** Opened after it. */
  readonly partitions: () => Pick<Partitions, 'rememberRefused'>
}

/** The store writer; what the store refuses is counted, remembered and listed. */
export const openWriter = (options: Options): StoreWriter => {
  const { store, readRows, log, logger, metrics, partitions } = options
  return startStoreWriter({
    store,
    readRows,
    onRefused: async (partition, refused) => {
      metrics.storeRefused.inc(refused.length)
      const rows = { partition, rows: refused.length, why: refused[0]?.why }
      logger.error(rows, 'the store refused rows')
      partitions().rememberRefused(partition, refused)
      await listRefusedRows(log, partition, refused)
    },
    onFailure: (error) => {
      metrics.storeFailures.inc()
      logger.warn({ err: error }, 'the store is away: rows wait')
    },
    onWritten: (rows) => metrics.storeRows.inc(rows),
    pause: log.pause,
    stop: log.stop,
    ...store.writing,
  })
}
