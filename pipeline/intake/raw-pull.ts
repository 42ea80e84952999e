/**
 * Pulls the raw messages of one partition, from a sequence on, in order, none left out.
 *
 * The consumer is ephemeral and ack-none: our position is in the log, not on the server. It may
 * vanish with the server at any time, so whatever looks wrong (a jump in the delivery count, a
 * status that says it is gone, an empty message, silence where heartbeats are due) has one answer:
 * make another one from the next sequence we have not seen. The client's own `consume` holds no
 * back-pressure in callback mode and `fetch` makes a subscription per call, hence pulls by hand: one
 * subscription, at most `windowMessages` and `windowBytes` asked for or held.
 */
import { AckPolicy, DeliverPolicy, type JetStreamManager } from '@nats-io/jetstream'
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
import { newInbox } from '../../runtime/nats/own-inbox.ts'
import { messageAt } from '../../runtime/nats/stored-message.ts'
import { endsPull } from '../../runtime/nats/until-silent.ts'
import { againPrefix } from '../../schemas/subjects.ts'
import { batchMessages, type RawMessage } from './raw-message.ts'

export type RawPullOptions = {
  readonly nc: NatsConnection
  readonly manager: JetStreamManager
  readonly stream: string
  readonly fromSeq: number
  /** Receives each message, in order. */
  readonly onRaw: (raw: RawMessage) => void
  /** Of these, what is not in a batch yet: it bounds what is asked for. */
  readonly held: { readonly count: number; readonly bytes: number }
  /** ms, monotonic */
  readonly nowMs: () => number
  readonly onRestart: (why: string) => void
  /** Something has come, or will never come: look again. */
  readonly wake: () => void
}

type Consumer = { readonly name: string; deliveries: number }

const windowMessages = 4_000
const windowBytes = 4 * 1024 * 1024
const heartbeatMs = 500
const pullExpiresMs = 10_000
/** Silence after which the consumer is taken for dead: three heartbeats and some slack. */
const deadMs = 2_000
const idleThresholdMs = 60_000

const toNanos = (ms: number): number => ms * 1_000_000
const encoder = new TextEncoder()

export class RawPull implements AsyncDisposable {
  readonly #options: RawPullOptions
  readonly #inbox: string
  readonly #subscription: Subscription
  readonly #watchdog: NodeJS.Timeout
  /** undefined: there is none, or another one is being made. */
  #consumer: Consumer | undefined
  #isOpening = false
  #isClosed = false
  #isOlder = false
  #nextSeq: number
  #lastPulled: RawMessage | undefined
  #heardMs: number
  #pending = 0
  /** Messages asked for that have not come, and until when they may. */
  #asked = 0
  #askedUntilMs = 0

