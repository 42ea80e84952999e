/**
 * Pulls the raw messages of one partition, from a sequence on, in order, none left out.
 *
 * The consumer is ephemeral and ack-none: our position is in the log, not on the server. It may
 * vanish with the server at any time, so whatever looks wrong (a jump in the delivery count, a
 * status that says it is gone, an empty message, silence where heartbeats are due) has one answer: make another one
 * from the next sequence we have not seen. The client's own `consume` holds no back-pressure in
 * callback mode and `fetch` makes a subscription a call, hence pulls by hand: one subscription, at
 * most `windowMessages` and `windowBytes` asked for or held.
 */
import { AckPolicy, DeliverPolicy, jetstreamManager } from '@nats-io/jetstream'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { TryAgain } from '../runtime/exit.ts'
import { newInbox } from '../runtime/nats/own-inbox.ts'
import { messageAt } from '../runtime/nats/stored-message.ts'
import { endsPull } from '../runtime/nats/until-silent.ts'
import { rawStream } from '../schemas/subjects.ts'
import { type RawMessage, readDelivered } from './raw-message.ts'

export type RawBatch = readonly RawMessage[]

export type RawSource = AsyncDisposable & {
  /**
   * The next messages: waits for one, then takes what is there until the batch is full or nothing
   * more waits on the server, and the last one is a little while ago. undefined after dispose.
   * @throws TryAgain when the stream has come back older; what was pulled of it before is taken first
   */
  readonly next: () => Promise<RawBatch | undefined>
  /** When everything the stream held had last been taken by `next`; a heartbeat ago at most, if that is so. */
  readonly lastAtEndMs: () => number
}

type Options = {
  readonly partition: number
  readonly fromSeq: number
  /** ms, monotonic */
  readonly nowMs: () => number
  readonly onRestart?: (why: string) => void
}

const windowMessages = 4_000
const windowBytes = 4 * 1024 * 1024
const batchMessages = 2_000
const batchBytes = 1024 * 1024
const heartbeatMs = 500
const pullExpiresMs = 10_000
/** Silence after which the consumer is taken for dead: three heartbeats and some slack. */
const deadMs = 2_000
/** Longest wait for messages that the server says it holds: it may be slow and say nothing. */
const lingerMs = 20
/**
 * Batches that are not full are at least so far apart. A commit costs the same for one reading as
 * for a hundred, so at a few thousand readings a second the server would do nothing but commit;
 * the first reading after a pause still goes at once.
 */
const spacingMs = 14
const idleThresholdMs = 60_000
/** A request in flight when the server dies is lost, and nothing goes on until it is given up. */
const requestTimeoutMs = 1_500

const toNanos = (ms: number): number => ms * 1_000_000
const encoder = new TextEncoder()

