import type { KV, KvEntry } from '@nats-io/kv'
import { faultOfEntry, knownEntry } from '../../schemas/bucket-entries.ts'
import { reportBroken } from '../broken.ts'

/**
 * The JSON of an entry; undefined where there is none. What is not as its bucket wants it is
 * reported; the caller decides what it stands for, and never takes it for a permission.
 * @param broken what stands for an entry that is not JSON
 * @throws NewerFormat a later version wrote it: going on without it could lose what it says
 */
export function jsonOf(entry: KvEntry | null, broken?: unknown): unknown {
  if (entry?.operation !== 'PUT') return undefined
  const { bucket, key, revision } = entry
  const text = entry.string()
  const why = faultOfEntry(bucket, key, text)
  if (why !== undefined) reportBroken({ stream: `KV_${bucket}`, seq: revision, subject: key, why })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return broken
  }
  return knownEntry(bucket, key, value)
}

/** The same, asked of the bucket. */
export const readEntry = async (kv: KV, key: string, broken?: unknown): Promise<unknown> =>
  jsonOf(await kv.get(key), broken)

/** An entry that is as its bucket wants it: what its writers wrote; anything else is left out. */
export function checkedEntry<T>(entry: KvEntry | null): T | undefined {
  const value = jsonOf(entry)
  const isFine =
    entry !== null && faultOfEntry(entry.bucket, entry.key, entry.string()) === undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the bucket's own schema
  return isFine ? (value as T) : undefined
}
