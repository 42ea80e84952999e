/**
 * The accounts' webhooks: asked from memory, written by compare and swap, and read back into memory
 * before a request is answered, so that whoever wrote reads what they wrote.
 */
import { isDeepStrictEqual } from 'node:util'
import type { KV, KvEntry } from '@nats-io/kv'
import { webhookNumberOf } from '../../core/delivery/webhook-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import { changeEntry, putUnlessChanged, readAgain } from '../../runtime/nats/cas.ts'
import { jsonOf } from '../../runtime/nats/read-entry.ts'
import type { WatchedBucket } from '../../runtime/nats/watched-bucket.ts'
import { parseWebhook, type Webhook } from '../../schemas/webhooks/webhook.ts'
import { candidateIds } from './candidate-ids.ts'
import type { WebhookClaims } from './claims.ts'
import { type Creation, isKeySpent, isRepeat } from './idempotency.ts'
import { changing, keyUsed, natsAway, noWebhook } from './webhook-error.ts'

/** What a webhook is made of; the book adds whose it is, its id and its times. */
export type NewWebhook = Pick<
  Webhook,
  'url' | 'description' | 'events' | 'filters' | 'secrets' | 'active' | 'paused'
>

type Make = (id: string) => NewWebhook
/** The idempotency key, and what it stands for. */
export type Repeat = { readonly key: string; readonly creation: Creation }
export type Created = { readonly webhook: Webhook; readonly isRepeat: boolean }

export type WebhookBook = {
  /** Oldest first. */
  readonly list: (account: string) => readonly Webhook[]
  /** @throws ApiError 404, of another account's too */
  readonly need: (account: string, id: string) => Promise<Webhook>
  /** The webhook that this very request has made already. @throws ApiError 409 */
  readonly findRepeat: (account: string, repeat: Repeat) => Promise<Webhook | undefined>
  /**
   * @param make for the id that it will have
   * @throws ApiError 409 where the account has as many as it may, or the key made another one
   */
  readonly create: (account: string, make: Make, repeat?: Repeat) => Promise<Created>
  /**
   * What others write meanwhile is not lost: `change` is then asked again with theirs.
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
  /** Once it is written, an answer is due even where memory lags. */
  const readBack = async (): Promise<void> => {
    await isWithin(bucket.barrier(), readBackWithinMs)
  }
  const ownOf = (account: string, id: string): Webhook | undefined => {
    const webhook = bucket.get(id)
    return webhook?.account === account ? webhook : undefined
  }
  const need: WebhookBook['need'] = async (account, id) => {
    if (webhookNumberOf(id) === undefined) throw noWebhook(id)
    const found = ownOf(account, id)
    if (found !== undefined) return found
    // another process may have made it a moment ago
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
    // not KV's own `create`: that would revive a deleted id, whose deliveries may still be kept
    if (await tryFirst(kv, webhook)) {
      await readBack()
      return { webhook, isRepeat: false }
    }
    // the same request came elsewhere too, or the id is another webhook's, or a deleted one's
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
    throw repeat === undefined ? changing() : keyUsed('the key has made too many webhooks')
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
        // what asks for nothing new is no change, and moves no time
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
      // killed here the account has one fewer to make until its claim is a minute old
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

/** @returns whether the id had never been in the bucket, and now is */
const tryFirst = async (kv: KV, webhook: Webhook): Promise<boolean> =>
  (await putUnlessChanged(kv, webhook.id, webhook, null)) !== 'overtaken'

/** @throws ApiError 409 where what the key made was deleted less than a day ago */
async function refuseSpent(kv: KV, id: string, nowMs: number): Promise<void> {
  const entry = await kv.get(id)
  if (entry === null || entry.operation === 'PUT') return
  if (isKeySpent(entry.created.getTime(), nowMs)) {
    throw keyUsed('what was made with the key has been deleted')
  }
}

const byAge = (a: Webhook, b: Webhook): number =>
  a.created_at < b.created_at || (a.created_at === b.created_at && a.id < b.id) ? -1 : 1

/** @returns false where it takes longer; what fails, fails */
async function isWithin(task: Promise<void>, ms: number): Promise<boolean> {
  const { promise: tooLong, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), ms)
  try {
    return await Promise.race([task.then(() => true), tooLong])
  } finally {
    clearTimeout(timer)
  }
}
