import { jetstreamManager, type StoredMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { lastMessage } from '../stored-message.ts'

/**
 * The values of several keys of a bucket, by one request that leaves nothing on the server:
 * `kv.keys()` leaves a consumer there for five minutes, and a stream has at most a thousand of them.
 * A key may have `*` for one of its parts, and `>` for its end. A replica that lags may answer, with what
 * it has: what is decided for good needs `currentValues`.
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

/** The same of one key, from the leader of the bucket, by a request for each entry. */
export async function currentValues(
  nc: NatsConnection,
  bucket: string,
  key: string,
): Promise<ReadonlyMap<string, string>> {
  const stream = `KV_${bucket}`
  const prefix = `$KV.${bucket}.`
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const { state } = await manager.streams.info(stream, { subjects_filter: prefix + key })
  const subjects = Object.keys(state.subjects ?? {})
  const entries = await Promise.all(
    subjects.map(async (subject) => {
      const { data = new Uint8Array() } = (await lastMessage(nc, stream, subject)) ?? {}
      return [subject.slice(prefix.length), utf8.decode(data)] as const
    }),
  )
  return new Map(entries.filter(([, text]) => text !== ''))
}

const utf8 = new TextDecoder()
