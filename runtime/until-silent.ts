import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import type { MsgHdrs } from '@nats-io/transport-node'

/**
 * How a consumer is asked whose server should never be silent: twice a second it says that it is
 * there. By its own measure the client takes a consumer that went with its server for dead only
 * after a minute, and for so long whoever follows it would show the past.
 */
export const audibly = { expires: 5_000, idle_heartbeat: 500 } as const
const silentMs = 5_000

/**
 * Whether a pull ends with this message. Each process pulls from an account of its own, and for the
 * server an answer from one account to another is over with an empty message: what the consumer
 * delivers after it never arrives. A sensor may send one, so it is looked for, and the next consumer
 * is opened at once.
 */
export const endsPull = (message: {
  readonly data: Uint8Array
  readonly headers?: MsgHdrs | undefined
}): boolean => message.data.length === 0 && message.headers === undefined

/**
 * The messages of a consumer that was asked `audibly`. Ends after a message that ends a pull, and
 * when the next one is waited for and nothing has come for 5 s, heartbeats included: after some ends
 * of a server the client's ordered consumer never pulls again and says nothing. The reader then
 * opens the next one.
 */
export async function* untilSilent(messages: ConsumerMessages): AsyncGenerator<JsMsg> {
  let heardMs = performance.now()
  let isWaiting = true
  void (async () => {
    for await (const { type } of messages.status())
      if (type === 'heartbeat') heardMs = performance.now()
  })()
  const watch = setInterval(() => {
    if (isWaiting && performance.now() - heardMs > silentMs) void messages.close()
  }, audibly.idle_heartbeat)
  try {
    for await (const message of messages) {
      isWaiting = false
      yield message
      if (endsPull(message)) return
      // whoever took it may have been busy for long
      heardMs = performance.now()
      isWaiting = true
    }
  } finally {
    clearInterval(watch)
  }
}
