/**
 * How many webhooks an account has, exactly, however many processes create at once. A process that
 * wants to create first writes the id into the account's one list, by compare and swap; the list's
 * length is the number. An id whose webhook was never written (its process was killed between the
 * two writes) is dropped from the list by the next claim, after a minute.
 */
import type { KV } from '@nats-io/kv'
import { minuteMs } from '../../core/time.ts'
import { jsonOf } from '../../runtime/nats/buckets/read-entry.ts'
import { changeEntry } from '../../runtime/nats/cas.ts'
import { webhooksKey } from '../../schemas/system-keys.ts'
import { changing, mostWebhooks, tooManyWebhooks } from './webhook-error.ts'

/** Id → when it was claimed, ms since the epoch. */
type Claims = Readonly<Record<string, number>>

type Options = {
  /** Bucket `system`. */
  readonly kv: KV
  /** The account's webhooks, as of now or later. */
  readonly idsOf: (account: string) => Promise<ReadonlySet<string>>
  readonly nowMs: () => number
}

export type WebhookClaims = {
  /** @throws ApiError 409 if the account has as many as it may */
  readonly claim: (account: string, id: string) => Promise<void>
  /** Idempotent. */
  readonly release: (account: string, id: string) => Promise<void>
}

const claimLifeMs = minuteMs
const mostTries = 50

/** A value that is not a time claims nothing. */
const claimsIn = (value: unknown): Claims =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).filter(([, atMs]) => Number.isFinite(atMs)))
    : {}

export function createWebhookClaims({ kv, idsOf, nowMs }: Options): WebhookClaims {
  /** @param change returns undefined if there is nothing to write */
  const update = async (
    account: string,
    change: (claims: Claims) => Promise<Claims | undefined>,
  ): Promise<void> => {
    await changeEntry(kv, webhooksKey(account), (read) => change(claimsIn(jsonOf(read))), {
      mostTries,
      busy: changing,
    })
  }

  return {
    claim: (account, id) =>
      update(account, async (claims) => {
        // read after the list: every webhook of the list that was written is in it
        const ids = await idsOf(account)
        const valid = Object.entries(claims).filter(
          ([claimed, claimedMs]) => ids.has(claimed) || nowMs() - claimedMs < claimLifeMs,
        )
        const held = new Set([...ids, ...valid.map(([claimed]) => claimed)])
        if (held.has(id) && id in claims) return undefined
        if (held.size >= mostWebhooks) throw tooManyWebhooks()
        return { ...Object.fromEntries(valid), [id]: nowMs() }
      }),
    release: (account, id) =>
      update(account, async ({ [id]: claimed, ...rest }) =>
        claimed === undefined ? undefined : rest,
      ),
  }
}