export async function openRawSource(nc: NatsConnection, options: Options): Promise<RawSource> {
  const { partition, nowMs, onRestart = () => undefined } = options
  const stream = rawStream(partition)
  const manager = await jetstreamManager(nc, { timeout: requestTimeoutMs })

  let nextSeq = options.fromSeq
  let held: RawMessage[] = []
  let heldBytes = 0
  let pendingOnServer = 0
  let asked = 0
  let askedUntilMs = 0
  let lastHeardMs = nowMs()
  let consumer: { readonly name: string; deliveries: number } | undefined
  let isRestarting = false
  let atEndMs = -Infinity
  let lastCutMs = -Infinity
  let isClosed = false
  /** The stream does not hold what we have pulled: it gives its sequences out again. */
  let isOlder = false
  let lastPulled: RawMessage | undefined
  let wake: () => void = () => undefined

  const inbox = newInbox(nc)
  const subscription = nc.subscribe(inbox, {
    callback: (error, message) => {
      if (error !== null || isClosed) return
      lastHeardMs = nowMs()
      if (message.subject === inbox) takeStatus(message)
      else takeMessage(message)
    },
  })

  const takeMessage = (message: Msg): void => {
    const delivered = readDelivered(message)
    // a former consumer may still be talking
    if (delivered === undefined || consumer === undefined) return
    if (message.reply?.includes(`.${consumer.name}.`) !== true) return
    asked = Math.max(0, asked - 1)
    if (asked === batchMessages / 2) ask()
    if (delivered.delivery !== consumer.deliveries + 1) return restart('deliveries were lost')
    consumer.deliveries = delivered.delivery
    const { raw } = delivered
    pendingOnServer = delivered.pending
    nextSeq = raw.seq + 1
    lastPulled = raw
    held.push(raw)
    heldBytes += raw.data.length
    if (endsPull(message)) {
      // sensors may send them at any rate: what each leaves on the server goes at once
      void manager.consumers.delete(stream, consumer.name).catch(() => false)
      restart('an empty message ended the pull')
    }
    wake()
  }

  const takeStatus = (message: Msg): void => {
    const code = message.headers?.code ?? 0
    const text = message.headers?.description ?? ''
    if (code === 100) return
    if (code === 404 || code === 408 || (code === 409 && !/deleted|not found/i.test(text))) {
      // the pull ended unfilled: what is left of it will never come
      asked = Math.max(0, asked - Number(message.headers?.get('Nats-Pending-Messages') || asked))
      ask()
    } else if (consumer !== undefined) restart(`${code} ${text}`)
    wake()
  }

  const ask = (): void => {
    if (consumer === undefined || isClosed) return
    const now = nowMs()
    if (asked > 0 && now > askedUntilMs) asked = 0
    const room = windowMessages - held.length - asked
    if (asked > batchMessages / 2 || heldBytes >= windowBytes || room < batchMessages / 2) return
    const batch = Math.min(room, batchMessages)
    asked += batch
    askedUntilMs = now + pullExpiresMs + deadMs
    nc.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer.name}`,
      encoder.encode(
        JSON.stringify({
          batch,
          max_bytes: windowBytes,
          expires: toNanos(pullExpiresMs),
          idle_heartbeat: toNanos(heartbeatMs),
        }),
      ),
      { reply: inbox },
    )
  }

  const restart = (why: string): void => {
    if (isRestarting || isClosed || isOlder) return
    isRestarting = true
    consumer = undefined
    onRestart(why)
    void openConsumer()
  }

  /** A server that came back with an older copy would clamp our position, and say nothing. */
  const hasComeBackOlder = async (): Promise<boolean> => {
    const { state } = await manager.streams.info(stream)
    if (state.last_seq < nextSeq - 1) return true
    const stored = lastPulled && (await messageAt(nc, stream, lastPulled.seq))
    return stored !== undefined && stored.timeMs !== lastPulled?.arrivedMs
  }

  const openConsumer = async (): Promise<void> => {
    try {
      isOlder ||= await hasComeBackOlder()
      if (isOlder) return wake()
      const info = await manager.consumers.add(stream, {
        ack_policy: AckPolicy.None,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: nextSeq,
        inactive_threshold: toNanos(idleThresholdMs),
        mem_storage: true,
      })
      consumer = { name: info.name, deliveries: 0 }
      pendingOnServer = info.num_pending
      asked = 0
      lastHeardMs = nowMs()
      ask()
    } catch {
      // the server is away or still starting: the watchdog tries again
      consumer = undefined
    } finally {
      isRestarting = false
    }
  }

  const watchdog = setInterval(() => {
    if (consumer === undefined) restart('no consumer')
    else if (nowMs() - lastHeardMs > deadMs) {
      lastHeardMs = nowMs()
      restart('no heartbeat')
    } else ask()
  }, heartbeatMs)

  await openConsumer()

  const woken = (timeoutMs?: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const isFull = (): boolean => held.length >= batchMessages || heldBytes >= batchBytes

  const cut = (): RawBatch => {
    lastCutMs = nowMs()
    let bytes = 0
    let count = 0
    for (const { data } of held) {
      if (count === batchMessages || (count > 0 && bytes + data.length > batchBytes)) break
      bytes += data.length
      count++
    }
    const batch = held.slice(0, count)
    held = held.slice(count)
    heldBytes -= bytes
    if (held.length === 0 && pendingOnServer === 0) atEndMs = nowMs()
    ask()
    return batch
  }

  return {
    next: async () => {
      while (held.length === 0 && !isClosed && !isOlder) await woken()
      if (held.length === 0 && isOlder && !isClosed)
        throw new TryAgain(
          `${stream} has come back older than what was judged of it: starting again from the log`,
        )
      const fromMs = lastCutMs + spacingMs
      while (!isFull() && nowMs() < fromMs && !isClosed) await woken(fromMs - nowMs())
      const untilMs = nowMs() + lingerMs
      while (!isFull() && pendingOnServer > 0 && nowMs() < untilMs && !isClosed) {
        ask()
        await woken(untilMs - nowMs())
      }
      return isClosed ? undefined : cut()
    },
    lastAtEndMs: () => {
      const isHearing = consumer !== undefined && nowMs() - lastHeardMs < deadMs
      // no later than the server was heard: what it holds since then nobody can know
      if (isHearing && held.length === 0 && pendingOnServer === 0) {
        atEndMs = Math.max(atEndMs, lastHeardMs)
      }
      return atEndMs
    },
    [Symbol.asyncDispose]: async () => {
      isClosed = true
      clearInterval(watchdog)
      subscription.unsubscribe()
      wake()
      if (consumer === undefined) return
      // idle consumers go by themselves: a server that is away need not hear it
      await manager.consumers.delete(stream, consumer.name).catch(() => false)
    },
  }
}
