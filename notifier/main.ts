import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { sensorIdRules } from '../core/air/sensor-id.ts'
import { keyText } from '../core/delivery/delivery.ts'
import { shardCount, webhookIdOf } from '../core/delivery/webhook-id.ts'
import { TryAgain } from '../runtime/exit.ts'
import { publicResolver } from '../runtime/http/public-resolver.ts'
import { createKeccak } from '../runtime/keccak.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { leaseRoundMs, openLeases, takenBySomeoneElse } from '../runtime/nats/leases.ts'
import { countDropped, openMailQueue } from '../runtime/nats/mail-queue.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { watchBucket } from '../runtime/nats/watched-bucket.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { openInstance } from '../runtime/process/instance-id.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { tryAgainWhereAway } from '../runtime/process/process.ts'
import { stopped } from '../runtime/process/stop-signal.ts'
import { openSecretBox } from '../runtime/secrets/secret-key.ts'
import { parseAnySensor } from '../schemas/devices/registered-sensor.ts'
import { buckets } from '../schemas/subjects.ts'
import { alivePrefixes, neededByShard, shardLease, shardPrefix } from '../schemas/system-keys.ts'
import { parseWebhook, type Webhook } from '../schemas/webhooks/webhook.ts'
import { attemptsLog } from './attempts-log.ts'
import { steadyClock } from './clock.ts'
import { readNotifierConfig } from './config.ts'
import { disableWebhook } from './disable.ts'
import { createLimits } from './limits.ts'
import { disabledMail, failingMail, type TellableMail } from './mails.ts'
import { notifierMetrics } from './metrics.ts'
import { openSender } from './send.ts'
import type { Shard, ShardContext } from './shard.ts'
import { createShards } from './shards.ts'
import { openSources } from './sources.ts'
import { openWebhookBook, parsePremium } from './webhook-book.ts'

const shardOfTask = (name: string): number => Number(name.slice(shardPrefix.length))
/** A process has 10 s to stop; connections are closed in what is left. */
const orderlyMs = 8_000
const tellNeededMs = 10_000
const mailTries = 5
const mailRetryMs = 2_000

