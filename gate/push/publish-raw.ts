/**
 * Publishes as a sensor and waits for the stream's acknowledgement. All publishes under way share
 * one inbox, so a push does not cost a subscription and a timer of its own.
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { secondMs } from '../../core/time.ts'
import type { Logger } from '../../runtime/log.ts'
import { newInbox } from '../../runtime/nats/own-inbox.ts'
import { rawStream, rawSubject } from '../../schemas/subjects.ts'
import type { InputGuard } from '../input-guard.ts'

/**
 * `full`: its stream takes no more for now; `away`: no answer, it may be stored or not;
 * `refused`: it will never be taken, because it is too long.
 */
export type PublishVerdict = 'stored' | 'full' | 'away' | 'refused'

export type RawPublisher = AsyncDisposable & {
  /**
   * Never throws. @param sender a sensor, or a gateway @param body JSON of one raw message
   * @param partition absent: the sensor's
   */
  readonly publish: (sender: string, body: string, partition?: number) => Promise<PublishVerdict>
}

type Options = {
  readonly log: Logger
  readonly guard: InputGuard
  /** Less than the 5 s that ChirpStack waits for us. */
  readonly timeoutMs?: number
}

type Pending = {
  readonly sender: string
  readonly partition: number
  readonly sentAtMs: number
  readonly resolve: (verdict: PublishVerdict) => void
}

/** A full stream refuses each message; the log need not repeat it each time. */
const loggedEveryMs = 10 * secondMs

export function openRawPublisher(
  nc: NatsConnection,
  { log, guard, timeoutMs = 3 * secondMs }: Options,
): RawPublisher {
  const inbox = newInbox(nc)
  const pending = new Map<number, Pending>()
  let count = 0
  let isConnected = true
  let quietUntilMs = 0

  const settle = (id: number, verdict: PublishVerdict): void => {
    const sent = pending.get(id)
    pending.delete(id)
    sent?.resolve(verdict)
  }
  const answer = (message: Msg): void => {
    const id = Number(message.subject.slice(inbox.length + 1))
    const sent = pending.get(id)
    if (sent === undefined) return
    const { verdict, why } = readAck(message, rawStream(sent.partition))
    settle(id, verdict)
    const nowMs = performance.now()
    if (why === undefined || nowMs < quietUntilMs) return
    quietUntilMs = nowMs + loggedEveryMs
    log.warn({ sensor: sent.sender, why }, 'a reading was not taken')
  }
  const subscription = nc.subscribe(`${inbox}.*`, {
    callback: guard.callback('publish', (_error: Error | null, message: Msg) => answer(message)),
  })
  const sweeping = setInterval(() => {
    const nowMs = performance.now()
    for (const [id, { sentAtMs }] of pending) {
      // in the order they were sent: the first that is young enough ends the loop
      if (nowMs - sentAtMs < timeoutMs) break
      settle(id, 'away')
    }
  }, timeoutMs / 10)
  void (async () => {
    for await (const { type } of nc.status()) {
      if (type === 'reconnect') isConnected = true
      if (type !== 'disconnect') continue
      isConnected = false
      for (const id of pending.keys()) settle(id, 'away')
    }
  })()

  return {
    publish(sender, body, partition = partitionOf(sender)) {
      // the client would hold it in memory, without a bound, until the server is back
      if (!isConnected || nc.isClosed()) return Promise.resolve('away')
      const id = count++
      const { promise, resolve } = Promise.withResolvers<PublishVerdict>()
      pending.set(id, { sender, partition, sentAtMs: performance.now(), resolve })
      try {
        nc.publish(rawSubject(partition, sender), body, { reply: `${inbox}.${id}` })
      } catch (error) {
        // the client sends no body beyond the server's bound, and nothing to what is not a subject
        guard.failed('publish', error, { sensor: sender, bytes: body.length })
        settle(id, nc.isClosed() ? 'away' : 'refused')
      }
      return promise
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(sweeping)
      for (const id of pending.keys()) settle(id, 'away')
      if (!nc.isClosed()) subscription.unsubscribe()
    },
  }
}

type Ack = {
  readonly stream?: string
  readonly error?: {
    readonly code: number
    readonly err_code?: number
    readonly description: string
  }
}

/** nats-server's errors.json: longer than the stream's `max_msg_size`. */
const tooLong = 10_054

function readAck(
  message: Msg,
  stream: string,
): { readonly verdict: PublishVerdict; readonly why?: string } {
  // "no responders" has no body: the server is there, its streams are not there yet
  if (message.data.length === 0) return { verdict: 'away' }
  const ack = message.json<Ack>()
  if (ack.error === undefined) {
    if (ack.stream === stream) return { verdict: 'stored' }
    return { verdict: 'away', why: `it went to ${ack.stream}, not to ${stream}` }
  }
  if (ack.error.err_code === tooLong) return { verdict: 'refused', why: ack.error.description }
  // 503 is the server's word for "not now", be it that the stream is full or has no leader
  const isFull = /maximum|insufficient|too many requests/.test(ack.error.description)
  return { verdict: isFull ? 'full' : 'away', why: ack.error.description }
}
