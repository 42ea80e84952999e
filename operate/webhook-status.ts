/** The state of all webhooks' deliveries, as the owners of the shards report it. */
import type { NatsConnection } from '@nats-io/transport-node'
import { shardCount } from '../core/delivery/webhook-id.ts'
import { askSubject } from '../schemas/subjects.ts'
import type {
  ShardRequest,
  ShardStatus,
  WebhookReply,
} from '../schemas/webhooks/webhook-requests.ts'

export type WebhookStatus = ShardStatus & {
  /** `silent`: of all shards, those that have no owner right now, or whose owner did not answer. */
  readonly shards: number
  readonly silent: number
}

const answerWithinMs = 1_500
const question: ShardRequest = { op: 'status' }

export async function readWebhookStatus(nc: NatsConnection): Promise<WebhookStatus> {
  const answers = await Promise.all(
    Array.from({ length: shardCount }, (_, shard) => askShard(nc, shard)),
  )
  const statuses = answers.filter((status) => status !== undefined)
  const sum = (field: keyof ShardStatus): number =>
    statuses.reduce((total, status) => total + status[field], 0)
  return {
    shards: shardCount,
    silent: shardCount - statuses.length,
    pending: sum('pending'),
    dead: sum('dead'),
    in_breaker: sum('in_breaker'),
    oldest_due_seconds: Math.max(0, ...statuses.map((status) => status.oldest_due_seconds)),
  }
}

async function askShard(nc: NatsConnection, shard: number): Promise<ShardStatus | undefined> {
  try {
    const answer = await nc.request(askSubject(shard), JSON.stringify(question), {
      timeout: answerWithinMs,
    })
    const reply = answer.json<WebhookReply>()
    return reply.ok && reply.op === 'status' ? reply.status : undefined
  } catch {
    // it has no owner, or the owner is too busy to answer: counted as silent
    return undefined
  }
}