  constructor(options: RawPullOptions) {
    const { nc, nowMs, fromSeq } = options
    this.#options = options
    this.#nextSeq = fromSeq
    this.#heardMs = nowMs()
    this.#inbox = newInbox(nc)
    this.#subscription = nc.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error !== null || this.#isClosed) return
        this.#heardMs = nowMs()
        if (message.subject === this.#inbox) this.#takeStatus(message)
        else this.#takeMessage(message)
      },
    })
    this.#watchdog = setInterval(() => this.#watch(), heartbeatMs)
  }

  /** What waits on the server, as far as it has said. */
  get pending(): number {
    return this.#pending
  }

  /** The stream does not hold what was pulled of it: it gives its sequences out again. */
  get isOlder(): boolean {
    return this.#isOlder
  }

  /** When the server was last heard; undefined while it is not. */
  heardMs(): number | undefined {
    const isHearing = this.#consumer !== undefined && this.#options.nowMs() - this.#heardMs < deadMs
    return isHearing ? this.#heardMs : undefined
  }

  /** Makes a consumer from the next sequence on. */
  async open(): Promise<void> {
    const { manager, stream, nowMs, wake } = this.#options
    // a slow start must not be taken for a lost consumer by the watchdog
    this.#isOpening = true
    try {
      this.#isOlder ||= await this.#hasComeBackOlder()
      if (this.#isOlder) return wake()
      const info = await manager.consumers.add(stream, {
        ack_policy: AckPolicy.None,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: this.#nextSeq,
        inactive_threshold: toNanos(idleThresholdMs),
        mem_storage: true,
      })
      this.#consumer = { name: info.name, deliveries: 0 }
      this.#pending = info.num_pending
      this.#asked = 0
      this.#heardMs = nowMs()
      this.ask()
    } catch {
      // the server is away or still starting: the watchdog tries again
      this.#consumer = undefined
    } finally {
      this.#isOpening = false
    }
  }

  /** Asks for more if there is room for it. */
  ask(): void {
    const { nc, held, stream, nowMs } = this.#options
    if (this.#consumer === undefined || this.#isClosed) return
    const now = nowMs()
    if (this.#asked > 0 && now > this.#askedUntilMs) this.#asked = 0
    const room = windowMessages - held.count - this.#asked
    if (this.#asked > batchMessages / 2 || held.bytes >= windowBytes || room < batchMessages / 2)
      return
    const batch = Math.min(room, batchMessages)
    this.#asked += batch
    this.#askedUntilMs = now + pullExpiresMs + deadMs
    nc.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${this.#consumer.name}`,
      encoder.encode(
        JSON.stringify({
          batch,
          max_bytes: windowBytes,
          expires: toNanos(pullExpiresMs),
          idle_heartbeat: toNanos(heartbeatMs),
        }),
      ),
      { reply: this.#inbox },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#watchdog)
    this.#subscription.unsubscribe()
    if (this.#consumer === undefined) return
    // idle consumers go by themselves: a server that is away need not hear it
    await this.#forget(this.#consumer)
  }

  #takeMessage(message: Msg): void {
    const { onRaw, wake } = this.#options
    const consumer = this.#consumer
    const delivered = readDelivered(message)
    // a former consumer may still be talking
    if (delivered === undefined || consumer === undefined) return
    if (message.reply?.includes(`.${consumer.name}.`) !== true) return
    this.#asked = Math.max(0, this.#asked - 1)
    if (this.#asked === batchMessages / 2) this.ask()
    if (delivered.delivery !== consumer.deliveries + 1) return this.#restart('deliveries were lost')
    consumer.deliveries = delivered.delivery
    const { raw } = delivered
    this.#pending = delivered.pending
    this.#nextSeq = raw.seq + 1
    this.#lastPulled = raw
    onRaw(raw)
    if (endsPull(message)) {
      // sensors may send them at any rate: what each leaves on the server goes at once
      void this.#forget(consumer)
      this.#restart('an empty message ended the pull')
    }
    wake()
  }

  #takeStatus({ headers }: Msg): void {
    const code = headers?.code ?? 0
    const text = headers?.description ?? ''
    if (code === 100) return
    if (code === 404 || code === 408 || (code === 409 && !/deleted|not found/i.test(text))) {
      // the pull ended unfilled: what is left of it will never come
      const left = Number(headers?.get('Nats-Pending-Messages') || this.#asked)
      this.#asked = Math.max(0, this.#asked - left)
      this.ask()
    } else if (this.#consumer !== undefined) this.#restart(`${code} ${text}`)
    this.#options.wake()
  }

  #watch(): void {
    const now = this.#options.nowMs()
    if (this.#consumer === undefined) this.#restart('no consumer')
    else if (now - this.#heardMs > deadMs) {
      this.#heardMs = now
      this.#restart('no heartbeat')
    } else this.ask()
  }

  #restart(why: string): void {
    if (this.#isOpening || this.#isClosed || this.#isOlder) return
    this.#consumer = undefined
    this.#options.onRestart(why)
    void this.open()
  }

  /** A server that came back with an older copy would clamp our position, and say nothing. */
  async #hasComeBackOlder(): Promise<boolean> {
    const { nc, manager, stream } = this.#options
    const { state } = await manager.streams.info(stream)
    if (state.last_seq < this.#nextSeq - 1) return true
    const last = this.#lastPulled
    const stored = last && (await messageAt(nc, stream, last.seq))
    return stored !== undefined && stored.timeMs !== last?.arrivedMs
  }

  #forget({ name }: Consumer): Promise<boolean> {
    const { manager, stream } = this.#options
    return manager.consumers.delete(stream, name).catch(() => false)
  }
}

type Delivered = {
  readonly raw: RawMessage
  /** Counts the consumer's deliveries from 1: a jump means that some were lost on the way. */
  readonly delivery: number
  /** How many messages the stream holds after this one. */
  readonly pending: number
}

/**
 * Reads what JetStream says in the reply subject of a delivered message,
 * `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<tries>.<seq>.<delivery>.<ns>.<pending>[.<x>]`.
 * By position and without cutting it up: the client's own reader makes an object of ten fields a
 * message, and even the tokens would cost as much as the rest of this.
 */
export function readDelivered(
  message: Pick<Msg, 'reply' | 'subject' | 'data'>,
): Delivered | undefined {
  const { reply = '', subject, data } = message
  let tokens = 1
  for (let at = reply.indexOf('.'); at >= 0; at = reply.indexOf('.', at + 1)) tokens++
  const first = tokens === 9 ? 5 : tokens >= 11 ? 7 : -1
  if (first < 0) return undefined
  let at = 0
  for (let skipped = 0; skipped < first; skipped++) at = reply.indexOf('.', at) + 1
  const seqEnd = reply.indexOf('.', at)
  const deliveryEnd = reply.indexOf('.', seqEnd + 1)
  const nanosEnd = reply.indexOf('.', deliveryEnd + 1)
  const pendingEnd = reply.indexOf('.', nanosEnd + 1)
  return {
    raw: {
      seq: numberAt(reply, at, seqEnd),
      // nanoseconds do not fit a double: the last six digits are left out
      arrivedMs: numberAt(reply, deliveryEnd + 1, nanosEnd - 6),
      sensor: subject.slice(subject.lastIndexOf('.') + 1),
      isAgain: subject.startsWith(againPrefix),
      data,
    },
    delivery: numberAt(reply, seqEnd + 1, deliveryEnd),
    pending: numberAt(reply, nanosEnd + 1, pendingEnd < 0 ? reply.length : pendingEnd),
  }
}

/** The digits of `text` from `start` to before `end` as a number. */
function numberAt(text: string, start: number, end: number): number {
  let value = 0
  for (let i = start; i < end; i++) value = value * 10 + (text.charCodeAt(i) - zero)
  return value
}

const zero = '0'.charCodeAt(0)
