import type { WatchedBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { type RollUpOptions, runRollUps } from './roll-ups.ts'
import { farthest, type Positions } from './stored-positions.ts'

type Options = Omit<RollUpOptions, 'kv' | 'stored' | 'stop'> & {
  /** Up to where the store holds each partition, as each process has published it. */
  readonly positions: WatchedBucket<Positions>
}

const lookEveryMs = 500

/** The statistics job, while this process holds its lease. */
export async function rollUpTask(
  { positions, ...options }: Options,
  stop: AbortSignal,
): Promise<void> {
  const { pause } = options
  /** Resolves when the store holds everything of the partition up to `seq`, or `until` is aborted. */
  const stored = async (partition: number, seq: number, until: AbortSignal): Promise<void> => {
    while (!until.aborted && farthest(positions, partition) < seq) await pause(lookEveryMs)
  }
  await runRollUps({ ...options, kv: positions.kv, stored, stop })
}
