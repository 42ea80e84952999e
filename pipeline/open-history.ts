/** Readings that were let go: the archive has them, for late readings and for statistics. */
import type { NatsConnection } from '@nats-io/transport-node'
import { laterExpiredRows } from '../operate/archive/later-expired-rows.ts'
import type { Logger } from '../runtime/log.ts'
import { watchRetention } from '../runtime/nats/retention.ts'
import type { Store } from '../store/store.ts'
import { type ExpiredReadings, expiredReadings } from './projections/expired-readings.ts'

type Options = {
  readonly nc: NatsConnection
  readonly store: Store
  /** Of the archive. */
  readonly folder: string
  readonly nowMs: () => number
  readonly logger: Logger
}

export async function openHistory(
  { nc, store, folder, nowMs, logger }: Options,
  opened: AsyncDisposableStack,
): Promise<ExpiredReadings> {
  const retention = opened.use(await watchRetention(nc))
  return expiredReadings({
    store,
    rows: laterExpiredRows(folder, retention.now),
    retention,
    nowMs,
    onUnreadable: (error) =>
      logger.error({ err: error }, `hours of a late reading stay as they were: ${error.message}`),
  })
}
