import type { WatchedBucket } from '../../runtime/nats/watched-bucket.ts'
import { type RollUpOptions, runRollUps } from './roll-ups.ts'
import { farthest, type Positions } from './stored-positions.ts'

type Options = Omit<RollUpOptions, 'kv' | 'stored'> & {
  /** Up to where the store holds each partition, as each process has published it. */
  readonly positions: WatchedBucket<Positions>
}

const lookEveryMs = 500

/** The statistics job, while this process holds its lease. */
export class RollUpTask {
  readonly #options: Options
  #running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined

  constructor(options: Options) {
    this.#options = options
  }

  start(): void {
    const { positions, stop: stopping, ...options } = this.#options
    const stop = new AbortController()
    const done = runRollUps({
      ...options,
      kv: positions.kv,
      stored: this.#stored,
      stop: AbortSignal.any([stopping, stop.signal]),
    })
    this.#running = { stop, done }
  }

  async stop(): Promise<void> {
    this.#running?.stop.abort()
    await this.#running?.done
    this.#running = undefined
  }

  /** Resolves when the store holds everything of the partition up to `seq`, or `until` is aborted. */
  readonly #stored = async (partition: number, seq: number, until: AbortSignal): Promise<void> => {
    const { positions, pause } = this.#options
    while (!until.aborted && farthest(positions, partition) < seq) await pause(lookEveryMs)
  }
}
