/** Who is admitted, and how often: keys, accounts and quotas, watched in memory. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { Limits } from '../core/access/quota.ts'
import type { Logger } from '../runtime/log.ts'
import { lastValues } from '../runtime/nats/buckets/last-values.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { countDropped, openMailQueue } from '../runtime/nats/mail-queue.ts'
import type { Registry } from '../runtime/prometheus.ts'
import type { SecretBox } from '../runtime/secrets/seal-secret.ts'
import { buckets } from '../schemas/subjects.ts'
import {
  createKeyGuard,
  longestStaleMs,
  parseKnownAccount,
  parseKnownKey,
  type Tier,
} from './access/key-guard.ts'
import { openKeyUses } from './access/key-uses.ts'
import { type StreamTokens, streamTokens } from './access/stream-tokens.ts'
import { type Admit, createAdmit } from './admit.ts'
import type { NoteRequest } from './app.ts'
import type { Route } from './http/answer.ts'
import { watchFreshness } from './live/watch-freshness.ts'
import { openQuotaBucket } from './quota/bucket.ts'
import { createQuotaMails } from './quota/mails.ts'
import { createQuota } from './quota/quota.ts'
import { openRequestLog } from './quota/request-log.ts'
import { showUsage } from './quota/usage.ts'

export type Admission = {
  readonly admit: Admit
  /** Of accounts' own keys; what the dashboard asks for is not listed. */
  readonly note: NoteRequest
  /** The tier of an account; undefined: the account does not exist. */
  readonly tierOf: (account: string) => Tier | undefined
  /** How long ago the keys in memory were last confirmed by NATS, ms. */
  readonly staleMs: () => number
  readonly usage: Route
  readonly tokens: StreamTokens
}

type Options = {
  readonly nc: NatsConnection
  readonly limits: Readonly<Record<Tier, Limits>>
  readonly box: () => Promise<SecretBox>
  readonly metrics: Registry
  readonly nowMs: () => number
  readonly log: Logger
}

/** How long a request waits for the keys to be confirmed before it is refused. */
const confirmWithinMs = 500

export async function openAdmission(
  { nc, limits, box, metrics, nowMs, log }: Options,
  opened: AsyncDisposableStack,
): Promise<Admission> {
  const keys = opened.use(await watchBucket(nc, buckets.keys, parseKnownKey))
  const accounts = opened.use(await watchBucket(nc, buckets.accounts, parseKnownAccount))
  const barrier = async (): Promise<void> => {
    await Promise.all([keys.barrier(), accounts.barrier()])
  }
  const { staleMs, confirm } = opened.use(await watchFreshness({ barrier }))
  const tierOf = (account: string): Tier | undefined => accounts.get(account)?.tier
  const limitsOf = (account: string): Limits => limits[tierOf(account) ?? 'free']
  const dropped = countDropped(metrics)
  const quota = opened.use(
    createQuota({
      bucket: opened.use(await openQuotaBucket(nc)),
      limitsOf,
      nowMs,
      onCharged: createQuotaMails({
        send: async (id, mail) => openMailQueue(nc, await box(), dropped).send(id, mail),
        onFailed: (error) => log.warn({ err: error }, 'could not queue a mail about a quota'),
      }),
    }),
  )
  const uses = opened.use(await openKeyUses(nc, { nowMs }))
  const requests = opened.use(
    await openRequestLog(nc, {
      nowMs,
      onFailure: (error) => log.warn({ err: error }, 'could not write the log of requests'),
    }),
  )
  const hasAccount = (account: string): boolean => accounts.get(account) !== undefined
  const freshen = async (): Promise<void> => {
    if (staleMs() > longestStaleMs) await confirm(confirmWithinMs)
  }
  const guard = createKeyGuard({ find: keys.get, hasAccount, staleMs, nowMs })
  const tokens = streamTokens({ box, nowMs })
  return {
    tokens,
    note: ({ caller: { account, key, isInternal }, ...seen }) => {
      if (!isInternal) requests.note({ account, key, ...seen })
    },
    admit: createAdmit({ freshen, guard, tokens, quota, onUsed: uses.note }),
    tierOf,
    staleMs,
    usage: showUsage({
      tierOf,
      limitsOf,
      keys: keys.entries,
      read: (bucket, names) => lastValues(nc, bucket, names),
      nowMs,
    }),
  }
}
