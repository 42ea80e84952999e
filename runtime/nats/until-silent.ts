import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import type { MsgHdrs } from '@nats-io/transport-node'

type Pulled = { readonly data: Uint8Array; readonly headers?: MsgHdrs | undefined }

/**
 * After such a message nothing more of a pull comes. Each process is in an account of its own, and of
 * an answer from another account the server takes what has neither body nor headers for its end.
 */
export const endsPull = ({ data, headers }: Pulled): boolean =>
  data.length === 0 && headers === undefined

/**
 * How a consumer is asked whose server should never be silent: twice a second it says that it is
 * there. By its own measure the client takes a consumer that went with its server for dead only
 * after a minute, and for so long whoever follows it would show the past.
 */
export const audibly = { expires: 5_000, idle_heartbeat: 500 } as const
const silentMs = 5_000

/**
 * The messages of a consumer that was asked `audibly`. Ends where the next one is waited for and
 * nothing was heard for 5 s, heartbeats included: after some ends of a server the client's ordered
 * consumer never pulls again and says nothing, so whoever reads it opens the next one. Ends also after
 * a message that ends the pull.
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
