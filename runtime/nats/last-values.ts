import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'

/**
 * The values of a bucket under several keys, in one question. A key may have `*` for one of its
 * parts.
 * @returns key → text, without what is deleted or was never there
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
  const found = await manager.direct.getLastMessagesFor(`KV_${bucket}`, {
    multi_last: keys.map((key) => prefix + key),
  })
  for await (const { subject, data } of found) {
    if (data.length > 0) values.set(subject.slice(prefix.length), utf8.decode(data))
  }
  return values
}

const utf8 = new TextDecoder()
