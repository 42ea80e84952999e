/** The shards this process owns, as leases are taken and lost. */
import type { Logger } from '../runtime/log.ts'
import { isServerAway } from '../runtime/server-away.ts'
import { type Shard, startShard } from './shard.ts'
import type { ShardContext } from './shard-work.ts'

const retryMs = 500

export type Shards = {
  readonly take: (shard: number) => void
  readonly give: (shard: number) => Promise<void>
  readonly giveAll: () => Promise<void>
  /** @throws Error if a shard that was taken is not at work yet */
  readonly assertWorking: () => void
  readonly all: () => readonly Shard[]
}

export function createShards(context: ShardContext, logger: Logger): Shards {
  const starting = new Map<number, Promise<Shard>>()
  const working = new Map<number, Shard>()

  /** A server that is away or slow is not a reason to exit; a log with a gap is. */
  const untilStarted = async (shard: number): Promise<Shard> => {
    for (;;) {
      try {
        return await startShard(context, shard)
      } catch (error) {
        if (!isServerAway(error) || context.stop.aborted) throw error
        logger.warn({ err: error, shard }, 'shard not started: trying again')
        await context.pause(retryMs)
      }
    }
  }

  const give = async (shard: number): Promise<void> => {
    const start = starting.get(shard)
    if (start === undefined) return
    starting.delete(shard)
    const owner = await start.catch(() => undefined)
    working.delete(shard)
    await owner?.stop()
    logger.debug({ shard }, 'shard released')
  }

  return {
    take: (shard) => {
      const start = untilStarted(shard)
      starting.set(shard, start)
      start.then((owner) => {
        working.set(shard, owner)
        context.onNeeds()
        logger.debug({ shard }, 'shard at work')
      }, context.onFatal)
    },
    give,
    giveAll: async () => {
      await Promise.all([...starting.keys()].map(give))
    },
    assertWorking: () => {
      if (starting.size !== working.size)
        throw new Error('not all shards of this process are at work yet')
    },
    all: () => [...working.values()],
  }
}
