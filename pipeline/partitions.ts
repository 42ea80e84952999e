/** The partitions this process works on, as the leases come and go. */
import type { Logger } from '../runtime/log.ts'
import { isServerAway } from '../runtime/server-away.ts'
import type { RefusedRow } from '../store/store.ts'
import type { PartitionContext } from './partition-context.ts'
import { type PartitionWorker, type Position, startPartition } from './partition-worker.ts'

const retryMs = 500

export type Partitions = {
  readonly take: (partition: number) => void
  readonly give: (partition: number) => Promise<void>
  readonly giveAll: () => Promise<void>
  readonly rememberRefused: (partition: number, refused: readonly RefusedRow[]) => void
  /** @throws Error if none was taken, or one that was is not at work yet */
  readonly assertWorking: () => void
  readonly numbers: () => readonly number[]
  readonly positions: () => readonly Position[]
}

export function createPartitions(context: PartitionContext, logger: Logger): Partitions {
  const starting = new Map<number, Promise<PartitionWorker>>()
  const working = new Map<number, PartitionWorker>()

  /** The process does not end because the server is away or slow, but does if the log has a gap. */
  const untilStarted = async (partition: number): Promise<PartitionWorker> => {
    for (;;) {
      try {
        return await startPartition(context, partition)
      } catch (error) {
        if (!isServerAway(error) || context.log.stop.aborted) throw error
        logger.warn({ err: error, partition }, 'partition not started: trying again')
        await context.log.pause(retryMs)
      }
    }
  }

  const give = async (partition: number): Promise<void> => {
    const start = starting.get(partition)
    if (start === undefined) return
    starting.delete(partition)
    const worker = await start.catch(() => undefined)
    working.delete(partition)
    try {
      await worker?.stop()
    } catch (error) {
      // it had failed before, and the process is ending for it
      context.onFatal(error)
    }
    logger.debug({ partition }, 'partition given free')
  }

  return {
    take: (partition) => {
      // a lease lost and got back within a round: the worker never stopped, and must not be forgotten
      if (starting.has(partition)) return
      const start = untilStarted(partition)
      starting.set(partition, start)
      start.then((worker) => {
        working.set(partition, worker)
        logger.debug({ partition }, 'partition at work')
      }, context.onFatal)
    },
    give,
    giveAll: async () => {
      await Promise.all([...starting.keys()].map(give))
    },
    // rows after the snapshot are written, and may be refused, before the worker has started
    rememberRefused: (partition, refused) =>
      void starting.get(partition)?.then(
        (worker) => worker.rememberRefused(refused),
        () => undefined,
      ),
    assertWorking: () => {
      if (starting.size === 0 || starting.size !== working.size)
        throw new Error('not all partitions of this process are at work yet')
    },
    numbers: () => [...working.keys()],
    positions: () => [...working.values()].map((worker) => worker.at()),
  }
}