export const run = tryAgainWhereAway(async ({ config, env, flags, log: logger, stop }) => {
  await using opened = new AsyncDisposableStack()
  const { allowInsecure, signatureHeader, rate, mostWaiting } = readNotifierConfig({ env, flags })
  const failed = Promise.withResolvers<never>()
  // whoever waits for it is below; a failure before that must not count as unhandled
  failed.promise.catch(() => undefined)
  const ending = new AbortController()
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: ending.signal }).catch(() => undefined)

  const nc = await connectNats(config, { name: 'notifier', log: logger, stop })
  opened.defer(() => nc.close())
  const instance = openInstance(config.dataFolder, 'notifier')
  opened.use(await joinInstance(nc, { ...config, name: 'notifier', id: instance.worker }))
  const box = await openSecretBox(nc, { env, flags }, config.dataFolder)
  const registry = openMetrics('notifier')
  const metrics = notifierMetrics(registry)
  const rules = sensorIdRules(config.idPrefix)
  const sensors = opened.use(
    await watchBucket(nc, buckets.sensors, (value) => parseAnySensor(value, rules)),
  )
  const webhooks = opened.use(await watchBucket(nc, buckets.webhooks, parseWebhook))
  const accounts = opened.use(await watchBucket(nc, buckets.accounts, parsePremium))
  const book = opened.use(openWebhookBook(webhooks, accounts, box))
  const sender = opened.use(openSender({ resolver: publicResolver({ allowInsecure }) }))
  const mails = openMailQueue(nc, box, countDropped(registry))
  /** Never rejects: a mail that is not taken must not keep a webhook from being disabled. */
  const sendMail = async ({ id, mail }: TellableMail): Promise<void> => {
    for (let i = 0; i < mailTries && !ending.signal.aborted; i++) {
      try {
        await mails.send(id, mail)
        return
      } catch (error) {
        logger.warn({ err: error, mail: id }, 'a mail was not taken: trying again')
        await pause(mailRetryMs)
      }
    }
  }
  const limits = createLimits()
  const leaseKeys = await new Kvm(nc).open(buckets.leases)
  const isTaken = takenBySomeoneElse(leaseKeys, instance.id)
  const context: ShardContext = {
    nc,
    js: jetstream(nc),
    pause,
    stop: ending.signal,
    onRetry: (error) => {
      metrics.natsRetries.inc()
      logger.debug({ err: error }, 'NATS did not take a message: trying again')
    },
    worker: instance.worker,
    limits,
    rate,
    mostWaiting,
    logger,
    metrics,
    clock: (leastMs) => steadyClock(leastMs, Date.now, () => performance.now()),
    onFatal: failed.reject,
    isTaken: (shard) => isTaken(shardLease(shard)),
    sender,
    book,
    signatureHeader,
    userAgent: 'airproof-webhooks/1',
    allowInsecure,
    wallMs: Date.now,
    random: Math.random,
    sources: await openSources({
      nc,
      keccak: await createKeccak(),
      sensorOf: sensors.get,
      thresholdOf: (webhook) => book.get(webhook)?.webhook.filters.aqi_threshold,
    }),
    attempts: attemptsLog(nc),
    onDisable: ({ webhook }, { reason, detail, health }) => {
      const atMs = Date.now()
      const tell = (found: Webhook): Promise<void> =>
        sendMail(disabledMail(found, { reason, detail, atMs, health }))
      void disableWebhook(webhooks.kv, webhook.id, { reason, detail, atMs, tell }).then(
        (isOurs) => {
          if (!isOurs) return
          metrics.disabled.inc({ reason })
          logger.warn({ webhook: webhook.id, reason, detail }, 'webhook disabled')
        },
        (error: unknown) => logger.warn({ err: error, webhook: webhook.id }, 'not disabled yet'),
      )
    },
    onBroken: (delivery, error) => {
      metrics.errors.inc({ reason: 'internal' })
      logger.error(
        { err: error, webhook: webhookIdOf(delivery.webhook), delivery: keyText(delivery) },
        'a delivery could not be made, and is tried again later',
      )
    },
    onWarning: ({ webhook }, health) => {
      metrics.warnings.inc()
      const { failures, firstFailureMs } = health
      logger.warn(
        { webhook: webhook.id, account: webhook.account, failures, firstFailureMs },
        'an endpoint keeps failing: its owner hears of it by mail',
      )
      void sendMail(failingMail(webhook, health))
    },
  }
  const shards = createShards(context, logger)
  const sum = (of: (shard: ReturnType<typeof shards.all>[number]) => number): number =>
    shards.all().reduce((total, shard) => total + of(shard), 0)
  metrics.gauge(
    'airproof_webhook_oldest_due_seconds',
    'How long the oldest delivery that could be sent has been due: the alarm',
    () => Math.max(0, ...shards.all().map((shard) => shard.oldestDueMs())) / 1_000,
  )
  metrics.gauge('airproof_webhook_in_breaker', 'Endpoints left alone after failures', () =>
    sum((shard) => shard.inBreaker()),
  )
  metrics.gauge('airproof_webhook_pending', 'Deliveries that wait for an attempt', () =>
    sum((shard) => shard.counts().pending),
  )
  metrics.gauge('airproof_webhook_dead', 'Deliveries given up and kept for a replay', () =>
    sum((shard) => shard.counts().dead),
  )
  metrics.gauge('airproof_webhook_in_flight', 'Attempts under way', limits.inFlight)
  metrics.gauge('airproof_webhooks', 'Webhooks known', book.size)

  const leases = openLeases({
    nc,
    kv: leaseKeys,
    holder: instance.id,
    aliveAs: alivePrefixes.notifier,
    shared: Array.from({ length: shardCount }, (_, shard) => shardLease(shard)),
    single: [],
    onHeld: (name) => {
      // a round that was under way when we began to end may still bring one
      if (!ending.signal.aborted) shards.take(shardOfTask(name))
    },
    onRelease: (name) => shards.give(shardOfTask(name)),
    onLost: (name) => failed.reject(new TryAgain(`${name} is somebody else's now: starting anew`)),
    onFailure: (error) => logger.warn({ err: error }, 'leases: trying again'),
  })
  const system = await new Kvm(nc).open(buckets.system)
  /** By the owner, not the number: somebody else may have told of a shard that we had before. */
  const toldNeeds = new WeakMap<Shard, string>()
  const tellNeeded = async (): Promise<void> => {
    for (const owner of shards.all()) {
      const text = JSON.stringify({ readings: owner.neededReadings() ?? null })
      if (toldNeeds.get(owner) === text) continue
      try {
        await system.put(neededByShard(owner.shard), text)
        toldNeeds.set(owner, text)
      } catch (error) {
        logger.debug({ err: error }, 'positions were not told')
      }
    }
  }
  const repeat = async (ms: number, task: () => Promise<void>): Promise<void> => {
    while (!ending.signal.aborted && !stop.aborted) {
      await task()
      await sleep(ms, undefined, { signal: AbortSignal.any([stop, ending.signal]) }).catch(
        () => undefined,
      )
    }
  }
  const background = Promise.all([
    repeat(leaseRoundMs, leases.round),
    repeat(tellNeededMs, tellNeeded),
  ])

  opened.use(
    await openAdmin({
      ...config.admin,
      metrics: registry,
      ready: [
        { name: 'shards', check: () => assertWorking(shards.areWorking()) },
        { name: 'nats', check: async () => void (await nc.rtt()) },
      ],
    }),
  )
  const letGo = async (): Promise<void> => {
    await shards.giveAll()
    await leases.releaseAll()
  }
  try {
    await Promise.race([stopped(stop), failed.promise])
    // in order: no new attempts, write down how those under way ended, then let go of everything
    await Promise.race([letGo(), sleep(orderlyMs, undefined, { ref: false })])
  } finally {
    // what is not written down is tried again, by us or by whoever owns the shard next
    ending.abort()
    await Promise.allSettled([background, shards.giveAll()])
  }
})

function assertWorking(areWorking: boolean): void {
  if (!areWorking) throw new Error('not all shards of this process are at work yet')
}
