import type { KV, KvEntry } from '@nats-io/kv'

/**
 * Writes an entry as long as it is still what was found, or still missing.
 * @throws an error of which `isWrongLastSequence` is true where it is not
 */
export async function putUnlessChanged(
  kv: KV,
  key: string,
  text: string,
  found: KvEntry | null,
): Promise<void> {
  await (found === null ? kv.create(key, text) : kv.update(key, text, found.revision))
}
