import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Logger } from '../runtime/log.ts'
import type { LevelNow } from '../runtime/nats/format-level.ts'
import { openPublisher } from '../runtime/nats/publisher.ts'
import type { Lifetime } from '../runtime/process/lifetime.ts'
import type { Log } from './log/commit.ts'
import type { PipelineMetrics } from './metrics.ts'

type Options = {
  readonly nc: NatsConnection
  readonly level: LevelNow
  readonly metrics: PipelineMetrics
  readonly life: Lifetime
  readonly logger: Logger
}

/** One in flight when the server dies waits for it to the end. */
const publishTimeoutMs = 2_000

/** What this process commits with; each try that fails is counted. */
export const openLog = ({ nc, level, metrics, life, logger }: Options): Log => ({
  nc,
  js: jetstream(nc, { timeout: publishTimeoutMs }),
  publisher: openPublisher(nc, publishTimeoutMs),
  level,
  pause: life.pause,
  stop: life.stopping,
  onRetry: (error) => {
    metrics.natsRetries.inc()
    logger.debug({ err: error }, 'NATS did not take a message: trying again')
  },
})
