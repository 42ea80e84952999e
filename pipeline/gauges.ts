/**
 * How far the partitions of this process are behind: what arrived and is not judged, what is
 * committed and not stored. NATS is asked every few seconds and never by a scrape, so that a scrape
 * costs nothing and answers while NATS does not: the numbers are then those of the last look, and
 * ages go on.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../core/time.ts'
import { type Unstored, unstoredOf } from '../operate/unstored.ts'
import type { Logger } from '../runtime/log.ts'
import { gaugeIn } from '../runtime/metrics.ts'
import { serversAway } from '../runtime/nats/streams/servers-away.ts'
import type { Lifetime } from '../runtime/process/lifetime.ts'
import { Gauge, type Registry } from '../runtime/prometheus.ts'
import { rawStream } from '../schemas/subjects.ts'
import type { Partitions } from './partitions.ts'
import type { StoreWriter } from './projections/store-writer.ts'

type Behind = Unstored & {
  readonly partition: number
  readonly unjudged: number
  /** Servers that have a copy of what arrived there, and are away. */
  readonly away: readonly string[]
}

type Watched = {
  readonly partitions: Pick<Partitions, 'positions'>
  readonly writer: Pick<StoreWriter, 'waitingRows' | 'position'>
  readonly behind: () => readonly Behind[]
  readonly nowMs: () => number
}

const lookEveryMs = 5 * secondMs

export function openGauges(registry: Registry, { partitions, writer, behind, nowMs }: Watched) {
  const gauge = gaugeIn(registry)
  gauge('airproof_store_waiting_rows', 'Rows committed and not yet stored', writer.waitingRows)
  gauge('airproof_late_waiting', 'Deferred readings in memory', () =>
    partitions.positions().reduce((sum, { late }) => sum + late, 0),
  )
  const byPartition = (name: string, help: string, read: (one: Behind) => number): void =>
    void new Gauge({
      name,
      help,
      labelNames: ['partition'],
      registers: [registry],
      collect() {
        // a partition that another process works on now is in its metrics
        this.reset()
        for (const one of behind()) this.set({ partition: one.partition }, read(one))
      },
    })
  gauge(
    'airproof_nats_servers_away',
    'Servers of the cluster that are away, of those with a copy of RAW, as of up to 5 s ago',
    () => new Set(behind().flatMap(({ away }) => away)).size,
  )
  byPartition(
    'airproof_unjudged_messages',
    'Raw messages that arrived and are not judged yet, as of up to 5 s ago',
    ({ unjudged }) => unjudged,
  )
  byPartition(
    'airproof_store_lag_readings',
    'Readings that are committed and not in the store, as of up to 5 s ago',
    ({ readings }) => readings,
  )
  byPartition(
    'airproof_store_lag_seconds',
    'How long ago the first of them was committed; 0: there is none',
    ({ sinceMs }) => (sinceMs === undefined ? 0 : Math.max(0, nowMs() - sinceMs) / secondMs),
  )
}

type Looking = Omit<Watched, 'behind' | 'nowMs'> & {
  readonly nc: NatsConnection
  readonly life: Pick<Lifetime, 'repeat'>
  readonly logger: Pick<Logger, 'debug'>
}

/** Looks until the process stops. @returns what it saw last */
export function watchBehind(options: Looking): () => readonly Behind[] {
  const { nc, partitions, writer, life, logger } = options
  let seen: readonly Behind[] = []
  const look = async (): Promise<void> => {
    const manager = await jetstreamManager(nc, { checkAPI: false })
    seen = await Promise.all(
      partitions.positions().map(async ({ partition, rawLast, lastSeq, n }) => {
        const { state, cluster } = await manager.streams.info(rawStream(partition))
        const place = { partition, lastSeq, n, storedSeq: writer.position(partition) }
        const unjudged = Math.max(0, state.last_seq - rawLast)
        return { partition, unjudged, away: serversAway(cluster), ...(await unstoredOf(nc, place)) }
      }),
    )
  }
  const onFailure = (error: unknown): void =>
    logger.debug({ err: error }, 'how far the partitions are behind is looked up later')
  void life.repeat(lookEveryMs, () => look().catch(onFailure))
  return () => seen
}
