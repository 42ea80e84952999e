import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../../core/iso-time.ts'
import type { Logger } from '../log.ts'
import { type Leases, leaseRoundMs, openLeases } from '../nats/leases.ts'
import { inTime, type Lifetime } from './lifetime.ts'

/** What was started, while it runs. */
export type Work = { readonly stop: () => Promise<void> }

type Options = {
  readonly start: () => Work
  /** The lease's key. */
  readonly task: string
  /** The prefix of the keys of live processes; the value is when the process started, ISO. */
  readonly aliveAs: string
  readonly nc: NatsConnection
  /** Bucket `leases`. */
  readonly leaseKeys: KV
  /** Stable over restarts. */
  readonly holder: string
  readonly life: Pick<Lifetime, 'repeat'>
  readonly log: Logger
  /** What a round that failed is logged as: by default a warning. */
  readonly failureLevel?: 'warn' | 'debug'
}

/** What one process does at a time, while it holds the lease; the others stand by. */
export class LeasedTask {
  readonly #leases: Leases
  readonly #leasing: Promise<void>
  #work: Work | undefined
  /** All that was stopped has ended. */
  #ended: Promise<unknown> = Promise.resolve()

  constructor({ start, task, aliveAs, nc, leaseKeys, holder, life, log, ...more }: Options) {
    const { failureLevel = 'warn' } = more
    this.#leases = openLeases({
      nc,
      kv: leaseKeys,
      holder,
      shared: [],
      single: [task],
      aliveAs,
      aliveValue: formatIso(Date.now()),
      onHeld: () => {
        this.#work = start()
      },
      onRelease: () => this.#end(),
      onLost: () => void this.#end(),
      onFailure: (error) => log[failureLevel]({ err: error }, 'leases: trying again'),
    })
    this.#leasing = life.repeat(leaseRoundMs, this.#leases.round)
  }

  /** Gives the lease free as soon as what is under way has ended. */
  readonly end = async (): Promise<void> => {
    await this.#leasing
    await inTime(this.#end().then(this.#leases.releaseAll))
  }

  async #end(): Promise<void> {
    const work = this.#work
    // the lease may be held again before it has stopped
    this.#work = undefined
    this.#ended = Promise.all([this.#ended, work?.stop()])
    await this.#ended
  }
}
