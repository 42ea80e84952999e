import type { KV, KvEntry } from '@nats-io/kv'
import { faultOfEntry } from '../../schemas/bucket-entries.ts'
import { asVersion1 } from '../../schemas/formats.ts'
import { reportBroken } from '../broken.ts'

/**
 * The JSON of an entry; undefined if there is none. An entry that violates its bucket's schema is
 * reported; the caller decides how to treat it, and never takes it as a permission.
 * @param broken the result for an entry that is not JSON
 * @throws NewerFormat a later version wrote it: continuing without it could lose data
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
  return asVersion1('entry', value, `KV ${bucket}, key ${key}`)
}

/** Reads the entry, then `jsonOf` it. */
export const readEntry = async (kv: KV, key: string, broken?: unknown): Promise<unknown> =>
  jsonOf(await kv.get(key), broken)

/** The value of an entry that matches its bucket's schema; undefined for any other. */
export function checkedEntry<T>(entry: KvEntry | null): T | undefined {
  const value = jsonOf(entry)
  const isFine =
    entry !== null && faultOfEntry(entry.bucket, entry.key, entry.string()) === undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the bucket's own schema
  return isFine ? (value as T) : undefined
}
