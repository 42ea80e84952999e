import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Logger } from '../runtime/log.ts'
import { type LeaseEvents, type Leases, leaseRoundMs, openLeases } from '../runtime/nats/leases.ts'
import { buckets } from '../schemas/subjects.ts'
import { alivePrefixes } from '../schemas/system-keys.ts'

type Options = {
  readonly nc: NatsConnection
  /** Stable over restarts. */
  readonly holder: string
  readonly log: Logger
  readonly stop: AbortSignal
  /** The key of its lease. */
  readonly task: string
  /** Runs until the signal is aborted. */
  readonly work: (stop: AbortSignal) => Promise<void>
}

/** What of several gates only the lease holder does. */
export class SingleDuty implements AsyncDisposable {
  readonly #options: Options
  readonly #leases: Leases
  readonly #timer: NodeJS.Timeout
  #round: Promise<void>
  /** Absent while another gate does it. */
  #holding: AbortController | undefined
  #working: Promise<void> = Promise.resolve()
  #isEnding = false

  static async open(options: Options): Promise<SingleDuty> {
    const kv = await new Kvm(options.nc).open(buckets.leases)
    const { holder, log, task } = options
    return new SingleDuty(options, (events) =>
      openLeases({
        ...events,
        nc: options.nc,
        kv,
        holder,
        aliveAs: alivePrefixes.gate,
        shared: [],
        single: [task],
        onFailure: (error) => log.debug({ err: error }, 'leases: trying again'),
      }),
    )
  }

  private constructor(options: Options, open: (events: LeaseEvents) => Leases) {
    this.#options = options
    this.#leases = open({
      onHeld: () => this.#begin(),
      onRelease: () => this.#letGo(),
      onLost: () => void this.#letGo(),
    })
    this.#round = this.#leases.round()
    this.#timer = setInterval(() => {
      this.#round = this.#round.then(() => this.#leases.round())
    }, leaseRoundMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#isEnding = true
    await this.#round
    await this.#letGo()
    await this.#leases.releaseAll()
  }

  #begin(): void {
    if (this.#isEnding) return
    const { work, stop } = this.#options
    this.#holding = new AbortController()
    this.#working = work(AbortSignal.any([this.#holding.signal, stop]))
  }

  async #letGo(): Promise<void> {
    this.#holding?.abort()
    this.#holding = undefined
    await this.#working
  }
}
