/**
 * Publishes into streams, each message acknowledged by the server. The client's own `js.publish` makes for
 * each a timer, a race of two promises and, once it is answered, an error with a stack that nothing reads;
 * here one inbox, one map and one timer serve all. What is published in one turn of the event loop is
 * written to the socket at once, so that the server reads, answers and wakes once for all of it.
 */
import { type ApiError, JetStreamApiError } from '@nats-io/jetstream'
import {
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  NoRespondersError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node'
import { newInbox } from './own-inbox.ts'

/** Names and values in printable ASCII. */
export type Header = Readonly<Record<string, string | number>>

export type Publisher = {
  /**
   * Durable when resolved. @returns the sequence of the message in its stream
   * @throws JetStreamApiError the server refuses it
   * @throws TimeoutError, NoRespondersError, RequestError (see `isServerAway`): it may be stored or not
   */
  readonly publish: (subject: string, body: Uint8Array, header: Header) => Promise<number>
}

type Waiting = {
  readonly subject: string
  readonly body: Uint8Array
  readonly header: Header
  readonly untilMs: number
  readonly resolve: (seq: number) => void
  readonly reject: (error: Error) => void
}

/** As long as the connection lives. @param timeoutMs for each acknowledgement */
export function openPublisher(nc: NatsConnection, timeoutMs: number): Publisher {
  const inbox = newInbox(nc)
  /** By token, in the order in which they time out. */
  const waiting = new Map<string, Waiting>()
  let unsent: string[] = []
  let lastToken = 0
  let watch: NodeJS.Timeout | undefined

  const take = (token: string): Waiting | undefined => {
    const one = waiting.get(token)
    waiting.delete(token)
    return one
  }
  nc.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (error !== null) return
      const one = take(message.subject.slice(inbox.length + 1))
      if (one === undefined) return
      const seq = ackOf(message, one.subject)
      if (typeof seq === 'number') one.resolve(seq)
      else one.reject(seq)
    },
  })
  void nc.closed().then(() => {
    for (const token of waiting.keys())
      take(token)?.reject(new RequestError('the connection is closed'))
  })

  /** The oldest times out first: one timer is enough. */
  const expire = (): void => {
    watch = undefined
    const nowMs = performance.now()
    for (const [token, { untilMs, reject }] of waiting) {
      if (untilMs > nowMs) return armFor(untilMs - nowMs)
      waiting.delete(token)
      reject(new TimeoutError())
    }
  }
  const armFor = (ms: number): void => {
    watch ??= setTimeout(expire, ms).unref()
  }

  const send = (): void => {
    const tokens = unsent
    unsent = []
    for (const token of tokens) {
      const one = waiting.get(token)
      if (one === undefined) continue
      const { subject, body, header } = one
      try {
        nc.publish(subject, body, { reply: `${inbox}.${token}`, headers: headersOf(header) })
      } catch (error) {
        take(token)?.reject(error instanceof Error ? error : new Error(String(error)))
      }
    }
  }

  return {
    publish: (subject, body, header) =>
      new Promise((resolve, reject) => {
        if (nc.isClosed()) return reject(new RequestError('the connection is closed'))
        const token = (++lastToken).toString(36)
        const untilMs = performance.now() + timeoutMs
        waiting.set(token, { subject, body, header, untilMs, resolve, reject })
        armFor(timeoutMs)
        if (unsent.push(token) === 1) setImmediate(send)
      }),
  }
}

type Ack = { readonly error?: ApiError; readonly seq?: number }

/** The sequence of the message, or why the server did not take it. */
function ackOf(message: Msg, subject: string): number | Error {
  if (message.data.length === 0) return new NoRespondersError(subject)
  const { error, seq } = message.json<Ack>()
  if (error !== undefined) return new JetStreamApiError(error)
  return seq ?? new RequestError(`${subject}: the acknowledgement names no sequence`)
}

const encoder = new TextEncoder()
/** The client's own headers check and copy each name and value: a quarter of what a commit cost. */
function headersOf(header: Header): MsgHdrs {
  let text = 'NATS/1.0\r\n'
  for (const name in header) text += `${name}: ${header[name]}\r\n`
  const bytes = encoder.encode(`${text}\r\n`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client only encodes what it sends
  return { encode: () => bytes } as unknown as MsgHdrs
}
