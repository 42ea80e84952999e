import type { KV, KvEntry } from '@nats-io/kv'
import { faultOfEntry, faultOfValue, knownEntry } from '../../../schemas/bucket-entries.ts'
import { NewerFormat } from '../../../schemas/formats.ts'
import { reportBroken } from '../../broken.ts'

type Judged = {
  readonly value: unknown
  /** It matches its bucket's schema. */
  readonly isFine: boolean
}

/**
 * The JSON of an entry that is there, judged. An entry that violates its bucket's schema is reported.
 * @param broken the value of an entry that is not JSON
 * @throws NewerFormat a later version wrote it: continuing without it could lose data
 */
export function judgedEntry(
  entry: Pick<KvEntry, 'bucket' | 'key' | 'revision' | 'string'>,
  broken?: unknown,
): Judged {
  const { bucket, key, revision } = entry
  const text = entry.string()
  const judged = (value: unknown, why: string | undefined): Judged => {
    if (why !== undefined)
      reportBroken({ stream: `KV_${bucket}`, seq: revision, subject: key, why })
    return { value, isFine: why === undefined }
  }
  try {
    const value = knownEntry(bucket, key, JSON.parse(text))
    return judged(value, faultOfValue(bucket, key, value))
  } catch (error) {
    const refused = judged(broken, faultOfEntry(bucket, key, text))
    if (error instanceof NewerFormat) throw error
    return refused
  }
}

/**
 * The JSON of an entry; undefined if there is none. The caller decides how to treat one that violates its
 * bucket's schema, and never takes it as a permission.
 * @param broken the result for an entry that is not JSON
 * @throws NewerFormat
 */
export const jsonOf = (entry: KvEntry | null, broken?: unknown): unknown =>
  entry?.operation === 'PUT' ? judgedEntry(entry, broken).value : undefined

/** Reads the entry, then `jsonOf` it. */
export const readEntry = async (kv: KV, key: string, broken?: unknown): Promise<unknown> =>
  jsonOf(await kv.get(key), broken)

/** The value of an entry that matches its bucket's schema; undefined for any other. */
export function checkedEntry<T>(entry: KvEntry | null): T | undefined {
  if (entry?.operation !== 'PUT') return undefined
  const { value, isFine } = judgedEntry(entry)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the bucket's own schema
  return isFine ? (value as T) : undefined
}
