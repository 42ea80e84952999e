import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { createAttemptLog } from '../../operate/webhooks/attempt-log.ts'
import { deliveryOwner } from '../../operate/webhooks/delivery-owner.ts'
import { publicResolver } from '../../runtime/http/public-resolver.ts'
import { indexByAccount } from '../../runtime/nats/buckets/index-by-account.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import type { LevelNow } from '../../runtime/nats/format-level.ts'
import type { SecretBox } from '../../runtime/secrets/seal-secret.ts'
import { buckets } from '../../schemas/subjects.ts'
import { parseWebhook } from '../../schemas/webhooks/webhook.ts'
import type { Route } from '../http/answer.ts'
import type { AreaDirectory } from '../live/area-directory.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import type { BackTest } from './back-test.ts'
import { createWebhookClaims } from './claims.ts'
import { createJudgeWanted } from './judge-wanted.ts'
import { createWebhookBook } from './webhook-book.ts'
import { webhookRoutes } from './webhooks.ts'

type Options = {
  readonly nc: NatsConnection
  readonly level: LevelNow
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly directory: () => AreaDirectory
  readonly nowMs: () => number
  readonly allowInsecure: boolean
  /** The tier of an account; undefined: the account does not exist. */
  readonly tierOf: (account: string) => string | undefined
  readonly box: () => Promise<SecretBox>
  readonly backTest: BackTest
}

/** Webhooks, watched; and the routes that answer from them. */
export async function openWebhooks(
  options: Options,
): Promise<AsyncDisposable & { readonly routes: readonly Route[] }> {
  const { nc, level, board, rules, directory, nowMs, allowInsecure, tierOf, box, backTest } =
    options
  await using opened = new AsyncDisposableStack()
  const bucket = opened.use(await watchBucket(nc, buckets.webhooks, parseWebhook))
  const idsOf = indexByAccount(bucket)
  const claims = createWebhookClaims({
    kv: await new Kvm(nc).open(buckets.system),
    idsOf: async (account) => {
      await bucket.barrier()
      return idsOf(account)
    },
    nowMs,
  })
  const routes = webhookRoutes({
    book: createWebhookBook({ bucket, idsOf, claims, nowMs }),
    tierOf,
    judge: createJudgeWanted({
      level,
      board,
      rules,
      directory,
      allowInsecure,
      resolver: publicResolver({ allowInsecure }),
    }),
    box,
    board,
    log: createAttemptLog(nc),
    owner: deliveryOwner(nc),
    backTest,
    nowMs,
  })
  const all = opened.move()
  return { routes, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
