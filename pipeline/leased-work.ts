/** What this process works on: partitions and jobs, as leases come and go. */
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../core/air/sensor-id.ts'
import { TryAgain } from '../runtime/exit.ts'
import type { Logger } from '../runtime/log.ts'
import { type Leases, leaseRoundMs, openLeases } from '../runtime/nats/leases.ts'
import type { Lifetime } from '../runtime/process/lifetime.ts'
import { partitionLease, partitionPrefix } from '../schemas/system-keys.ts'
import type { LeasedJob } from './leased-job.ts'
import type { Partitions } from './partitions.ts'
import type { StoreWriter } from './projections/store-writer.ts'
import { positionPublisher } from './projections/stored-positions.ts'

const partitionOfTask = (name: string): number => Number(name.slice(partitionPrefix.length))
const publishPositionsMs = 2_000

type Options = {
  readonly nc: NatsConnection
  /** Bucket `leases`. */
  readonly leaseKeys: KV
  /** Bucket `system`. */
  readonly system: KV
  /** Stable over restarts. */
  readonly holder: string
  readonly partitions: Partitions
  /** By their leases. */
  readonly jobs: ReadonlyMap<string, LeasedJob>
  readonly writer: StoreWriter
  readonly life: Lifetime
  readonly logger: Logger
}

export class LeasedWork {
  readonly #options: Options
  readonly #leases: Leases
  readonly #background: Promise<unknown>

  constructor(options: Options) {
    const { system, holder, life } = options
    this.#options = options
    this.#leases = this.#openLeases()
    const publish = positionPublisher(system, holder)
    this.#background = Promise.all([
      life.repeat(leaseRoundMs, this.#leases.round),
      life.repeat(publishPositionsMs, () => this.#publishPositions(publish)),
    ])
  }

  /** Takes no more, commits what is under way, then lets go of everything, in this order. */
  readonly letGo = async (): Promise<void> => {
    const { partitions, writer } = this.#options
    // a round of leases under way may still take a partition
    await this.#background
    await this.#stopJobs()
    await partitions.giveAll()
    await writer.drain()
    await this.#leases.releaseAll()
  }

  /** What NATS or the store did not take in time is in RAW or in the log, and waits there. */
  readonly end = async (): Promise<void> => {
    const { partitions } = this.#options
    await Promise.allSettled([this.#background])
    await Promise.allSettled([this.#stopJobs(), partitions.giveAll()])
  }

  async #stopJobs(): Promise<void> {
    await Promise.all([...this.#options.jobs.values()].map((job) => job.stop()))
  }

  #openLeases(): Leases {
    const { nc, leaseKeys, holder, partitions, jobs, life, logger } = this.#options
    return openLeases({
      nc,
      kv: leaseKeys,
      holder,
      shared: Array.from({ length: partitionCount }, (_, partition) => partitionLease(partition)),
      single: [...jobs.keys()],
      onHeld: (name) => {
        const job = jobs.get(name)
        if (job !== undefined) job.start()
        else partitions.take(partitionOfTask(name))
      },
      onRelease: (name) => jobs.get(name)?.stop() ?? partitions.give(partitionOfTask(name)),
      onLost: (name) => {
        const job = jobs.get(name)
        if (job !== undefined) void job.stop()
        else life.fail(new TryAgain(`${name} was taken by another process: starting again`))
      },
      onFailure: (error) => logger.warn({ err: error }, 'leases: trying again'),
    })
  }

  async #publishPositions(publish: ReturnType<typeof positionPublisher>): Promise<void> {
    const { partitions, writer, logger } = this.#options
    const positions = partitions.numbers().map((p) => [p, writer.position(p)] as const)
    await publish(Object.fromEntries(positions)).catch((error: unknown) =>
      logger.debug({ err: error }, 'positions were not published'),
    )
  }
}
