/** Which shards this process owns follows from the leases that it holds. */
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { shardCount } from '../core/delivery/webhook-id.ts'
import { TryAgain } from '../runtime/exit.ts'
import type { Logger } from '../runtime/log.ts'
import { type Leases, openLeases } from '../runtime/nats/leases.ts'
import { alivePrefixes, shardLease, shardPrefix } from '../schemas/system-keys.ts'
import type { Shards } from './shards.ts'

const shardOfTask = (name: string): number => Number(name.slice(shardPrefix.length))

type Options = {
  readonly nc: NatsConnection
  readonly kv: KV
  readonly holder: string
  readonly shards: Shards
  readonly ending: AbortSignal
  readonly onLost: (error: unknown) => void
  readonly logger: Logger
}

export const openShardLeases = ({
  nc,
  kv,
  holder,
  shards,
  ending,
  onLost,
  logger,
}: Options): Leases =>
  openLeases({
    nc,
    kv,
    holder,
    aliveAs: alivePrefixes.notifier,
    shared: Array.from({ length: shardCount }, (_, shard) => shardLease(shard)),
    single: [],
    onHeld: (name) => {
      // a round that was under way when the shutdown started may still take one
      if (!ending.aborted) shards.take(shardOfTask(name))
    },
    onRelease: (name) => shards.give(shardOfTask(name)),
    onLost: (name) =>
      onLost(new TryAgain(`${name} is owned by another process now: starting again`)),
    onFailure: (error) => logger.warn({ err: error }, 'leases: trying again'),
  })
