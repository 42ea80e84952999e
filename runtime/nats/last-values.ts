import { jetstreamManager, type StoredMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'

/**
 * The values of several keys of a bucket, by one request that leaves nothing on the server:
 * `kv.keys()` leaves a consumer there for five minutes, and a stream has at most a thousand of them.
 * A key may have `*` for one of its parts, and `>` for its end.
 * @returns key → text, without deleted and missing entries
 */
export async function lastValues(
  nc: NatsConnection,
  bucket: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>()
  if (keys.length === 0) return values
  const prefix = `$KV.${bucket}.`
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const take = ({ subject, data }: StoredMsg): void => {
    if (data.length > 0) values.set(subject.slice(prefix.length), utf8.decode(data))
  }
  await manager.direct.getLastMessagesFor(`KV_${bucket}`, {
    multi_last: keys.map((key) => prefix + key),
    // if it is iterated instead, the client never ends its subscription
    callback: (done, message) => {
      if (done === null) take(message)
      else if (done.err === undefined) resolve()
      else reject(done.err)
    },
  })
  await ended
  return values
}

const utf8 = new TextDecoder()
