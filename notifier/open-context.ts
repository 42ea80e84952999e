/** Opens what the shards of a process share. */

import { jetstream } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { sensorIdRules } from '../core/air/sensor-id.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { publicResolver } from '../runtime/http/public-resolver.ts'
import { watchSensors } from '../runtime/nats/buckets/packed-bucket.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { heldByAnother } from '../runtime/nats/leases.ts'
import { countDropped, openMailQueue } from '../runtime/nats/mail-queue.ts'
import type { Instance } from '../runtime/process/instance-id.ts'
import type { Registry } from '../runtime/prometheus.ts'
import type { SecretBox } from '../runtime/secrets/seal-secret.ts'
import { parseAnySensor } from '../schemas/devices/registered-sensor.ts'
import { buckets } from '../schemas/subjects.ts'
import { shardLease } from '../schemas/system-keys.ts'
import { parseWebhook } from '../schemas/webhooks/webhook.ts'
import type { NotifierConfig } from './config.ts'
import { notifierMetrics } from './metrics.ts'
import { ownerMails } from './owners/owner-mails.ts'
import { reportEndpoints } from './owners/report-endpoints.ts'
import { createLimits } from './scheduler/limits.ts'
import { attemptsLog } from './send/attempt.ts'
import { openSender } from './send/send.ts'
import type { ShardContext } from './shard-work.ts'
import { anchoredSource } from './sources/anchored.ts'
import { eventsSource } from './sources/events.ts'
import { openLogReadings, readingsSource } from './sources/readings.ts'
import type { SourceContext, Sources } from './sources/source.ts'
import { steadyClock } from './steady-clock.ts'
import { openWebhookBook, parsePremium } from './webhook-book.ts'

type Options = Pick<ShardContext, 'pause' | 'stop' | 'onFatal' | 'onNeeds' | 'logger'> & {
  readonly nc: NatsConnection
  readonly settings: NotifierConfig
  readonly idPrefix: string
  readonly instance: Instance
  readonly box: SecretBox
  readonly leases: KV
  readonly registry: Registry
  /** Closes what is opened here. */
  readonly opened: AsyncDisposableStack
}

export async function openContext(options: Options): Promise<ShardContext> {
  const { nc, settings, instance, box, leases, registry, opened, ...shared } = options
  const { logger, stop } = shared
  const metrics = notifierMetrics(registry)
  const rules = sensorIdRules(options.idPrefix)
  const sensors = opened.use(
    await watchSensors(nc, rules, parseAnySensor, (line) => logger.info(line)),
  )
  const webhooks = opened.use(await watchBucket(nc, buckets.webhooks, parseWebhook))
  const accounts = opened.use(await watchBucket(nc, buckets.accounts, parsePremium))
  const book = opened.use(openWebhookBook(webhooks, accounts, box))
  const { allowInsecure, signatureHeader, rate, mostWaiting, publicUrl } = settings
  const sendMail = ownerMails(openMailQueue(nc, box, countDropped(registry)), logger, stop)
  const isTaken = heldByAnother(leases, instance.id)
  return {
    ...shared,
    ...reportEndpoints({ webhooks: webhooks.kv, sendMail, metrics, logger }),
    nc,
    js: jetstream(nc),
    onRetry: (error) => {
      metrics.natsRetries.inc()
      logger.debug({ err: error }, 'NATS did not accept a message: trying again')
    },
    worker: instance.worker,
    limits: createLimits(),
    rate,
    mostWaiting,
    metrics,
    clock: (leastMs) => steadyClock(leastMs, Date.now, () => performance.now()),
    isTaken: (shard) => isTaken(shardLease(shard)),
    sender: opened.use(openSender({ resolver: publicResolver({ allowInsecure }) })),
    book,
    signatureHeader,
    userAgent: 'airproof-webhooks/1',
    allowInsecure,
    wallMs: Date.now,
    random: Math.random,
    sources: openSources({
      nc,
      keccak: await createKeccak(),
      sensorOf: sensors.get,
      thresholdOf: (webhook) => book.get(webhook)?.webhook.filters.aqi_threshold,
      publicUrl,
      stop,
    }),
    publishAttempt: attemptsLog(nc),
  }
}

/** All sources: each has a row in `core/delivery/event-kinds.ts` and a module. */
function openSources(context: SourceContext): Sources {
  const readings = openLogReadings(context.nc)
  return {
    events: eventsSource(context),
    readings: readingsSource(context, readings),
    anchored: anchoredSource(context, readings),
  }
}
