import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import type { MsgHdrs } from '@nats-io/transport-node'

type Pulled = { readonly data: Uint8Array; readonly headers?: MsgHdrs | undefined }

/**
 * No more messages of a pull arrive after such a message. Each process has its own account, and in a
 * reply from another account the server takes a message without body and headers as its end.
 */
export const endsPull = ({ data, headers }: Pulled): boolean =>
  data.length === 0 && headers === undefined

/**
 * Options of a consumer with a heartbeat twice a second. By default the client notices only after a
 * minute that a consumer is gone with its server, and would show old data for that long.
 */
export const heartbeats = { expires: 5_000, idle_heartbeat: 500 } as const
const silentMs = 5_000

/**
 * The messages of a consumer with `heartbeats`. Ends if the next one is awaited and nothing was
 * received for 5 s, heartbeats included: after some exits of a server the client's ordered consumer
 * never pulls again, without an error, so the reader must open the next one. Also ends after a
 * message that ends the pull.
 */
export async function* untilSilent(messages: ConsumerMessages): AsyncGenerator<JsMsg> {
  let receivedMs = performance.now()
  let isWaiting = true
  void (async () => {
    for await (const { type } of messages.status())
      if (type === 'heartbeat') receivedMs = performance.now()
  })()
  const watch = setInterval(() => {
    if (isWaiting && performance.now() - receivedMs > silentMs) void messages.close()
  }, heartbeats.idle_heartbeat)
  try {
    for await (const message of messages) {
      isWaiting = false
      yield message
      if (endsPull(message)) return
      // the reader may have been busy for long
      receivedMs = performance.now()
      isWaiting = true
    }
  } finally {
    clearInterval(watch)
  }
}
