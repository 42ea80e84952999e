/**
 * How many webhooks an account has, exactly, however many processes create at once. Whoever wants
 * to create first writes the id into the account's one list, by compare and swap; the list's length
 * is the number. An id whose webhook never came (its maker was killed between the two writes) is
 * dropped from the list by the next one to come, after a minute.
 */
import type { KV } from '@nats-io/kv'
import { minuteMs } from '../../core/time.ts'
import { changeEntry } from '../../runtime/nats/cas.ts'
import { jsonOf } from '../../runtime/nats/read-entry.ts'
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
  /** @throws ApiError 409 where the account has as many as it may */
  readonly claim: (account: string, id: string) => Promise<void>
  /** Idempotent. */
  readonly release: (account: string, id: string) => Promise<void>
}

const claimLifeMs = minuteMs
const mostTries = 50

/** What is not a time claims nothing. */
const claimsIn = (value: unknown): Claims =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).filter(([, atMs]) => Number.isFinite(atMs)))
    : {}

export function createWebhookClaims({ kv, idsOf, nowMs }: Options): WebhookClaims {
  /** @param change gives undefined where there is nothing to write */
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
        // read behind the list: whatever the list names and was made is there by now
        const ids = await idsOf(account)
        const kept = Object.entries(claims).filter(
          ([one, claimedMs]) => ids.has(one) || nowMs() - claimedMs < claimLifeMs,
        )
        const held = new Set([...ids, ...kept.map(([one]) => one)])
        if (held.has(id) && id in claims) return undefined
        if (held.size >= mostWebhooks) throw tooManyWebhooks()
        return { ...Object.fromEntries(kept), [id]: nowMs() }
      }),
    release: (account, id) =>
      update(account, async ({ [id]: claimed, ...rest }) =>
        claimed === undefined ? undefined : rest,
      ),
  }
}
