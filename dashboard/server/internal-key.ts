/**
 * The key with which this process calls the API for signed-in accounts. It is made at the start,
 * lives a day, is replaced in time, is only in memory and is deleted when the process stops.
 */
import { randomBytes } from 'node:crypto'
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { apiKeyPrefix, keyRandomBytes, makeKey } from '../../core/access/api-key.ts'
import { formatIso } from '../../core/iso-time.ts'
import { hourMs, minuteMs } from '../../core/time.ts'
import { hashOfKey } from '../../operate/account-book.ts'
import { watchChecked } from '../../runtime/nats/buckets/watched-bucket.ts'
import type { KeyRecord } from '../../schemas/people/account.ts'
import { buckets } from '../../schemas/subjects.ts'

export type InternalKey = AsyncDisposable & { readonly current: () => string }

type Options = {
  readonly nc: NatsConnection
  /** Bucket `keys`. */
  readonly keys: KV
  readonly nowMs: () => number
  readonly onFailure: (error: unknown) => void
}

const lifeMs = 24 * hourMs
const replaceMs = 12 * hourMs
/** Requests under way may still use the former key. */
const overlapMs = minuteMs
const lookMs = minuteMs

export async function openInternalKey(options: Options): Promise<InternalKey> {
  const { keys, nowMs, onFailure } = options
  await forgetExpired(options)
  const make = async (): Promise<Made> => {
    const key = makeKey(apiKeyPrefix, randomBytes(keyRandomBytes))
    const madeMs = nowMs()
    const record: KeyRecord = {
      id: `key_${randomBytes(8).toString('hex')}`,
      account: 'dashboard',
      name: 'the dashboard’s own',
      hint: key.slice(0, 8),
      created_at: formatIso(madeMs),
      expires_at: formatIso(madeMs + lifeMs),
      internal: true,
    }
    await keys.create(hashOfKey(key), JSON.stringify(record))
    return { key, madeMs }
  }
  let made = await make()
  let former: Made | undefined
  const look = async (): Promise<void> => {
    if (former !== undefined && nowMs() - made.madeMs > overlapMs) {
      await keys.delete(hashOfKey(former.key))
      former = undefined
    }
    if (nowMs() - made.madeMs < replaceMs) return
    const next = await make()
    if (former !== undefined) await keys.delete(hashOfKey(former.key))
    former = made
    made = next
  }
  const timer = setInterval(() => void look().catch(onFailure), lookMs)
  return {
    current: () => made.key,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      const ours = [made, ...(former === undefined ? [] : [former])]
      await Promise.all(ours.map(({ key }) => keys.delete(hashOfKey(key)))).catch(onFailure)
    },
  }
}

type Made = { readonly key: string; readonly madeMs: number }

/** Deletes the keys of processes that were killed. */
async function forgetExpired({ nc, keys, nowMs }: Options): Promise<void> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by our own processes
  await using known = await watchChecked<KeyRecord>(nc, buckets.keys)
  for (const [hash, { internal, expires_at }] of known.entries())
    if (internal === true && Date.parse(expires_at) <= nowMs()) await keys.delete(hash)
}
