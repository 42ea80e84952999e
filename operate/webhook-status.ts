/** How the deliveries of all webhooks stand, as the owners of the shards tell when they are asked. */
import type { NatsConnection } from '@nats-io/transport-node'
import { shardCount } from '../core/delivery/webhook-id.ts'
import { askSubject } from '../schemas/subjects.ts'
import type {
  ShardRequest,
  ShardStatus,
  WebhookReply,
} from '../schemas/webhooks/webhook-requests.ts'

export type WebhookStatus = ShardStatus & {
  /** Of all shards, those that nobody owns right now, or whose owner did not answer. */
  readonly shards: number
  readonly silent: number
}

const answerWithinMs = 1_500
const question: ShardRequest = { op: 'status' }

export async function readWebhookStatus(nc: NatsConnection): Promise<WebhookStatus> {
  const answers = await Promise.all(
    Array.from({ length: shardCount }, (_, shard) => askShard(nc, shard)),
  )
  const told = answers.filter((status) => status !== undefined)
  const sum = (of: keyof ShardStatus): number => told.reduce((total, one) => total + one[of], 0)
  return {
    shards: shardCount,
    silent: shardCount - told.length,
    pending: sum('pending'),
    dead: sum('dead'),
    in_breaker: sum('in_breaker'),
    oldest_due_seconds: Math.max(0, ...told.map((one) => one.oldest_due_seconds)),
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
    // nobody owns it, or its owner is too busy to say so: the count of the silent tells
    return undefined
  }
}
