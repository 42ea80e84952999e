import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../core/iso-time.ts'
import type { Logger } from '../runtime/log.ts'
import { type Leases, leaseRoundMs, openLeases } from '../runtime/nats/leases.ts'
import { inTime, type Lifetime } from '../runtime/process/lifetime.ts'
import { alivePrefixes, tasks } from '../schemas/system-keys.ts'
import type { Anchoring } from './anchoring.ts'

type Options = {
  readonly start: () => Anchoring
  readonly nc: NatsConnection
  /** Bucket `leases`. */
  readonly leaseKeys: KV
  /** Stable over restarts. */
  readonly holder: string
  readonly life: Lifetime
  readonly log: Logger
}

/** Anchors while this process holds the lease; the others stand by. Two at once do no harm. */
export class AnchoringTask {
  readonly #leases: Leases
  readonly #leasing: Promise<void>
  #anchoring: Anchoring | undefined

  constructor({ start, nc, leaseKeys, holder, life, log }: Options) {
    this.#leases = openLeases({
      nc,
      kv: leaseKeys,
      holder,
      shared: [],
      single: [tasks.anchor],
      // the pipelines count who is alive among themselves
      aliveAs: alivePrefixes.anchor,
      aliveValue: formatIso(Date.now()),
      onHeld: () => {
        this.#anchoring = start()
      },
      onRelease: () => this.#end(),
      onLost: () => void this.#end(),
      onFailure: (error) => log.warn({ err: error }, 'leases: trying again'),
    })
    this.#leasing = life.repeat(leaseRoundMs, this.#leases.round)
  }

  /** Gives the lease free as soon as what is under way has ended. */
  readonly end = async (): Promise<void> => {
    await this.#leasing
    await inTime(this.#end().then(this.#leases.releaseAll))
  }

  async #end(): Promise<void> {
    await this.#anchoring?.stop()
    this.#anchoring = undefined
  }
}
