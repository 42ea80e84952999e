/**
 * The accounts' webhooks: read from memory, written by compare and swap, and read back into memory
 * before a request is answered, so that a client reads what it wrote.
 */
import { isDeepStrictEqual } from 'node:util'
import type { KV, KvEntry } from '@nats-io/kv'
import { webhookNumberOf } from '../../core/delivery/webhook-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import { jsonOf } from '../../runtime/nats/buckets/read-entry.ts'
import type { WatchedBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { changeEntry, putUnlessChanged, readAgain } from '../../runtime/nats/cas.ts'
import { parseWebhook, type Webhook } from '../../schemas/webhooks/webhook.ts'
import { candidateIds } from './candidate-ids.ts'
import type { WebhookClaims } from './claims.ts'
import { type Creation, isKeySpent, isRepeat } from './idempotency.ts'
import { changing, keyUsed, natsAway, noWebhook } from './webhook-error.ts'

/** What a webhook is created from; the book adds its account, its id and its times. */
export type NewWebhook = Pick<
  Webhook,
  'url' | 'description' | 'events' | 'filters' | 'secrets' | 'active' | 'paused'
>

type Make = (id: string) => NewWebhook
/** The idempotency key, and the creation that it identifies. */
export type Repeat = { readonly key: string; readonly creation: Creation }
export type Created = { readonly webhook: Webhook; readonly isRepeat: boolean }

export type WebhookBook = {
  /** Oldest first. */
  readonly list: (account: string) => readonly Webhook[]
  /** @throws ApiError 404, also if it is another account's */
  readonly need: (account: string, id: string) => Promise<Webhook>
  /** The webhook that this very request has created already. @throws ApiError 409 */
  readonly findRepeat: (account: string, repeat: Repeat) => Promise<Webhook | undefined>
  /**
   * @param make for the id that it will have
   * @throws ApiError 409 if the account has as many as it may, or the key created another one
   */
  readonly create: (account: string, make: Make, repeat?: Repeat) => Promise<Created>
  /**
   * Writes by others in between are not lost: `change` is then called again with their result.
   * @throws ApiError 404, 503, and what `change` throws
   */
  readonly change: (
    account: string,
    id: string,
    change: (webhook: Webhook) => Webhook,
  ) => Promise<Webhook>
  /** @throws ApiError 404 */
  readonly remove: (account: string, id: string) => Promise<void>
}

type Options = {
  readonly bucket: WatchedBucket<Webhook>
  readonly idsOf: (account: string) => ReadonlySet<string>
  readonly claims: WebhookClaims
  readonly nowMs: () => number
}

const mostTries = 20
const readBackWithinMs = 2 * secondMs

export function createWebhookBook({ bucket, idsOf, claims, nowMs }: Options): WebhookBook {
  const { kv } = bucket
  const caughtUp = async (): Promise<void> => {
    if (await isWithin(bucket.barrier(), readBackWithinMs)) return
    throw natsAway(new Error('the copy of the webhooks lags behind'))
  }
  /** Once it is written, the request is answered even if memory lags. */
  const readBack = async (): Promise<void> => {
    await isWithin(bucket.barrier(), readBackWithinMs)
  }
  const ownOf = (account: string, id: string): Webhook | undefined => {
    const webhook = bucket.get(id)
    return webhook?.account === account ? webhook : undefined
  }
  const need: WebhookBook['need'] = async (account, id) => {
    if (webhookNumberOf(id) === undefined) throw noWebhook(id)
    const own = ownOf(account, id)
    if (own !== undefined) return own
    // another process may have created it a moment ago
    await caughtUp()
    const late = ownOf(account, id)
    if (late === undefined) throw noWebhook(id)
    return late
  }

  const createAt = async (
    account: string,
    id: string,
    { make, repeat }: { readonly make: Make; readonly repeat: Repeat | undefined },
  ): Promise<Created | undefined> => {
    const repeated = (taken: Webhook | undefined): Created | undefined =>
      taken !== undefined && repeat !== undefined && isOwnRepeat(taken, account, repeat, nowMs())
        ? { webhook: taken, isRepeat: true }
        : undefined

    await caughtUp()
    const taken = bucket.get(id)
    if (taken !== undefined) return repeated(taken)
    if (repeat !== undefined) await refuseSpent(kv, id, nowMs())
    await claims.claim(account, id)
    const at = formatIso(nowMs())
    const idempotency = repeat === undefined ? {} : { idempotency: repeat.creation }
    const own = { id, account, created_at: at, updated_at: at, ...idempotency }
    const webhook: Webhook = { ...make(id), ...own }
    // not KV's own `create`: that would revive a deleted id, whose deliveries may still be stored
    if (await tryFirst(kv, webhook)) {
      await readBack()
      return { webhook, isRepeat: false }
    }
    // the same request reached another process too, or the id is another webhook's, or was deleted
    await caughtUp()
    const same = repeated(bucket.get(id))
    if (same === undefined) await claims.release(account, id)
    return same
  }

  const create: WebhookBook['create'] = async (account, make, repeat) => {
    for (const id of candidateIds(account, repeat?.key)) {
      const created = await createAt(account, id, { make, repeat })
      if (created !== undefined) return created
    }
    throw repeat === undefined ? changing() : keyUsed('the key has created too many webhooks')
  }

  return {
    need,
    create,
    list: (account) => {
      const own = [...idsOf(account)].map((id) => bucket.get(id))
      return own.filter((webhook) => webhook !== undefined).toSorted(byAge)
    },
    findRepeat: async (account, repeat) => {
      await caughtUp()
      for (const id of candidateIds(account, repeat.key)) {
        const taken = bucket.get(id)
        if (taken === undefined) return undefined
        if (isOwnRepeat(taken, account, repeat, nowMs())) return taken
      }
      return undefined
    },
    change: async (account, id, change) => {
      let webhook = await need(account, id)
      const judge = async (read: KvEntry | null) => {
        const before = parseWebhook(jsonOf(read))
        if (before?.account !== account) {
          await caughtUp()
          await need(account, id)
          return readAgain
        }
        webhook = before
        const wanted = change(before)
        // a change that results in the same webhook is not written, and changes no time
        if (isDeepStrictEqual(wanted, before)) return undefined
        return { ...wanted, updated_at: formatIso(nowMs()) }
      }
      const changed = await changeEntry<Webhook>(kv, id, judge, { mostTries, busy: changing })
      if (changed !== undefined) await readBack()
      return changed ?? webhook
    },
    remove: async (account, id) => {
      await need(account, id)
      await kv.delete(id)
      // killed here, the account can create one fewer until its claim is a minute old
      await claims.release(account, id)
      await readBack()
    },
  }
}

const isOwnRepeat = (
  webhook: Webhook,
  account: string,
  { creation }: Repeat,
  nowMs: number,
): boolean => webhook.account === account && isRepeat(webhook, creation, nowMs)

/** @returns whether the id was never in the bucket before, and is now */
const tryFirst = async (kv: KV, webhook: Webhook): Promise<boolean> =>
  (await putUnlessChanged(kv, webhook.id, webhook, null)) !== 'overtaken'

/** @throws ApiError 409 if the webhook that the key created was deleted less than a day ago */
async function refuseSpent(kv: KV, id: string, nowMs: number): Promise<void> {
  const entry = await kv.get(id)
  if (entry === null || entry.operation === 'PUT') return
  if (isKeySpent(entry.created.getTime(), nowMs)) {
    throw keyUsed('the webhook created with the key has been deleted')
  }
}

const byAge = (a: Webhook, b: Webhook): number =>
  a.created_at < b.created_at || (a.created_at === b.created_at && a.id < b.id) ? -1 : 1

/** @returns false if it takes longer; rejects if the task does */
async function isWithin(task: Promise<void>, ms: number): Promise<boolean> {
  const { promise: tooLong, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), ms)
  try {
    return await Promise.race([task.then(() => true), tooLong])
  } finally {
    clearTimeout(timer)
  }
}
